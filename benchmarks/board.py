"""Check the settled board: are its variances right, do its ranges and lines hold, do its forecasts come true?

    python benchmarks/board.py --only halves,ranges,outlook,cost,blocking --runs 40

`halves` compares fits of two halves of a public log. `ranges` and `outlook` simulate campaigns whose truth is known:
judgments drawn with replacement from public rankings, and wide abilities with matches between neighbours.
Set OPENBLAS_NUM_THREADS=1 for `cost`: waiting threads of a library are counted as CPU time. `blocking` rates one
campaign while the board of another one with 1,000 systems is settled and its match requests are chosen.
"""

from __future__ import annotations

import argparse
import sys
import time
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.board_blocking import blocking  # noqa: E402
from benchmarks.board_simulations import BETA, LOGS, neighbours, simulations, uniform  # noqa: E402
from benchmarks.comparisons import Comparisons, read_campaigns  # noqa: E402
from benchmarks.data import find_log  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.ranking.board_outlook import board_outlook  # noqa: E402
from streams.core.ranking.cautions import count_cautions  # noqa: E402
from streams.core.ranking.differences import Differences  # noqa: E402
from streams.core.ranking.fragility import fragility  # noqa: E402
from streams.core.ranking.settled import SettledBoard, settle  # noqa: E402
from streams.core.ranking.student import student_quantile  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streams.core.ranking.grouped_counts import GroupedCounts
    from streams.wire.events import Row

FEWEST_JUDGES = 10
SIZES = (1000, 5000, 20_000)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# -- two halves of a log -----------------------------------------------------------------------------------


def posterior(board: SettledBoard) -> Differences:
    """Return the differences of the posterior alone."""
    scaled = 2.0 * board.beta**2 * board.covariance[:-1, :-1]
    own = np.diag(scaled)
    variance = np.maximum(own[:, None] + own[None, :] - 2.0 * scaled, 0.0)
    return Differences(variance=variance, freedom=None, decided=None)


KINDS: dict[str, Callable[[SettledBoard], Differences | None]] = {
    "posterior": posterior,
    "by judgment": lambda board: board.by_judgment,
    "by judge": lambda board: board.by_judge,
}


def half_distances(one: SettledBoard, other: SettledBoard, kind: str) -> tuple[Floats, Floats] | None:
    """Return all differences of two halves in units of what both variances allow, and of the limit at 95 %."""
    mine, theirs = KINDS[kind](one), KINDS[kind](other)
    if mine is None or theirs is None:
        return None
    inside = (one.island == 1) & (other.island == 1)
    upper = np.triu(np.outer(inside, inside), 1)
    change = (one.score[:, None] - one.score) - (other.score[:, None] - other.score)
    allowed = np.sqrt(mine.variance + theirs.variance)
    limit = np.sqrt(mine.limit() ** 2 + theirs.limit() ** 2)
    return (change[upper] / allowed[upper]), (np.abs(change[upper]) / limit[upper])


def halves(runs: int, seed: int, kinds: str) -> None:
    print("Halves of a log: root mean square z of all differences (1 is right), share within 95 %")
    heads = [f"{what}, {kind}" for what in ("judges", "judgments") for kind in KINDS]
    print(f"{'':<24}" + "".join(f"{head:>24}" for head in heads))
    totals: dict[str, list[tuple[float, float]]] = {}
    for name, log in campaigns(fewest=200, kinds=kinds):
        if len(np.unique(log.judge)) < FEWEST_JUDGES:
            continue
        random = np.random.default_rng(seed)
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(runs):
            side = random.permutation(int(log.judge.max()) + 1) % 2
            for what, half in (("judges", side[log.judge]), ("judgments", random.permutation(log.judgments) % 2)):
                one, other = (settle(log.sample(np.flatnonzero(half == k), random)) for k in (0, 1))
                for kind in KINDS:
                    distances = half_distances(one, other, kind)
                    if distances is not None and len(distances[0]):
                        z, within = distances
                        found.setdefault(f"{what}, {kind}", []).append(
                            (float((z**2).mean()), float((within < 1).mean()))
                        )
        cells = []
        for head in heads:
            if head not in found:
                cells.append(f"{'-':>24}")
                continue
            square, share = np.mean(found[head], axis=0)
            totals.setdefault(head, []).append((sqrt(square), share))
            cells.append(f"{f'{sqrt(square):.2f}  {share:.1%}':>24}")
        print(f"{name[:23]:<24}" + "".join(cells), flush=True)
    means = [np.mean(totals[head], axis=0) for head in heads]
    print(f"{'mean':<24}" + "".join(f"{f'{z:.2f}  {share:.1%}':>24}" for z, share in means))


def campaigns(*, fewest: int, kinds: str) -> Iterator[tuple[str, Comparisons]]:
    for file in (file for file in LOGS if kinds in file):
        yield from read_campaigns(find_log(f"{file}.csv.gz"), fewest=fewest).items()


# -- simulated campaigns -----------------------------------------------------------------------------------


def check_rows(rows: tuple[Row, ...], truth: dict[str, float]) -> tuple[float, bool, int]:
    """Return the share of systems whose true rank is in range, whether a line is false, and the number of lines."""
    rows = tuple(row for row in rows if row.island == 1)
    true = {row.system: 1 + sum(truth[other.system] > truth[row.system] for other in rows) for row in rows}
    covered = float(np.mean([row.rank_low <= true[row.system] <= row.rank_high for row in rows]))
    lines = [k for k, row in enumerate(rows) if row.line_above is not None]
    values = [truth[row.system] for row in rows]
    wrong = any(min(values[:k]) < max(values[k:]) for k in lines)
    return covered, wrong, len(lines)


def check_intervals(board: SettledBoard, truth: Floats) -> tuple[float, float]:
    """Return the share of true scores, and of true differences, within the 95 % interval of the board."""
    inside = board.island == 1
    score, true = board.score[inside], truth[inside] - truth[inside].mean()
    quantile = student_quantile(board.by_judgment.freedom or 0)
    scores = np.abs(score - true) <= quantile * board.deviation[inside]
    change = np.abs((score[:, None] - score) - (true[:, None] - true))
    upper = np.triu_indices(len(score), 1)
    limit = quantile * np.sqrt(board.by_judgment.variance[np.ix_(inside, inside)])
    return float(scores.mean()), float((change <= limit)[upper].mean())


def ranges(runs: int, seed: int, kinds: str) -> None:
    print("\nSimulated boards: share of the true ranks, scores and differences within 95 %; boards with a false line;")
    print("lines; width of a range of ranks")
    found: dict[tuple[str, int], list[tuple[float, ...]]] = {}
    for run in range(runs):
        for name, simulation in simulations(seed, run, kinds=kinds):
            for size in SIZES:
                board = settle(simulation.grow(size), beta=BETA)
                rows = board.rows()
                truth = dict(zip(board.counts.systems, simulation.truth.tolist(), strict=True))
                covered, wrong, lines = check_rows(rows, truth)
                width = float(np.mean([row.rank_high - row.rank_low + 1 for row in rows]))
                cell = (covered, *check_intervals(board, simulation.truth), wrong, lines, width)
                found.setdefault((name, size), []).append(cell)
    for (name, size), cells in found.items():
        print_ranges(f"{name}, {size:,}", cells)
    for size in SIZES:
        print_ranges(f"all, {size:,}", [cell for (_, of), cells in found.items() if of == size for cell in cells])


def print_ranges(name: str, cells: list[tuple[float, ...]]) -> None:
    ranks, scores, differences, wrong, lines, width = np.mean(np.array(cells, float), axis=0)
    error = sqrt(wrong * (1.0 - wrong) / len(cells))
    print(
        f"{name:<44}{ranks:>7.1%}{scores:>7.1%}{differences:>7.1%}{wrong:>7.1%} ± {error:.1%}{lines:>7.1f}{width:>7.2f}"
        f"  {len(cells)} boards"
    )


def outlook(runs: int, seed: int, kinds: str) -> None:
    """Forecast at some points of a campaign, go on to twice the forecast, and look whether the line is there."""
    print("\nForecasts of the next line: share that came true within N and within 2 N, for that line and for any line")
    most = 150_000
    table: dict[str, list[tuple[bool, bool, bool, bool]]] = {}
    skipped = 0
    for run in range(runs):
        for name, simulation in simulations(seed + 1, run, kinds=kinds):
            size = (300, 1000, 3000)[run % 3]
            board = settle(simulation.grow(size), beta=BETA)
            found = board_outlook(board, judgments=size)
            if found.judgments is None or size + 2 * found.judgments > most:
                skipped += 1
                continue
            before = check_rows(board.rows(), dict.fromkeys(board.counts.systems, 0.0))[2]
            named, some = [], []
            for share in (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0):
                rows = settle(simulation.grow(size + int(share * found.judgments)), beta=BETA).rows()
                clusters = {row.system: row.cluster for row in rows}
                named.append(clusters[found.above or ""] < clusters[found.below or ""])
                some.append(sum(row.line_above is not None for row in rows if row.island == 1) > before)
            table.setdefault(name, []).append((any(named[:4]), any(named), any(some[:4]), any(some)))
    table["all"] = [each for made in table.values() for each in made]
    for name, made in table.items():
        shares = np.mean(np.array(made, float), axis=0)
        print(f"{name:<44}" + "".join(f"{share:>8.0%}" for share in shares) + f"  {len(made)} forecasts")
    print(f"{skipped} boards without a forecast, or with one beyond {most:,} judgments")


def cost(runs: int, seed: int, kinds: str) -> None:
    print("\nCPU of a board: fit and variances, rows, outlook, fragility, cautions, all; kernels compiled")
    kernels.compiled("settled")
    random = np.random.default_rng(seed)
    for systems, judgments in ((20, 20_000), (200, 100_000), (1000, 300_000)):
        counts = neighbours(systems, 1.0, random, turns=2).grow(judgments)
        spread = uniform(systems, judgments, random)
        for name, each in (("neighbours", counts), ("uniform", spread)):
            if kinds not in name:
                continue
            took = np.array([seconds(each, judgments) for _ in range(max(3, min(runs, 4000 // systems)))]).min(axis=0)
            shown = "".join(f"{1000 * part:>10.1f}" for part in (*took, took.sum()))
            print(f"{systems:>5} systems, {name:<12}{len(each.first):>8,} pairs{shown} ms", flush=True)


def seconds(counts: GroupedCounts, judgments: int) -> tuple[float, ...]:
    """Return the CPU time of the fit with variances, of the rows, the outlook, the fragility and the cautions."""
    times = [time.process_time()]
    board = settle(counts, beta=BETA)
    times.append(time.process_time())
    for part in (
        board.rows,
        lambda: board_outlook(board, judgments=judgments, budget=2 * judgments),
        lambda: fragility(board),
        lambda: count_cautions(board),
    ):
        part()
        times.append(time.process_time())
    return tuple(np.diff(times).tolist())


PARTS = {"halves": halves, "ranges": ranges, "outlook": outlook, "cost": cost, "blocking": blocking}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, separated by commas")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="", help="part of the names of logs or simulations to use")
    options = parser.parse_args()
    kernels.compiled("settled")
    for part in options.only.split(","):
        PARTS[part](options.runs, options.seed, options.kinds)


if __name__ == "__main__":
    main()
