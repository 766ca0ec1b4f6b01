"""Judgments that each match policy needs to find the right order, compared with uniform sampling, on real logs.

A log answers the requests: the outcome of a requested pair is drawn, with replacement, from the outcomes of that pair.
The result is the number of judgments after which the mean of Kendall's tau over all runs reaches a target. Tau compares
with the order by Expected Wins over the whole log. `online` scores by TrueSkill's means (prior N(0, 1), beta 1.118,
margin 0.58), `board` by the fit of the settled board to all counts. All ratios are to uniform sampling with `online`.

A campaign counts if it has seven systems or more and its pairs met 20 times or more (median). The policy was chosen
on the campaigns in which crc32(name) % 3 is 0. The others are held back, and are reported apart.

    python benchmarks/matching.py --seeds 150
    python benchmarks/matching.py --cost
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.match_simulation import ESTIMATES, measure, oracles  # noqa: E402
from streams.core.matching import Meetings, find_policy, lookahead  # noqa: E402
from streams.core.models import create  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.match_simulation import Floats, Ints

TARGETS = (0.90, 0.95)
BUDGETS = (500, 1_000, 3_000)
MARKS = np.unique(np.append(np.rint(60 * 1.1 ** np.arange(61)), BUDGETS)).astype(np.int64)  # tau is computed here
RESAMPLES = 200


def crossing(taus: Floats, marks: Ints, target: float, *, default: float = np.nan) -> float:
    """Return the judgments after which the mean tau reaches the target, or the default if it never does."""
    mean = taus.mean(axis=0)
    above = np.flatnonzero(mean >= target)
    if not len(above) or above[0] == 0:
        return default
    k = int(above[0])
    part = (target - mean[k - 1]) / (mean[k] - mean[k - 1])
    return float(np.exp((1 - part) * np.log(marks[k - 1]) + part * np.log(marks[k])))


def useful_marks(base: Floats, marks: Ints) -> Ints:
    """Return the marks up to 1.6 times the last crossing by uniform sampling. A run need not be longer."""
    reached = [each for each in (crossing(base, marks, target) for target in TARGETS) if not np.isnan(each)]
    return marks[marks <= max(1.6 * max(reached, default=0.0), max(BUDGETS))]


def ratio(taus: Floats, base: Floats, marks: Ints, target: float) -> tuple[float, float]:
    """Return the ratio of two crossings and its standard error, by resampling the runs of both.

    A policy that does not reach the target counts as if it did with the last judgment.
    """
    random = np.random.default_rng(1)
    last = float(marks[~np.isnan(taus[0])][-1])
    found = crossing(taus, marks, target, default=last) / crossing(base, marks, target)
    drawn = []
    for _ in range(RESAMPLES):
        rows, others = random.integers(len(taus), size=(2, len(taus)))
        drawn.append(crossing(taus[rows], marks, target, default=last) / crossing(base[others], marks, target))
    return found, float(np.nanstd(drawn))


def report(title: str, results: dict[str, dict[str, Floats]], marks: Ints) -> None:
    """Print the summary of some campaigns."""
    contenders = [(policy, estimate) for policy in next(iter(results.values())) for estimate in range(len(ESTIMATES))]
    print(f"\n{title}: {len(results)} campaigns")
    for policy, estimate in contenders:
        line = f"  {policy + ', ' + ESTIMATES[estimate]:22}"
        for target in TARGETS:
            rows = [
                ratio(taus[policy][:, estimate], taus["uniform"][:, 0], marks, target)
                for taus in results.values()
                if not np.isnan(crossing(taus["uniform"][:, 0], marks, target))
            ]
            if rows:
                found, errors = np.array(rows).T
                worse = int((found - 1.0 > 2.0 * errors).sum())
                line += f"  tau {target}: {found.mean():.2f} ± {np.sqrt((errors**2).sum()) / len(rows):.2f}"
                line += f" ({len(rows)} campaigns, worst {found.max():.2f}, {worse} worse)"
        means = [np.mean([taus[policy][:, estimate, marks == b].mean() for taus in results.values()]) for b in BUDGETS]
        print(line + "  tau after " + ", ".join(f"{b:,}" for b in BUDGETS) + ": " + " ".join(f"{m:.3f}" for m in means))


def print_cost() -> None:
    """Print the time of one look-ahead with all gains, and of each further choice."""
    random = np.random.default_rng(1)
    for count, judgments, repeats in ((20, 2_000, 50), (100, 5_000, 5), (1_000, 50_000, 2)):
        wins, ties = np.zeros((2, count, count), np.int64)
        first = random.integers(count, size=judgments)
        np.add.at(wins, (first, (first + random.integers(1, count, size=judgments)) % count), 1)
        meetings, everyone, none = Meetings(wins, ties), np.ones(count, np.bool_), np.zeros((count, count), np.int64)
        model = create("trueskill", {})
        model.grow(count, 0, 0)
        choose = partial(
            find_policy("information").choose,
            model,
            candidates=range(count),
            pending=(),
            random=random,
            meetings=meetings,
        )
        lookahead.expected_gains(meetings, everyone, none)
        choose(count=1)
        begin = time.process_time()
        for _ in range(repeats):
            lookahead.expected_gains(meetings, everyone, none)
        middle = time.process_time()
        for _ in range(repeats):
            choose(count=1)
        one = time.process_time()
        for _ in range(repeats):
            choose(count=101)
        end = time.process_time()
        each, more = (middle - begin) / repeats * 1e3, ((end - one) - (one - middle)) / repeats / 100 * 1e3
        print(f"{count:5} systems: {each:8.2f} ms of CPU per look-ahead, {more:6.3f} ms per further choice")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=150, help="Runs per campaign and policy.")
    parser.add_argument("--only", nargs="*", default=(), help="Names of campaigns.")
    parser.add_argument("--policies", nargs="*", default=("information",), help="Policies to compare with uniform.")
    parser.add_argument("--most", type=int, default=12_000, help="Judgments per run.")
    parser.add_argument("--outstanding", type=int, default=0, help="Requests chosen at a time; 0: more and more.")
    parser.add_argument("--cost", action="store_true", help="Print the time of a choice, and nothing else.")
    options = parser.parse_args()
    if options.cost:
        print_cost()
        return
    marks = MARKS[options.most >= MARKS]
    results: dict[str, dict[str, Floats]] = {}
    for name, oracle in sorted(oracles(options.only).items(), key=lambda item: len(item[1].wins)):
        results[name] = {"uniform": measure("uniform", oracle, seeds=options.seeds, marks=marks)}
        needed = useful_marks(results[name]["uniform"][:, 0], marks)
        for policy in options.policies:
            taus = measure(policy, oracle, seeds=options.seeds, marks=needed, outstanding=options.outstanding)
            rest = np.full((*taus.shape[:2], len(marks) - len(needed)), np.nan)
            results[name][policy] = np.concatenate([taus, rest], axis=2)
        base = results[name]["uniform"][:, 0]
        line = f"{name:32} {len(oracle.wins):3} systems {'held back' if is_held_back(name) else 'tuned on':9}"
        for policy in options.policies:
            for target in TARGETS:
                found, error = ratio(results[name][policy][:, 1], base, marks, target)
                line += f"  {policy} {target}: {found:.2f} ± {error:.2f} of {crossing(base, marks, target):,.0f}"
        print(line, flush=True)
    for title, is_held in (("tuned on", False), ("held back", True)):
        part = {name: taus for name, taus in results.items() if is_held_back(name) == is_held}
        if part:
            report(title, part, marks)


def is_held_back(campaign: str) -> bool:
    """Return whether a campaign was not used to choose the policy."""
    return crc32(campaign.encode()) % 3 != 0


if __name__ == "__main__":
    main()
