"""Value of learning which judges are careless: correlation with the official WMT13 French-English scores.

A share of the judges answers at random. Each draw uses other judges and other judgments of the log. Differences are
paired by draw. The number in brackets is the difference in standard errors.

    python benchmarks/judges.py --draws 20
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.data import DATA  # noqa: E402
from benchmarks.wmt13 import official_scores  # noqa: E402
from streams import formats  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.models.base import JudgmentBatch  # noqa: E402
from streams.core.models.reliable import ReliableParameters, ReliableTrueSkill  # noqa: E402
from streams.core.models.trueskill import TrueSkill, TrueSkillParameters  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ENOUGH = 20  # judgments, to say anything about a judge
MODELS = ("Expected Wins", "TrueSkill", "trueskill-judges")


def load(path: Path) -> tuple[Ints, Floats, int]:
    """Return the pairwise judgments (a, b, order, judge), the official scores and the number of judges."""
    systems: dict[str, int] = {}
    judges: dict[str, int] = {}
    rows = []
    for _, judgment in formats.read(path):
        judge = judges.setdefault(judgment.judge, len(judges))
        shown = [systems.setdefault(system, len(systems)) for system in judgment.systems]
        ranks = judgment.ranks or ()
        rows += [
            (shown[x], shown[y], int(np.sign(ranks[x] - ranks[y])), judge)
            for x in range(len(shown))
            for y in range(x + 1, len(shown))
        ]
    return np.array(rows, np.int64), official_scores(systems), len(judges)


def draw(
    rows: Ints, judges: int, size: int, share: float, random: np.random.Generator
) -> tuple[Ints, NDArray[np.bool_]]:
    """Draw judgments, in random order, and let this share of the judges answer at random."""
    careless = np.zeros(judges, np.bool_)
    careless[random.permutation(judges)[: round(share * judges)]] = True
    drawn = rows[random.permutation(len(rows))[:size]]
    spoilt = careless[drawn[:, 3]]
    drawn[spoilt, 2] = random.integers(-1, 2, int(spoilt.sum()))
    return drawn, careless


def batch_of(rows: Ints) -> JudgmentBatch:
    count = len(rows)
    return JudgmentBatch(
        systems=rows[:, :2].reshape(-1),
        ranks=np.stack([2 + rows[:, 2], np.full(count, 2)], axis=1).reshape(-1),
        starts=np.arange(0, 2 * count + 1, 2),
        judges=rows[:, 3].copy(),
        segments=np.zeros(count, np.int64),
        scores=np.full(count, np.nan),
    )


def expected_wins(rows: Ints, systems: int) -> Floats:
    """Average over the opponents the share of wins; ties, and opponents never met, count for nothing."""
    wins = np.zeros((systems, systems))
    np.add.at(wins, tuple(rows[rows[:, 2] < 0, :2].T), 1)
    np.add.at(wins, tuple(rows[rows[:, 2] > 0, 1::-1].T), 1)
    met = wins + wins.T
    shares = np.divide(wins, met, out=np.zeros_like(wins), where=met > 0)
    return np.asarray(shares.sum(axis=1) / (met > 0).sum(axis=1))


def separation(doubt: Floats, careless: NDArray[np.bool_]) -> float:
    """Return the area under the curve: how often a careless judge is doubted more than a careful one."""
    bad, good = doubt[careless][:, None], doubt[~careless][None, :]
    return float((bad > good).mean() + 0.5 * (bad == good).mean())


def run(rows: Ints, official: Floats, judges: int, *, size: int, share: float, seed: int) -> tuple[list[float], float]:
    """Return each model's correlation, and how well the careless judges are found."""
    drawn, careless = draw(rows, judges, size, share, np.random.default_rng(seed))
    batch = batch_of(drawn)
    plain, aware = TrueSkill(TrueSkillParameters()), ReliableTrueSkill(ReliableParameters())
    for model in (plain, aware):
        model.grow(len(official), judges, 1)
        model.apply(batch)
    scores = (expected_wins(drawn, len(official)), plain.scores()[0], aware.scores()[0])
    known = np.bincount(drawn[:, 3], minlength=judges) >= ENOUGH
    reliability = aware.judge_facts().reliability
    assert reliability is not None
    found = separation(-reliability[known], careless[known]) if share else float("nan")
    return [float(np.corrcoef(score, official)[0, 1]) for score in scores], found


def difference(ours: Floats, theirs: Floats) -> str:
    paired = ours - theirs
    return f"{paired.mean():+.4f} ({paired.mean() / (paired.std(ddof=1) / len(paired) ** 0.5):+.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--log", type=Path, default=DATA / "wmt13_fr-en_rank.csv.gz", help="log to read (default: %(default)s)"
    )
    parser.add_argument("--draws", type=int, default=20, help="draws of judges and judgments (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first draw (default: %(default)s)")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[6_400, 30_000], help="numbers of judgments (default: %(default)s)"
    )
    parser.add_argument(
        "--shares", type=float, nargs="+", default=[0.0, 0.5], help="shares of random judges (default: %(default)s)"
    )
    chosen = parser.parse_args()
    rows, official, judges = load(chosen.log)
    kernels.compiled("mixture")
    print(f"{len(rows):,} pairwise judgments by {judges} judges, {chosen.draws} draws\n")
    print(
        "judgments  random  model               r      se      - Expected Wins   - TrueSkill       AUC of the careless"
    )
    for size in chosen.sizes:
        for share in chosen.shares:
            seeds = range(chosen.seed, chosen.seed + chosen.draws)
            draws = [run(rows, official, judges, size=size, share=share, seed=seed) for seed in seeds]
            values = np.array([correlations for correlations, _ in draws])
            for m, name in enumerate(MODELS):
                error = values[:, m].std(ddof=1) / chosen.draws**0.5
                against = [difference(values[:, m], values[:, other]) if other < m else "" for other in (0, 1)]
                found = f"{np.mean([auc for _, auc in draws]):.3f}" if share and name == MODELS[-1] else ""
                print(
                    f"{size:>9,}  {share:>5.0%}  {name:<16}  {values[:, m].mean():.4f}  {error:.4f}"
                    f"  {against[0]:<16}  {against[1]:<16}  {found}".rstrip()
                )


if __name__ == "__main__":
    main()
