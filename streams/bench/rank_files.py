"""Rank files with the command, each in a process of its own: what a user waits for."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from streams.bench.figures import Figure
from streams.bench.measuring import installed_version, take_turns
from streams.bench.synthetic_log import SyntheticLog
from streams.errors import JudgestreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = (sys.executable, "-c", "from streams.cli.main import main; main()")
# What a good engineer would write to rank the same file with evalica: only the columns that it needs, and scores alone.
EVALICA = """
import sys
import evalica, pandas
votes = pandas.read_csv(sys.argv[1], usecols=["model_a", "model_b", "winner"])
winners = votes.winner.map({"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw})
method = evalica.elo if sys.argv[2] == "elo" else evalica.bradley_terry
print(method(votes.model_a, votes.model_b, winners).scores.sort_values(ascending=False))
"""
JSON_LINES, CSV = "rank, JSON Lines", "rank, CSV"
GOALS = {JSON_LINES: 500_000.0, CSV: 300_000.0}  # rows per second
GOAL_RATIO = 3.0  # to evalica, from the same CSV file
GOAL_ROWS = 1_000_000  # the goals are for files of this size


def rank_files(count: int, *, repeats: int) -> list[Figure]:
    """Return the rows per second of `judgestream rank`, and of evalica if it is installed, with their starts."""
    with tempfile.TemporaryDirectory(prefix="judgestream-bench-") as folder:
        log = SyntheticLog(count)
        lines = _write(Path(folder) / "log.jsonl", log.values())
        table = _write(Path(folder) / "log.csv", log.csv_lines())
        runs: dict[str, Callable[[], object]] = {
            JSON_LINES: lambda: _run([*COMMAND, "rank", str(lines), "--json"]),
            CSV: lambda: _run([*COMMAND, "rank", str(table), "--json"]),
        }
        if evalica := installed_version("evalica"):
            peer = f"evalica {evalica} Bradley-Terry, CSV"
            runs[peer] = lambda: _run([sys.executable, "-c", EVALICA, str(table), "bradley_terry"])
        timings = take_turns(runs, repeats=repeats)
    goals = count >= GOAL_ROWS
    figures = [
        Figure(
            name=name,
            unit="rows/s",
            values=tuple(count / timing.wall for timing in timings[name]),
            at_least=GOALS.get(name) if goals else None,
            note=f"{count:,} rows",
        )
        for name in runs
    ]
    if evalica:
        pairs = zip(timings[CSV], timings[peer], strict=True)
        ratios = tuple(theirs.wall / ours.wall for ours, theirs in pairs)
        least = GOAL_RATIO if goals else None
        figures.append(Figure(name=f"{CSV}, to evalica", unit="times the rate", values=ratios, at_least=least))
    return figures


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise JudgestreamError(f"a program of the benchmark failed: {done.stderr.strip()[-500:]}")


def _write(file: Path, chunks: Iterator[list[bytes]]) -> Path:
    with file.open("wb") as stream:
        for lines in chunks:
            stream.write(b"\n".join(lines) + b"\n")
    return file
