"""Rank files with the command, each in a process of its own: what a user waits for."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from streams.bench.figures import Figure
from streams.bench.measuring import take_turns
from streams.bench.synthetic_log import SyntheticLog
from streams.errors import JudgestreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = (sys.executable, "-c", "from streams.cli.main import main; main()")
GOALS = {"JSON Lines": 500_000.0, "CSV": 300_000.0}  # rows per second
GOAL_ROWS = 1_000_000  # the goals are for files of this size


def rank_files(count: int, *, repeats: int) -> list[Figure]:
    """Return the rows per second of `judgestream rank` on JSON Lines and on CSV, with the start of the process."""
    with tempfile.TemporaryDirectory(prefix="judgestream-bench-") as folder:
        log = SyntheticLog(count)
        files = {
            "JSON Lines": _write(Path(folder) / "log.jsonl", log.values()),
            "CSV": _write(Path(folder) / "log.csv", log.csv_lines()),
        }
        runs: dict[str, Callable[[], object]] = {name: lambda file=file: rank(file) for name, file in files.items()}  # type: ignore[misc]
        timings = take_turns(runs, repeats=repeats)
    return [
        Figure(
            name=f"rank, {name}",
            unit="rows/s",
            values=tuple(count / timing.wall for timing in timings[name]),
            at_least=GOALS[name] if count >= GOAL_ROWS else None,
            note=f"{count:,} rows",
        )
        for name in files
    ]


def rank(file: Path) -> None:
    """Run `judgestream rank` on a file. Raise JudgestreamError with its message if it fails."""
    command = [*COMMAND, "rank", str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise JudgestreamError(f"judgestream rank failed: {done.stderr.strip()}")


def _write(file: Path, chunks: Iterator[list[bytes]]) -> Path:
    with file.open("wb") as stream:
        for lines in chunks:
            stream.write(b"\n".join(lines) + b"\n")
    return file
