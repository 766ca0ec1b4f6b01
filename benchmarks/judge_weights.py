"""Boards that know their judges: does a weight per judge find a better order than the plain settled board?

Simulated crowds: 12 systems; correlation with the true abilities. Logs: a random half of the comparisons is learned,
with some judges spoilt; the share of decided comparisons of the other, unspoilt half that is predicted right.

`weighted` is a proposal: judge k prefers with the sensitivity s_k, as P(win) = Phi(s_k d - e) at the board's difference
d, with the prior N(1, v) whose v is fitted to all judges. The counts of a judge then weigh max(s_k, 0) in the fit of
the board, and both are repeated four times.

    python benchmarks/judge_weights.py --runs 20
    python benchmarks/judge_weights.py --coverage --runs 100

`--coverage` compares the ranges of both boards with the truth: shares of true differences inside their 95 % interval
and of true ranks inside their range, if the same judges were asked again and for other judges, and the share of boards
with a false line. The true abilities are scaled to the board: who answers at random only shrinks all differences.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace
from scipy.stats import norm

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.board import check_rows  # noqa: E402
from benchmarks.comparisons import count_groups  # noqa: E402
from benchmarks.data import DATA  # noqa: E402
from benchmarks.judges import batch_of  # noqa: E402
from benchmarks.log_loss import C, pairs_of, read  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.models import create  # noqa: E402
from streams.core.models.judge_outcomes import JudgeOutcomes  # noqa: E402
from streams.core.ranking.fit import PairOutcomes, fit_pairs  # noqa: E402
from streams.core.ranking.grouped_counts import GROUPS  # noqa: E402
from streams.core.ranking.settled import settle  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from streams.core.ranking.grouped_counts import GroupedCounts
    from streams.core.ranking.settled import SettledBoard

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

WAYS = ("TrueSkill", "settled", "trueskill-judges", "weighted")
KINDS = (
    ("none", 0.0),
    ("random", 0.1),
    ("random", 0.3),
    ("random", 0.5),
    ("adversarial", 0.1),
    ("adversarial", 0.2),
    ("position", 0.3),
)
CROWDS = ((60, 3_000), (200, 12_000))
SYSTEMS = 12
PRIOR_JUDGES, PRIOR_VARIANCE = 10.0, 0.1  # of the spread of sensitivities
ROUNDS, STEPS = 4, 3
LOGS = ("wmt13.fr-en", "wmt15.en-cs", "wmt15.ru-en", "wmt10-public.de-en", "wmt10-public.es-en", "llmfao.llm")


class Cells(NamedTuple):
    """The outcomes of each pair by each judge: wins of the first system, ties, wins of the second one."""

    judge: Ints
    first: Ints
    second: Ints
    outcomes: Floats


def spoil(rows: Ints, judges: int, kind: str, share: float, random: np.random.Generator) -> Ints:
    """Let a share of the judges answer at random, against what they saw, or mostly for the first system shown."""
    bad = np.zeros(judges, np.bool_)
    bad[random.permutation(judges)[: round(share * judges)]] = True
    rows, spoilt = rows.copy(), bad[rows[:, 3]]
    number = int(spoilt.sum())
    if kind == "random":
        rows[spoilt, 2] = random.integers(-1, 2, number)
    elif kind == "adversarial":
        rows[spoilt, 2] *= -1
    elif kind == "position":
        rows[spoilt, 2] = np.where(random.random(number) < 0.85, -1, rows[spoilt, 2])
    return rows


def simulate(judges: int, count: int, random: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw comparisons (a, b, order, judge) and the true abilities. Judges differ in diligence and in how they tie."""
    ability = random.normal(0.0, 0.6, SYSTEMS)
    diligence = random.gamma(1.0, 1.0, judges) + 0.05
    judge = random.choice(judges, count, p=diligence / diligence.sum())
    a = random.integers(SYSTEMS, size=count)
    b = (a + 1 + random.integers(SYSTEMS - 1, size=count)) % SYSTEMS
    margin = np.exp(random.normal(np.log(0.5), 0.5, judges))
    seen = ability[a] - ability[b] + C * random.normal(size=count)
    order = np.where(np.abs(seen) < margin[judge], 0, -np.sign(seen)).astype(np.int64)
    return np.stack([a, b, order, judge], axis=1), ability


def count_cells(rows: Ints, systems: int) -> Cells:
    low, high = rows[:, :2].min(axis=1), rows[:, :2].max(axis=1)
    order = np.where(rows[:, 0] < rows[:, 1], rows[:, 2], -rows[:, 2])
    key, place = np.unique((rows[:, 3] * systems + low) * systems + high, return_inverse=True)
    outcomes = np.zeros((len(key), 3))
    np.add.at(outcomes, (place, 1 + order), 1.0)
    return Cells(key // systems**2, key // systems % systems, key % systems, outcomes)


def fit(cells: Cells, systems: int, weight: Floats | None = None) -> tuple[Floats, float]:
    """Fit abilities and margin as the settled board does, in units of the noise, with a weight per cell."""
    key, place = np.unique(cells.first * systems + cells.second, return_inverse=True)
    outcomes = np.zeros((len(key), 3))
    np.add.at(outcomes, place, cells.outcomes if weight is None else cells.outcomes * weight[:, None])
    found = fit_pairs(
        PairOutcomes(
            first=key // systems, second=key % systems, outcomes=outcomes, size=systems, precision=(C / 3.0) ** 2
        )
    )
    return found.ability, found.margin


def slopes(cells: Cells, t: Floats, margin: float) -> tuple[Floats, Floats]:
    """Return the slope and the curvature of each cell's log-likelihood in t."""
    win, loss = norm.cdf(t - margin), norm.cdf(-t - margin)
    high, low = norm.pdf(t - margin), norm.pdf(t + margin)
    chance = np.maximum(np.stack([win, 1.0 - win - loss, loss], axis=1), 1e-12)
    first = np.stack([high, low - high, -low], axis=1) / chance
    bent = (
        np.stack([-(t - margin) * high, (t - margin) * high - (t + margin) * low, (t + margin) * low], axis=1) / chance
    )
    return (cells.outcomes * first).sum(axis=1), (cells.outcomes * (first**2 - bent)).sum(axis=1)


def weigh(cells: Cells, systems: int, judges: int) -> tuple[Floats, Floats]:
    """Return the abilities of the weighted fit, and the sensitivity of each judge."""
    ability, margin = fit(cells, systems)
    sensitivity, precision = np.ones(judges), 1.0 / PRIOR_VARIANCE
    known = np.bincount(cells.judge, minlength=judges) > 0
    for _ in range(ROUNDS):
        lead = ability[cells.first] - ability[cells.second]
        for _ in range(STEPS):
            slope, curvature = slopes(cells, sensitivity[cells.judge] * lead, margin)
            information = np.bincount(cells.judge, curvature * lead * lead, judges) + precision
            pull = np.bincount(cells.judge, slope * lead, judges) - precision * (sensitivity - 1.0)
            sensitivity = sensitivity + pull / information
        spread = (((sensitivity - 1.0) ** 2 + 1.0 / information)[known]).sum()
        precision = (known.sum() + PRIOR_JUDGES) / (spread + PRIOR_JUDGES * PRIOR_VARIANCE)
        ability, margin = fit(cells, systems, np.maximum(sensitivity, 0.0)[cells.judge])
    return ability, sensitivity


def score_by(way: str, rows: Ints, systems: int, judges: int) -> Floats:
    if way in ("settled", "weighted"):
        cells = count_cells(rows, systems)
        return fit(cells, systems)[0] if way == "settled" else weigh(cells, systems, judges)[0]
    model = create(way.lower(), {})
    model.grow(systems, judges, 1)
    model.apply(batch_of(rows))
    return model.scores()[0]


def agreement(score: Floats, held: Ints) -> float:
    """Return the share of decided comparisons in which the system with the better score won."""
    decided = held[held[:, 2] != 0]
    return float(np.mean((score[decided[:, 0]] > score[decided[:, 1]]) == (decided[:, 2] < 0)))


def count(rows: Ints, judges: int, random: np.random.Generator) -> GroupedCounts:
    """Count comparisons in random groups by judgment and by judge."""
    swapped = rows[:, 0] > rows[:, 1]
    return count_groups(
        tuple(f"s{k:02}" for k in range(SYSTEMS)),
        rows[:, :2].min(axis=1),
        rows[:, :2].max(axis=1),
        1 + np.where(swapped, -rows[:, 2], rows[:, 2]),
        by_judgment=random.integers(GROUPS, size=len(rows)),
        by_judge=random.integers(GROUPS, size=judges)[rows[:, 3]],
        judgments=np.bincount(rows[:, :2].ravel(), minlength=SYSTEMS),
        rankings=len(rows),
        judges=judges,
    )


def covered(board: SettledBoard, ability: Floats) -> tuple[float, ...]:
    """Return shares of differences and ranks inside their ranges, by judgment and by judge; and if a line is false."""
    assert board.by_judge is not None
    truth = ability - ability.mean()
    truth *= (board.score @ truth) / (truth @ truth)
    pairs = np.triu_indices(SYSTEMS, 1)
    missed = np.abs(np.subtract.outer(board.score, board.score) - np.subtract.outer(truth, truth))[pairs]
    differences = (float(np.mean(missed <= each.limit()[pairs])) for each in (board.by_judgment, board.by_judge))
    rows, true = board.rows(), dict(zip(board.counts.systems, truth.tolist(), strict=True))
    ranks, wrong, _ = check_rows(rows, true)
    for_others = [replace(row, rank_low=row.judge_rank_low, rank_high=row.judge_rank_high) for row in rows]
    return (*differences, ranks, check_rows(tuple(for_others), true)[0], float(wrong))


def coverage(runs: int) -> None:
    """Print the coverage of the plain and of the weighted settled board."""
    columns = ("differences", "for others", "ranks", "for others", "false line")
    print(f"{'':<36}{'settled':^60}{'weighted by judge':^60}")
    print(f"{'crowd':<36}" + 2 * "".join(f"{column:>12}" for column in columns))
    for judges, number in CROWDS:
        for kind, share in KINDS:
            found = []
            for seed in range(runs):
                random = np.random.default_rng(seed)
                rows, ability = simulate(judges, number, random)
                rows = spoil(rows, judges, kind, share, random)
                counts, answers = count(rows, judges, random), JudgeOutcomes(**count_cells(rows, SYSTEMS)._asdict())
                found.append([*covered(settle(counts), ability), *covered(settle(counts, answers=answers), ability)])
            cells = "".join(f"{each:>12.1%}" for each in np.mean(found, axis=0))
            print(f"{f'{judges} judges, {number:,}, {share:.0%} {kind}':<36}{cells}", flush=True)


def show(label: str, found: Floats) -> None:
    """Print the mean of each way, and its difference from the settled board with the standard error."""
    mean, gain = found.mean(axis=0), found - found[:, [1]]
    error = gain.std(axis=0, ddof=1) / len(found) ** 0.5
    cells = (f"{m:>9.4f} {d:+.4f} ± {e:.4f}" for m, d, e in zip(mean, gain.mean(axis=0), error, strict=True))
    print(f"{label:<36}" + "".join(f"{cell:>28}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs per row (default: %(default)s)")
    parser.add_argument("--logs", action="store_true", help="use the public logs instead of simulated crowds")
    parser.add_argument("--coverage", action="store_true", help="print how often ranges hold, of simulated crowds")
    chosen = parser.parse_args()
    if chosen.coverage:
        coverage(chosen.runs)
        return
    for name in ("mixture", "settled"):
        kernels.compiled(name)
    print(f"{'mean of runs, minus settled':<36}" + "".join(f"{way:>28}" for way in WAYS))
    if chosen.logs:
        logs = [log for log in read(DATA) if log.name in LOGS]
        halves = [(log, pairs_of(log.batch)) for log in logs]
        for kind, share in KINDS:
            found = []
            for log, rows in halves:
                for seed in range(chosen.runs):
                    random = np.random.default_rng(seed)
                    order = random.permutation(len(rows))
                    learned = spoil(rows[order[: len(order) // 2]], log.judges, kind, share, random)
                    held = rows[order[len(order) // 2 :]]
                    found.append([agreement(score_by(way, learned, log.systems, log.judges), held) for way in WAYS])
            show(f"{len(logs)} logs, {share:.0%} {kind}", np.array(found))
        return
    for judges, count in CROWDS:
        for kind, share in KINDS:
            found = []
            for seed in range(chosen.runs):
                random = np.random.default_rng(seed)
                rows, ability = simulate(judges, count, random)
                rows = spoil(rows, judges, kind, share, random)
                found.append([np.corrcoef(score_by(way, rows, SYSTEMS, judges), ability)[0, 1] for way in WAYS])
            show(f"{judges} judges, {count:,}, {share:.0%} {kind}", np.array(found))


if __name__ == "__main__":
    main()
