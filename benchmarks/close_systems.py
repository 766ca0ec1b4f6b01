"""Check the ranges of ranks where they are hardest: on boards of systems that are nearly equal.

    python benchmarks/close_systems.py --runs 100

It prints the share of the true ranks within the ranges of the board, and within ranges from tests at one confidence,
whatever the board looks like. The width of a range is in parentheses. The last column is the share of true differences
within their 95 % intervals. Matches are between any two systems, or between neighbours of the present board.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.board import check_intervals  # noqa: E402
from benchmarks.board_simulations import BETA, neighbours, uniform  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.ranking.differences import likely_ranks, surely_ranked  # noqa: E402
from streams.core.ranking.settled import SettledBoard, settle  # noqa: E402

SIZES = ((2, 200), (3, 300), (6, 1000), (20, 2000), (60, 8000))  # systems and judgments
SPREADS = (0.02, 0.2, 0.6)  # of the abilities
CONFIDENCES = (0.8, 0.9, 0.95)


def check_board(board: SettledBoard, truth: np.ndarray) -> list[tuple[float, float]]:
    """Return the share of true ranks within a range and the width of a range: of the board, and by confidence."""
    true = 1 + (truth[:, None] > truth).sum(axis=0)
    fixed = [surely_ranked(board.by_judgment.surely_better(board.score, each)) for each in CONFIDENCES]
    return [
        (float(((best <= true) & (true <= worst)).mean()), float((worst - best + 1).mean()))
        for best, worst in (likely_ranks(board.score, board.by_judgment), *fixed)
    ]


def simulate(matches: str, systems: int, judgments: int, spread: float, random: np.random.Generator) -> list[float]:
    """Return the figures of one simulated board, in the order of the columns."""
    if matches == "uniform":
        truth = random.normal(size=systems) * spread
        counts = uniform(systems, judgments, random, truth=truth)
    else:
        simulation = neighbours(systems, spread, random)
        truth, counts = simulation.truth, simulation.grow(judgments)
    board = settle(counts, beta=BETA)
    return [*(each for pair in check_board(board, truth) for each in pair), check_intervals(board, truth)[1]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    kernels.compiled("settled")
    heads = ("board", *(f"{confidence:.0%}" for confidence in CONFIDENCES), "differences")
    for matches in ("uniform", "neighbours"):
        print(f"{f'{matches}: systems, judgments, spread':<40}" + "".join(f"{head:>16}" for head in heads))
        for (systems, judgments), spread in product(SIZES, SPREADS):
            random = np.random.default_rng([options.seed, systems, judgments])
            found = [simulate(matches, systems, judgments, spread, random) for _ in range(options.runs)]
            *ranges, differences = np.mean(found, axis=0)
            cells = [f"{share:.1%} ({width:.1f})" for share, width in zip(ranges[::2], ranges[1::2], strict=True)]
            line = "".join(f"{cell:>16}" for cell in (*cells, f"{differences:.1%}"))
            print(f"{f'{systems}, {judgments:,}, {spread}':<40}{line}", flush=True)


if __name__ == "__main__":
    main()
