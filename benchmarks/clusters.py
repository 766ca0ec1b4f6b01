"""Compute the official WMT15 ranking of all ten language pairs and compare it with the published one; then bootstrap.

The original script takes about 40 s per run and pair, so its time is estimated, not measured.

    python benchmarks/clusters.py --runs 1000
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import msgspec  # noqa: E402
import numpy as np  # noqa: E402

from benchmarks.data import find_log  # noqa: E402
from benchmarks.emitting import emit  # noqa: E402
from streams.bench.figures import Figure  # noqa: E402
from streams.bench.measuring import take_turns  # noqa: E402
from streams.core.methods.bradley_terry import BradleyTerry  # noqa: E402
from streams.core.methods.win_shares import ExpectedWins  # noqa: E402
from streams.core.ranking import PairCounts, rank_scores  # noqa: E402
from streams.formats import read  # noqa: E402
from streams.wire.events import Leaderboard, Row  # noqa: E402

ORIGINAL_SECONDS = 40.0  # a run and pair, of the published script
CLOSE = 0.02  # official means nearer than this may change places
CODES = {"ces": "cs", "deu": "de", "eng": "en", "fin": "fi", "fre": "fr", "rus": "ru"}


@dataclass(frozen=True)
class Agreement:
    """How far leaderboards are from the official ones, over all their systems."""

    mean_errors: tuple[float, ...]
    rank_errors: tuple[int, ...]  # of a range, the end that is further off
    swaps: tuple[float, ...]  # the official difference of each two that stand the other way round
    clusters: tuple[bool, ...]  # whether each campaign is ruled off in the same places

    @property
    def exact(self) -> float:
        return self.rank_errors.count(0) / len(self.rank_errors)


def official(folder: Path) -> dict[str, list[Row]]:
    """Read the published results, each campaign's systems in order."""
    found = {}
    for file in sorted(folder.glob("wmt15.*-*.txt")):
        source, target = file.name.split(".")[1].split("-")
        found[f"wmt15.{CODES[source]}-{CODES[target]}"] = _rows(file.read_text().splitlines())
    return found


def _rows(lines: list[str]) -> list[Row]:
    rows: list[Row] = []
    cluster = 1
    for line in lines:
        if line.startswith("+"):
            cluster += 1
            continue
        match = re.fullmatch(r"(\S+)\.txt (\S+) \((\d+)\.0, (\d+)\.0\)", line)
        assert match is not None, line
        name, mean, low, high = match.groups()
        rows.append(
            Row(
                system=name,
                rank=len(rows) + 1,
                rank_low=int(low),
                rank_high=int(high),
                cluster=cluster,
                score=float(mean),
                deviation=0.0,
                judgments=0,
            )
        )
    return rows


def compare(boards: list[Leaderboard], published: dict[str, list[Row]]) -> Agreement:
    """Put leaderboards beside the published ones; they have the same systems."""
    means: list[float] = []
    ranks: list[int] = []
    swaps: list[float] = []
    clusters: list[bool] = []
    for board in boards:
        ours = {row.system: row for row in board.rows}
        theirs = published[board.campaign]
        assert ours.keys() == {row.system for row in theirs}
        for row in theirs:
            mine = ours[row.system]
            means.append(abs(mine.score - row.score))
            ranks.append(max(abs(mine.rank_low - row.rank_low), abs(mine.rank_high - row.rank_high)))
        swaps += [a.score - b.score for a, b in combinations(theirs, 2) if ours[a.system].rank > ours[b.system].rank]
        clusters.append({row.system: row.cluster for row in theirs} == {row.system: row.cluster for row in board.rows})
    return Agreement(tuple(means), tuple(ranks), tuple(swaps), tuple(clusters))


def in_order(rows: list[Row], board: Leaderboard) -> bool:
    """Return whether the order is the official one, but within stretches of neighbours that are close officially."""
    stretch, stretches = 0, {rows[0].system: 0}
    for better, worse in pairwise(rows):
        stretch += better.score - worse.score >= CLOSE
        stretches[worse.system] = stretch
    places = [stretches[row.system] for row in board.rows]
    return places == sorted(places)


def clusters(runs: int, seed: int) -> bool:
    """Run the command on all pairs, print how it compares, and say whether it is as near as it should be."""
    log = str(find_log("wmt15_rank.csv.gz"))
    command = [str(Path(sys.executable).with_name("judgestream")), "clusters", log, "--no-resample", "--json"]
    # Numba compiles once and keeps the result; that is no part of a ranking.
    subprocess.run([*command, "--runs", "3"], check=True, capture_output=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, "--runs", str(runs), "--seed", str(seed)], check=True, stdout=subprocess.PIPE)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    boards = msgspec.convert(json.loads(done.stdout)["campaigns"], list[Leaderboard])
    published = official(find_log("wmt15_official"))
    found = compare(boards, published)
    systems, estimate = len(found.mean_errors), ORIGINAL_SECONDS * runs * len(boards)
    mean, largest = sum(found.mean_errors) / systems, max(found.mean_errors)
    ordered = [in_order(published[board.campaign], board) for board in boards]
    swapped = max(found.swaps, default=0.0)
    figures = {
        "WMT15, without resampling": f"{len(boards)} language pairs, {systems} systems, {runs:,} runs each",
        "|mean mu - official|": f"mean {mean:.4f}, largest {largest:.3f}",
        "rank ranges as the official": f"{found.rank_errors.count(0)} of {systems}, the others off by "
        f"{max(found.rank_errors)} at most",
        "pairs of systems the other way round": f"{len(found.swaps)}, official means at most {swapped:.3f} apart",
        f"in order but for gaps below {CLOSE}": f"{sum(ordered)} of {len(boards)} language pairs",
        "clusters as the official": f"{sum(found.clusters)} of {len(boards)} language pairs",
        "time": f"{seconds:.1f} s, {after.ru_utime - before.ru_utime:.0f} CPU-s, on {os.cpu_count()} cores; "
        f"the original about {estimate / 3600:.0f} hours",
        "times as fast": f"{estimate / seconds:,.0f}",
    }
    for name, figure in figures.items():
        print(f"{name:<40}{figure}")
    return mean <= 0.006 and largest <= 0.04 and found.exact >= 0.8 and max(found.rank_errors) <= 2 and all(ordered)


def time_clusters(runs: int, *, repeats: int) -> list[Figure]:
    """Return how long the official procedure takes on all ten language pairs of WMT15."""
    log = str(find_log("wmt15_rank.csv.gz"))
    command = [str(Path(sys.executable).with_name("judgestream")), "clusters", log, "--no-resample", "--json"]
    subprocess.run([*command, "--runs", "3"], check=True, capture_output=True)
    timed = [*command, "--runs", str(runs)]
    runner = {"clusters": lambda: subprocess.run(timed, check=True, capture_output=True)}
    timings = take_turns(runner, repeats=repeats, warm_up=0)["clusters"]
    note = f"ten language pairs, {runs:,} runs each"
    most = 30.0 if runs == 1000 else None
    return [
        Figure(name="WMT15, time", unit="s", values=tuple(each.wall for each in timings), at_most=most, note=note),
        Figure(name="WMT15, CPU", unit="s", values=tuple(each.cpu for each in timings), note=note),
    ]


def bootstrap(runs: int) -> None:
    """Time the bootstrap from pair counts, beside one that draws every comparison."""
    counts = PairCounts.of(entry.judgment for entry in read(find_log("wmt13_fr-en_rank.csv.gz")))
    seconds = {}
    for method in (ExpectedWins(), BradleyTerry()):
        start = time.perf_counter()
        rank_scores("bootstrap", counts, method=method, runs=runs)
        seconds[method.name] = time.perf_counter() - start
    size = len(counts.systems)
    cells = np.concatenate([counts.wins.ravel(), np.triu(counts.ties).ravel()])
    comparisons, random, few = np.repeat(np.arange(len(cells)), cells), np.random.default_rng(1), 20
    start = time.perf_counter()
    for _ in range(few):
        drawn = np.bincount(random.choice(comparisons, len(comparisons)), minlength=len(cells)).reshape(2, size, size)
        ExpectedWins().score(drawn[0], drawn[1] + drawn[1].T)
    naive = (time.perf_counter() - start) * runs / few
    print(f"\n{'WMT13 fr-en, bootstrap':<40}{counts.comparisons:,} comparisons, {runs:,} runs")
    for score, taken in seconds.items():
        print(f"{score:<40}{taken:.3f} s, {naive / taken:.0f} times as fast as drawing every comparison")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3, help="runs of the command with --json")
    parser.add_argument("--json", action="store_true", help="print only how long the command takes, as one JSON object")
    options = parser.parse_args()
    if options.json:
        emit(time_clusters(options.runs, repeats=options.repeats), as_json=True)
        return
    near = clusters(options.runs, options.seed)
    bootstrap(options.runs)
    sys.exit(0 if near or options.runs < 1000 else "The ranking is further from the official one than it was.")


if __name__ == "__main__":
    main()
