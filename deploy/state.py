"""What is remembered of the servers between commands: port, password and process, in one private file."""

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
class Record:
    """One server: where it listens, its password if it has one, and the process that last ran it."""

    port: int
    password: str = ""
    process: Process | None = None

    def runs(self) -> bool:
        """Tell whether that process is still there."""
        return self.process is not None and self.process.runs()


def read(file: Path) -> dict[str, Record]:
    """Read the records by server name; there are none before the first start."""
    try:
        found = json.loads(file.read_bytes())
        return {
            name: Record(
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
            f"{file} is damaged ({error!r}): end the servers of {file.parent} by hand and remove that folder"
        ) from error


def write(file: Path, records: Mapping[str, Record]) -> None:
    """Replace the records as a whole; only the owner may read them."""
    text = json.dumps({name: asdict(record) for name, record in records.items()}, indent=2)
    # A temporary file is private from its first moment, and so is what it replaces.
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=f"{file.name}.", delete=False) as stream:
        stream.write(text + "\n")
    Path(stream.name).replace(file)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Let one command at a time through; a command that dies lets go."""
    with file.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
