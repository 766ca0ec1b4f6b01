"""False lines of direct assessment: how often two equal systems get a line, and how often unequal ones do.

Judges have a severity, a range and a taste for each system; segments have a difficulty. Each judge scores every system
on some segments. `before` is the board of the standard errors over segments, as it was until the board had t quantiles
and groups. A line `by judge` is one that is claimed for other judges too.

    python benchmarks/assessment_lines.py --runs 400
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from streams.core import ranking  # noqa: E402
from streams.core.models import JudgmentBatch, create  # noqa: E402
from streams.core.ranking.assessment_board import settle_scores  # noqa: E402

DESIGNS = ((2, 1), (2, 10), (10, 10), (50, 100))
CASES = {"equal": (0.0, 0.0), "equal, tastes": (0.0, 0.3), "0.3 apart": (0.3, 0.0)}


class Lines(NamedTuple):
    """Whether a run has a line."""

    before: bool
    by_segment: bool
    by_judge: bool


def simulate(judges: int, segments: int, gap: float, taste: float, random: np.random.Generator) -> JudgmentBatch:
    """Let each judge score two systems on each of the segments, or on 20 of them if there are more."""
    rows = []
    difficulty = random.normal(size=segments)
    quality = random.normal(0.0, 0.7, (2, segments))
    for judge in range(judges):
        severity, span = random.uniform(30, 70), random.uniform(5, 20)
        liking = random.normal(0.0, taste, 2) if taste else np.zeros(2)
        for segment in random.permutation(segments)[:20].tolist():
            for system in range(2):
                seen = gap * system + liking[system] + difficulty[segment] + quality[system, segment] + random.normal()
                rows.append((system, segment, judge, float(np.clip(severity + span * seen, 0, 100))))
    systems, on, by, scores = (np.array(column) for column in zip(*rows, strict=True))
    return JudgmentBatch(
        systems=systems,
        ranks=np.ones(len(rows), np.int64),
        starts=np.arange(len(rows) + 1),
        judges=by,
        segments=on,
        scores=scores,
    )


def run(judges: int, segments: int, gap: float, taste: float, seed: int) -> Lines:
    random = np.random.default_rng(seed)
    model = create("assessment", {})
    model.grow(2, judges, segments)
    model.apply(simulate(judges, segments, gap, taste, random))
    before = ranking.rows(["a", "b"], *model.scores(), [1, 1])
    cells = model.score_cells()
    assert cells is not None
    names = [f"judge-{random.integers(10**9)}" for _ in range(judges)]
    board = settle_scores(cells, judges=names, segments=[f"segment-{k}" for k in range(segments)])
    rows = board.rank().rows(["a", "b"], [1, 1])
    return Lines(before[1].cluster > 1, rows[1].line_above is not None, rows[1].line_above == "judges")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, help="runs per row (default: %(default)s)")
    runs = parser.parse_args().runs
    print(f"{runs} runs; share of boards with a line\n")
    print("systems          judges  segments  before  by segment  by judge")
    for name, (gap, taste) in CASES.items():
        for judges, segments in DESIGNS:
            found = np.mean([run(judges, segments, gap, taste, seed) for seed in range(runs)], axis=0)
            print(f"{name:<15}  {judges:>6}  {segments:>8}  {found[0]:>6.1%}  {found[1]:>10.1%}  {found[2]:>8.1%}")


if __name__ == "__main__":
    main()
