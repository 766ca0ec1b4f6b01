"""Judgments that each match policy needs to find the right order, compared with uniform sampling, on real logs.

A log answers the requests: the outcome of a requested pair is drawn, with replacement, from the outcomes of that pair.
TrueSkill (prior N(0, 1), beta 1.118, margin 0.45) is updated after each answer. Its order by mean is compared,
by Kendall's tau, with the order by Expected Wins over the whole log. The result is the number of judgments until tau
first reaches a target. A run that does not reach it counts as 30,000. The mean ratio is over the logs on which uniform
reaches it in nine of ten runs. `informed` is not a policy: it is `information` with the means of the whole log, and
shows what better estimates could gain.

    python benchmarks/matching.py --seeds 200
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numba import njit  # noqa: E402

from benchmarks.data import find_log  # noqa: E402
from streams.core import kernels  # noqa: E402
from streams.core.methods.win_shares import ExpectedWins  # noqa: E402
from streams.formats import read  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

RESULTS = ROOT / "benchmarks" / "results"
FILES = ("wmt13_fr-en_rank.csv.gz", "wmt15_rank.csv.gz")
TUNED_ON = ("wmt13.fr-en", "wmt15.en-de", "wmt15.en-fi", "wmt15.fr-en", "wmt15.en-cs")
POLICIES = ("uniform", "variance", "information", "informed")
TARGETS = (0.90, 0.95)
CAP = 30_000
CURVE = 4_000
NINE_OF_TEN = 0.9
PRIOR = (0.0, 1.0, 1.118, 0.45)  # TrueSkill's mean, deviation, beta and margin: what was always compared with

rate_pair = kernels.compiled("pairs").rate_pair
order = kernels.compiled("order")
distances, blur, wear, score_pairs, best_set = (
    order.distances,
    order.blur,
    order.wear,
    order.score_pairs,
    order.best_set,
)


@dataclass(frozen=True)
class Oracle:
    """The outcomes of each pair in a log, and the order that all of them give."""

    wins: Ints
    ties: Ints

    @property
    def gold(self) -> Floats:
        return ExpectedWins().score(self.wins, self.ties)

    @property
    def truth(self) -> Floats:
        """Return TrueSkill's means after every outcome of the log, in a random order."""
        count = len(self.wins)
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
        outcomes = [
            (a, b, outcome)
            for a, b in pairs
            for outcome, times in ((-1, self.wins[a, b]), (1, self.wins[b, a]), (0, self.ties[a, b]))
            for _ in range(times)
        ]
        mean, variance = np.zeros(count), np.full(count, PRIOR[1] ** 2)
        for a, b, outcome in np.random.default_rng(1).permutation(outcomes):
            rate_pair(mean, variance, a, b, outcome, PRIOR[2], PRIOR[3])
        return mean


@njit  # not cached: numba would not notice a change in the kernels that it calls
def draw_index(weights: Any, random: Any) -> int:
    """Draw an index with probability ∝ its weight."""
    left = random.random() * weights.sum()
    for k in range(len(weights)):
        left -= weights[k]
        if left < 0.0 and weights[k] > 0.0:
            return k
    return int(np.argmax(weights))


@njit
def pick(policy: int, mean: Any, variance: Any, met: Any, truth: Any, random: Any) -> tuple[int, int]:
    """Pick a pair as the policy of that place in POLICIES does."""
    count = len(mean)
    if policy == 0:
        a = int(random.random() * count)
        return a, (a + 1 + int(random.random() * (count - 1))) % count
    if policy == 1:
        a = int(np.argmax(variance))
        weights = np.exp(-np.abs(mean - mean[a]))
        weights[a] = 0.0
        return a, draw_index(weights, random)
    squares = distances(truth if policy == 3 else mean, variance)
    chosen = best_set(score_pairs(blur(squares, variance), wear(squares, met), random.random((count, count))), 2)
    return int(chosen[0]), int(chosen[1])


@njit
def kendall(mean: Any, gold: Any) -> float:
    """Return Kendall's tau of two orders; a pair that is tied in one of them counts for neither."""
    agree = 0
    for a in range(len(mean)):
        for b in range(a + 1, len(mean)):
            agree += int(np.sign((mean[a] - mean[b]) * (gold[a] - gold[b])))
    return 2.0 * agree / (len(mean) * (len(mean) - 1))


@njit
def run(
    policy: int, wins: Any, ties: Any, gold: Any, truth: Any, prior: Any, targets: Any, cap: int, taus: Any, random: Any
) -> Any:
    """Ask, answer and rate until every target is reached and the curve of taus is full; give when each was."""
    count = len(gold)
    mean, variance, met = np.full(count, prior[0]), np.full(count, prior[1] ** 2), np.zeros((count, count))
    reached = np.full(len(targets), cap)
    for step in range(1, cap + 1):
        a, b = pick(policy, mean, variance, met, truth, random)
        drawn = random.random() * (wins[a, b] + wins[b, a] + ties[a, b])
        outcome = -1 if drawn < wins[a, b] else 1 if drawn < wins[a, b] + wins[b, a] else 0
        rate_pair(mean, variance, a, b, outcome, prior[2], prior[3])
        met[a, b] += 1.0
        met[b, a] += 1.0
        tau = kendall(mean, gold)
        if step <= len(taus):
            taus[step - 1] += tau
        for k in range(len(targets)):
            if tau >= targets[k] - 1e-12 and reached[k] == cap:
                reached[k] = step
        if step >= len(taus) and reached.max() < cap:
            break
    return reached


def oracles() -> dict[str, Oracle]:
    """Read the logs, a campaign each."""
    rankings: dict[str, list[tuple[tuple[str, ...], tuple[int, ...]]]] = {}
    for file in FILES:
        for _, judgment in read(find_log(file)):
            rankings.setdefault(judgment.campaign, []).append((judgment.systems, judgment.ranks or ()))
    found = {}
    for campaign, rows in sorted(rankings.items()):
        place = {name: k for k, name in enumerate(sorted({name for systems, _ in rows for name in systems}))}
        wins, ties = np.zeros((2, len(place), len(place)), np.int64)
        for systems, ranks in rows:
            for (a, rank_a), (b, rank_b) in combinations(zip(systems, ranks, strict=True), 2):
                if rank_a != rank_b:
                    better, worse = (a, b) if rank_a < rank_b else (b, a)
                    wins[place[better], place[worse]] += 1
                else:
                    ties[place[a], place[b]] += 1
                    ties[place[b], place[a]] += 1
        found[campaign] = Oracle(wins, ties)
    return found


def measure(policy: str, oracle: Oracle, seeds: int) -> tuple[Ints, Floats]:
    """Return when each run reached each target, and the mean tau after each judgment."""
    taus = np.zeros(CURVE)
    reached = [
        run(
            POLICIES.index(policy),
            oracle.wins,
            oracle.ties,
            oracle.gold,
            oracle.truth,
            np.array(PRIOR),
            np.array(TARGETS),
            CAP,
            taus,
            np.random.default_rng([seed, POLICIES.index(policy)]),
        )
        for seed in range(seeds)
    ]
    return np.array(reached), taus / seeds


def ratio(needed: Ints, uniform: Ints) -> tuple[float, float]:
    """Return the ratio of two means and its standard error."""
    value = needed.mean() / uniform.mean()
    relative = [runs.std(ddof=1) / runs.mean() / np.sqrt(len(runs)) for runs in (needed, uniform)]
    return float(value), float(value * np.hypot(*relative))


def plot(curves: dict[str, dict[str, Floats]], file: Path) -> None:
    """Draw the mean tau of each policy, a panel a log."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    figure = Figure(figsize=(12, 9), layout="constrained")
    panels = list(figure.subplots(3, 4, sharex=True, sharey=True).flat)
    for panel, (campaign, by_policy) in zip(panels, curves.items(), strict=False):
        for policy, taus in by_policy.items():
            panel.plot(np.arange(1, len(taus) + 1), taus, label=policy, linewidth=1)
        panel.set(title=campaign, xscale="log", xlim=(50, CURVE), ylim=(0.4, 1.0))
        panel.axhline(0.9, color="grey", linewidth=0.5)
    for panel in panels[len(curves) :]:
        panel.axis("off")
    panels[0].legend(loc="lower right")
    figure.supxlabel("judgments")
    figure.supylabel("Kendall tau with the order of the full log, mean over the seeds")
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file)
    print(f"plot: {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--logs", nargs="*", help="campaigns to run, e.g. wmt15.en-fi (default: all)")
    options = parser.parse_args()
    logs = {name: oracle for name, oracle in oracles().items() if not options.logs or name in options.logs}
    curves: dict[str, dict[str, Floats]] = {}
    ratios: dict[tuple[str, float], dict[str, float]] = {}
    print(f"{'judgments (of uniform ± error)':30}" + "".join(f"{f'{p} {t}':>24}" for p in POLICIES for t in TARGETS))
    for name, oracle in logs.items():
        runs = {}
        curves[name] = {}
        for policy in POLICIES:
            runs[policy], curves[name][policy] = measure(policy, oracle, options.seeds)
        line = f"{name + ('*' if name in TUNED_ON else ''):30}"
        for policy in POLICIES:
            for k, target in enumerate(TARGETS):
                there = float((runs["uniform"][:, k] < CAP).mean())
                value, error = ratio(runs[policy][:, k], runs["uniform"][:, k])
                told = f"{100 * there:.0f} %" if policy == "uniform" else f"{value:.2f} ± {error:.2f}"
                line += f"{f'{runs[policy][:, k].mean():,.0f} ({told})':>24}"
                if there >= NINE_OF_TEN:
                    ratios.setdefault((policy, target), {})[name] = value
        print(line, flush=True)
    print("* variants of the policy were compared on these; in brackets for uniform, the runs that got there")
    for (policy, target), values in ratios.items():
        if policy != "uniform":
            mean = np.mean(list(values.values()))
            confirmed = [value for name, value in values.items() if name not in TUNED_ON]
            print(
                f"{policy} needs {mean:.2f} of uniform for tau {target} over {len(values)} logs"
                f" ({min(values.values()):.2f} to {max(values.values()):.2f};"
                f" {np.mean(confirmed) if confirmed else np.nan:.2f} over the {len(confirmed)} others)"
            )
    plot(curves, RESULTS / "matching.png")


if __name__ == "__main__":
    main()
