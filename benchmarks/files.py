"""Speed of files: `judgestream rank` on a long log of each kind beside evalica on the same CSV, and start-up.

    python benchmarks/files.py --rows 1000000 --repeats 3
    python benchmarks/files.py --growth 10000000 --json

Every figure is the median of whole processes, from the start of Python to the printed ranking. A first run of each
command is not counted: it may compile kernels. Goals are those of a machine with two cores and nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import Process
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, Popen
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.emitting import emit
from streams.bench.figures import Figure
from streams.bench.rank_files import EVALICA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SYSTEMS, SEGMENTS, JUDGES, TIES = 20, 5000, 500, 0.25
SAMPLE = Path(__file__).parent.parent / "samples" / "arena.csv"
COMMAND = (Path(sys.executable).with_name("judgestream"),)


@dataclass(frozen=True, kw_only=True)
class Run:
    """The times of one process in seconds, and its largest memory in MB."""

    wall: float
    cpu: float
    memory: float


def write_logs(folder: Path, rows: int, *, tables: bool = True) -> None:
    """Write the same log as JSON Lines and, with `tables`, as CSV and Parquet."""
    random = np.random.default_rng(1)
    strength = random.normal(size=SYSTEMS)
    first = random.integers(SYSTEMS, size=rows)
    second = (first + 1 + random.integers(SYSTEMS - 1, size=rows)) % SYSTEMS
    wins = random.random(rows) < 1.0 / (1.0 + np.exp(strength[second] - strength[first]))
    outcome = np.where(random.random(rows) < TIES, 2, np.where(wins, 0, 1))
    segment, judge = random.integers(SEGMENTS, size=rows), random.integers(JUDGES, size=rows)
    times = np.datetime_as_string(np.datetime64("2026-01-01T00:00:00") + np.arange(rows))
    ranks, winners = ("[1,2]", "[2,1]", "[1,1]"), ("model_a", "model_b", "tie")
    columns = zip(
        first.tolist(), second.tolist(), outcome.tolist(), segment.tolist(), judge.tolist(), times, strict=True
    )
    with folder.joinpath("log.jsonl").open("w") as lines, folder.joinpath("log.csv").open("w") as table:
        table.write("prompt_id,model_a,model_b,winner,judge,tstamp\n")
        for number, (a, b, verdict, prompt, who, at) in enumerate(columns):
            lines.write(
                f'{{"id":"v{number}","campaign":"log","segment":"prompt-{prompt}","judge":"judge-{who}",'
                f'"systems":["system-{a:02}","system-{b:02}"],"ranks":{ranks[verdict]},"at":"{at}Z"}}\n'
            )
            if tables:
                table.write(f"prompt-{prompt},system-{a:02},system-{b:02},{winners[verdict]},judge-{who},{at}Z\n")
    if tables:
        csv, parquet = import_module("pyarrow.csv"), import_module("pyarrow.parquet")
        parquet.write_table(csv.read_csv(folder / "log.csv"), folder / "log.parquet")


def measure(command: Sequence[str | Path], repeats: int) -> list[Run]:
    """Return the runs of a command after one that is not counted."""
    return measure_in_turns({"": command}, repeats)[""]


def measure_in_turns(commands: Mapping[str, Sequence[str | Path]], repeats: int) -> dict[str, list[Run]]:
    """Return the runs of each command after one that is not counted.

    The commands take turns, so that a busy minute of the machine slows down all of them.
    """
    found: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(1 + repeats):
        for name, command in commands.items():
            found[name].append(_run(command))
    return {name: runs[1:] for name, runs in found.items()}


def _run(command: Sequence[str | Path]) -> Run:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    process = Popen([str(part) for part in command], stdout=DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    wall = time.perf_counter() - begin
    return Run(wall=wall, cpu=usage.ru_utime + usage.ru_stime, memory=usage.ru_maxrss / 1000)


def figures_of(name: str, runs: Sequence[Run], *, rows: int = 0, goal: float | None = None) -> list[Figure]:
    """Return the figures of a command. With `rows`, the goal is a number of rows per second, else seconds of CPU."""
    found = [_figure(f"{name} CPU", "s", [run.cpu for run in runs], most=None if rows else goal)]
    if rows:
        rates = [rows / run.wall for run in runs]
        found += [
            _figure(f"{name} wall", "s", [run.wall for run in runs]),
            _figure(f"{name} rows", "1/s", rates, least=goal),
            _figure(f"{name} CPU per row", "us", [1e6 * run.cpu / rows for run in runs]),
        ]
    return [*found, _figure(f"{name} memory", "MB", [run.memory for run in runs])]


def _figure(
    name: str, unit: str, values: Sequence[float], *, least: float | None = None, most: float | None = None
) -> Figure:
    return Figure(name=name, unit=unit, values=tuple(values), at_least=least, at_most=most)


def measure_files(folder: Path, rows: int, repeats: int) -> list[Figure]:
    """Measure `rank` on each kind of file, and evalica on the CSV."""
    _write_beside(folder, rows)
    goals = {"jsonl": 500_000, "csv": 300_000, "parquet": 300_000}
    methods = ("bradley_terry", "elo")
    ranks: dict[str, Sequence[str | Path]] = {
        f"rank {suffix}": (*COMMAND, "rank", folder / f"log.{suffix}") for suffix in goals
    }
    peers = {f"evalica {method} csv": (sys.executable, "-c", EVALICA, folder / "log.csv", method) for method in methods}
    runs = measure_in_turns(ranks | peers, repeats)
    found: list[Figure] = []
    for suffix, goal in goals.items():
        found += figures_of(f"rank {suffix}", runs[f"rank {suffix}"], rows=rows, goal=goal)
    for method in methods:
        peer = runs[f"evalica {method} csv"]
        found += figures_of(f"evalica {method} csv", peer, rows=rows)
        times = [theirs.wall / ours.wall for theirs, ours in zip(peer, runs["rank csv"], strict=True)]
        found.append(_figure(f"rank csv, times evalica {method}", "x", times, least=3.0))
    return found


def _write_beside(folder: Path, rows: int, *, tables: bool = True) -> None:
    """Write logs in another process. The largest memory of a command includes that of the process that starts it."""
    writer = Process(target=write_logs, args=(folder, rows), kwargs={"tables": tables})
    writer.start()
    writer.join()
    if writer.exitcode:
        raise SystemExit("the logs could not be written")


def measure_growth(folder: Path, rows: int, repeats: int) -> list[Figure]:
    """Measure the CPU per judgment of JSON Lines from 100,000 judgments on, without the time of a small log."""
    small = median(run.cpu for run in measure((*COMMAND, "rank", SAMPLE), repeats))
    costs = []
    for count in (100_000, rows):
        _write_beside(folder, count, tables=False)
        runs = measure((*COMMAND, "rank", folder / "log.jsonl"), repeats)
        costs.append([1e6 * run.cpu / count for run in runs])
    total = [1.0 * high / low for low, high in zip(*costs, strict=True)]
    net = [(high - 1e6 * small / rows) / (low - 1e6 * small / 100_000) for low, high in zip(*costs, strict=True)]
    return [
        _figure("rank jsonl CPU per judgment, 100,000", "us", costs[0]),
        _figure(f"rank jsonl CPU per judgment, {rows:,}", "us", costs[1]),
        _figure("growth of the cost per judgment", "x", total, most=1.2),
        _figure("growth of it without start-up", "x", net),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of each file")
    parser.add_argument("--repeats", type=int, default=3, help="counted runs of each command")
    parser.add_argument("--growth", type=int, default=0, help="rows of a longer file of JSON Lines, e.g. 10000000")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    figures = figures_of("--help", measure((*COMMAND, "--help"), options.repeats), goal=0.15)
    figures += figures_of("rank of a small file", measure((*COMMAND, "rank", SAMPLE), options.repeats), goal=0.6)
    with tempfile.TemporaryDirectory() as name:
        figures += measure_files(Path(name), options.rows, options.repeats)
        if options.growth:
            figures += measure_growth(Path(name), options.growth, options.repeats)
    emit(figures, as_json=options.json)


if __name__ == "__main__":
    main()
