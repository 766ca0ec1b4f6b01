"""The graded response model on WMT13 French-English: online in one pass, and the batch fit on the same comparisons.

Prints Pearson's correlation with the official scores, as the mean over all baselines and draws. A share of the judges
answers at random. In mode `pairwise` the comparisons are between any two systems, so they are different ones.

    python benchmarks/grm.py --draws 3
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.data import find_log  # noqa: E402
from benchmarks.wmt13 import official_scores  # noqa: E402
from streams import formats  # noqa: E402
from streams.core.methods.baseline_choice import choose_baseline  # noqa: E402
from streams.core.methods.grm_fit import Comparisons, fit_graded_response  # noqa: E402
from streams.core.models.base import JudgmentBatch, Model, parameters_of  # noqa: E402
from streams.core.models.grm import GradedResponse  # noqa: E402
from streams.core.models.trueskill import TrueSkill  # noqa: E402

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

FILE = "wmt13_fr-en_rank.csv.gz"


class Log(NamedTuple):
    """All pairwise outcomes: u is 1, 2 or 3 as a lost, tied or won; `ranking` numbers the rankings they come from."""

    a: Ints
    b: Ints
    judge: Ints
    segment: Ints
    u: Ints
    ranking: Ints

    def take(self, rows: Ints) -> Log:
        return Log(*(column[rows] for column in self))


def read(path: Path) -> tuple[Log, list[str]]:
    names, judges, segments = (dict[str, int]() for _ in range(3))
    rows = []
    for number, (_, judgment) in enumerate(formats.read(path)):
        systems = [names.setdefault(system, len(names)) for system in judgment.systems]
        judge = judges.setdefault(judgment.judge, len(judges))
        segment = segments.setdefault(judgment.segment, len(segments))
        ranks = judgment.ranks or ()
        for x in range(len(systems)):
            for y in range(x + 1, len(systems)):
                u = 2 + int(np.sign(ranks[y] - ranks[x]))
                rows.append((systems[x], systems[y], judge, segment, u, number))
    return Log(*np.array(rows, np.int64).T), list(names)


def with_baseline(log: Log, baseline: int) -> Log:
    """Turn the comparisons that hold the baseline so that it stands second."""
    kept = log.take(np.flatnonzero((log.a == baseline) | (log.b == baseline)))
    second = kept.b == baseline
    other = np.where(second, kept.a, kept.b)
    u = np.where(second, kept.u, 4 - kept.u)
    return kept._replace(a=other, b=np.full_like(other, baseline), u=u)


def drawn(log: Log, count: int, random: np.random.Generator) -> Log:
    """Draw whole rankings until there are enough comparisons, in random order."""
    key = random.permutation(log.ranking.max() + 1)[log.ranking]
    return log.take(np.argsort(key, kind="stable")[:count])


def with_noise(log: Log, share: float, judges: int, random: np.random.Generator) -> Log:
    """Let a share of the judges answer at random."""
    noisy = np.zeros(judges, np.bool_)
    noisy[random.choice(judges, round(share * judges), replace=False)] = True
    return log._replace(u=np.where(noisy[log.judge], random.integers(1, 4, len(log.u)), log.u))


def online(model: Model, log: Log, sizes: tuple[int, int, int]) -> Floats:
    model.grow(*sizes)
    model.apply(
        JudgmentBatch(
            systems=np.stack([log.a, log.b], axis=1).reshape(-1),
            ranks=np.stack([4 - log.u, log.u], axis=1).reshape(-1),
            starts=np.arange(0, 2 * len(log.a) + 1, 2),
            judges=log.judge,
            segments=log.segment,
            scores=np.full(len(log.a), np.nan),
        )
    )
    return model.scores()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--comparisons", type=int, default=6400)
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.5])
    parser.add_argument(
        "--rounds", type=int, default=4, help="rounds of the batch fit; 1 keeps the nodes on the prior (default: 4)"
    )
    options = parser.parse_args()

    log, names = read(find_log(FILE))
    sizes = (len(names), int(log.judge.max()) + 1, int(log.segment.max()) + 1)
    gold = official_scores(names)
    print(f"{FILE}: {len(log.u)} comparisons, {sizes[0]} systems, {sizes[1]} judges, {sizes[2]} segments")
    print(f"{options.comparisons} comparisons a fit, {options.draws} draws")
    print("noise  online  batch  online - batch | any pairs: GRM  TrueSkill | seconds: online  batch")
    by_baseline = np.zeros(len(names))
    for noise in options.noise:
        one_pass, batch, pairwise, trueskill = (list[float]() for _ in range(4))
        seconds = {"online": 0.0, "batch": 0.0}
        for draw in range(options.draws):
            for baseline in range(len(names)):
                random = np.random.default_rng([draw, baseline, round(100 * noise)])
                sample = drawn(with_baseline(log, baseline), options.comparisons, random)
                sample = with_noise(sample, noise, sizes[1], random)
                others = np.arange(len(names)) != baseline
                began = time.perf_counter()
                model = GradedResponse(parameters_of(GradedResponse, {"mode": "baseline"}))
                model.baseline = baseline
                theta = online(model, sample, sizes)
                seconds["online"] += time.perf_counter() - began
                one_pass.append(np.corrcoef(theta[others], gold[others])[0, 1])
                began = time.perf_counter()
                data = Comparisons(systems=sample.a, judges=sample.judge, segments=sample.segment, outcomes=sample.u)
                theta = np.resize(fit_graded_response(data, rounds=options.rounds).theta, len(names))
                seconds["batch"] += time.perf_counter() - began
                batch.append(np.corrcoef(theta[others], gold[others])[0, 1])
                any_pairs = log.take(random.choice(len(log.u), options.comparisons, replace=False))
                any_pairs = with_noise(any_pairs, noise, sizes[1], random)
                for kind, scores in ((GradedResponse, pairwise), (TrueSkill, trueskill)):
                    theta = online(kind(parameters_of(kind, {})), any_pairs, sizes)
                    scores.append(np.corrcoef(theta, gold)[0, 1])
        print(
            f"{noise:5.0%}  {np.mean(one_pass):.4f}  {np.mean(batch):.4f}  {np.mean(one_pass) - np.mean(batch):+.4f} "
            f"| {np.mean(pairwise):.4f} {np.mean(trueskill):.4f} | {seconds['online']:.1f} {seconds['batch']:.1f}",
            flush=True,
        )
        if noise == 0.0:
            by_baseline = np.reshape(one_pass, (options.draws, -1)).mean(axis=0)
    wins, ties = (np.zeros((len(names),) * 2, np.int64) for _ in range(2))
    np.add.at(wins, (log.a[log.u == 3], log.b[log.u == 3]), 1)
    np.add.at(wins, (log.b[log.u == 1], log.a[log.u == 1]), 1)
    np.add.at(ties, (log.a[log.u == 2], log.b[log.u == 2]), 1)
    choice = choose_baseline(wins, ties + ties.T, names=names)
    print(f"\nbaseline by information: {choice.reason}")
    if by_baseline.any():
        for system in np.argsort(-choice.information):
            print(f"  {names[system]:55} information {choice.information[system]:.4f}  r {by_baseline[system]:.4f}")


if __name__ == "__main__":
    main()
