"""Store port, password and process of each server between commands, in one private file."""

from __future__ import annotations

import fcntl
import json
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.errors import StateError
from deploy.processes import Process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, kw_only=True)
class ServerRecord:
    """One server: its port, its password if it has one, and its last process."""

    port: int
    password: str = ""
    process: Process | None = None

    def runs(self) -> bool:
        """Return whether that process still runs."""
        return self.process is not None and self.process.runs()


def read(file: Path) -> dict[str, ServerRecord]:
    """Read the records by server name. Before the first start there are none."""
    try:
        found = json.loads(file.read_bytes())
        return {
            name: ServerRecord(
                port=record["port"],
                password=record["password"],
                process=Process(**record["process"]) if record["process"] else None,
            )
            for name, record in found.items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StateError(
            f"{file} is damaged ({error!r}). Stop the servers of {file.parent} by hand and remove that folder."
        ) from error


def write(file: Path, records: Mapping[str, ServerRecord]) -> None:
    """Replace all records. Only the owner can read the file."""
    text = json.dumps({name: asdict(record) for name, record in records.items()}, indent=2)
    # A temporary file is private from the moment of its creation.
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=f"{file.name}.", delete=False) as stream:
        stream.write(text + "\n")
    Path(stream.name).replace(file)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock. It is released when the process ends."""
    with file.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
