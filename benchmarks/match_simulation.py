"""Simulated requests: a policy asks, the outcomes of a log answer, and the order is estimated. For `matching.py`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.data import find_log
from streams.core import kernels
from streams.core.kernels import lookahead as at
from streams.core.matching import information, lookahead
from streams.core.methods.win_shares import ExpectedWins
from streams.formats import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FILES = (
    "wmt10_rank.csv.gz",
    "wmt11_rank.csv.gz",
    "wmt13_fr-en_rank.csv.gz",
    "wmt15_rank.csv.gz",
    "llmfao_crowd.csv.gz",
)
FEWEST_SYSTEMS, FEWEST_MEETINGS = 7, 20
POLICIES = ("uniform", "variance", "information")
ESTIMATES = ("online", "board")
C = 2**0.5 * lookahead.BETA
MARGIN = 0.58
WEAK = 9.0  # variance of the settled board's prior

rate_pair = kernels.by_numba("pairs").rate_pair
LOOPS = kernels.by_numba("lookahead")
fit, look_ahead, linearise, invert, solve = LOOPS.fit, LOOPS.look_ahead, LOOPS.linearise, LOOPS.invert, LOOPS.solve
pick_matches = kernels.by_numba("picks").pick_matches
STEPS, UNIFORM, JITTER = lookahead.STEPS, information.UNIFORM, information.JITTER
FIRST_FIT, LAYERS, VECTORS = np.array(at.FIRST_FIT), at.LAYERS, at.VECTORS
PAIR, SPREAD, COVARIANCE, GAIN = at.PAIR, at.SPREAD, at.COVARIANCE, at.GAIN


@dataclass(frozen=True)
class Oracle:
    """The outcomes of each pair in a log, and the order that all of them give."""

    wins: Ints
    ties: Ints

    @property
    def gold(self) -> Floats:
        return ExpectedWins().score(self.wins, self.ties)

    @property
    def is_large_enough(self) -> bool:
        met = (self.wins + self.wins.T + self.ties)[np.triu_indices(len(self.wins), 1)]
        return len(self.wins) >= FEWEST_SYSTEMS and met.min() > 0 and np.median(met) >= FEWEST_MEETINGS


@njit  # not cached: numba would not notice a change in the kernels that it calls
def kendall(score: Any, gold: Any) -> float:
    """Return Kendall's tau of two orders; a pair that is tied in one of them counts for neither."""
    agree = 0
    for a in range(len(score)):
        for b in range(a + 1, len(score)):
            agree += int(np.sign((score[a] - score[b]) * (gold[a] - gold[b])))
    return 2.0 * agree / (len(score) * (len(score) - 1))


@njit
def settle(wins: Any, ties: Any, none: Any, room: Any, vectors: Any) -> Any:
    """Return the scores of the settled board: the same fit without pair effects, with a weak prior."""
    fitted = FIRST_FIT.copy()
    room[:] = 0.0
    vectors[:] = 0.0
    for _ in range(20):
        fitted[PAIR], fitted[SPREAD] = 0.0, WEAK
        linearise(wins, ties, none, C, fitted, room, vectors)
        invert(room[COVARIANCE])
        if solve(fitted, room, vectors) < 1e-4:
            break
    return vectors[0].copy()


@njit
def draw_pair(count: int, random: Any) -> tuple[int, int]:
    a = int(random.random() * count)
    b = (a + 1 + int(random.random() * (count - 1))) % count
    return min(a, b), max(a, b)


@njit
def choose(
    policy: int, batch: int, wins: Any, ties: Any, mean: Any, variance: Any, room: Any, vectors: Any, random: Any
) -> Any:
    """Choose the pairs of one batch."""
    count = len(mean)
    pairs = np.empty((batch, 2), np.int64)
    asked = np.zeros((count, count), np.int64)
    if policy == 2:
        fitted = FIRST_FIT.copy()
        room[:] = 0.0
        vectors[:] = 0.0
        fit(wins, ties, asked, C, STEPS, fitted, room, vectors)
        look_ahead(np.ones(count, np.bool_), C, fitted, room, vectors)
        draws = random.random(count * (count - 1) // 2 + 2 * batch)
        by_chance = np.empty(batch, np.bool_)
        pick_matches(room[GAIN], np.ones(count, np.bool_), asked, draws, JITTER, UNIFORM, pairs, by_chance)
        return pairs
    for k in range(batch):
        if policy == 0:
            a, b = draw_pair(count, random)
        else:
            a = int(np.argmax(variance))
            weights = np.exp(-np.abs(mean - mean[a]))
            weights[a] = 0.0
            left, b = random.random() * weights.sum(), -1
            while left >= 0.0 or b == a:
                b += 1
                left -= weights[b]
        pairs[k] = min(a, b), max(a, b)
    return pairs


@njit
def run(
    policy: int, true_wins: Any, true_ties: Any, gold: Any, marks: Any, outstanding: int, taus: Any, random: Any
) -> None:
    """Ask, answer and rate. Fill taus[:, mark] for both estimates.

    `outstanding` requests are chosen at a time; 4 % of all judgments, 8 to 40, if it is 0.
    """
    count = len(gold)
    mean, variance = np.zeros(count), np.ones(count)
    wins, ties, none = np.zeros((3, count, count), np.int64)
    room, vectors = np.zeros((LAYERS, count, count)), np.zeros((VECTORS, count))
    step, mark = 0, 0
    while mark < len(marks):
        batch = 1 if policy < 2 else outstanding if outstanding > 0 else min(40, max(8, step // 25))
        pairs = choose(policy, batch, wins, ties, mean, variance, room, vectors, random)
        for k in range(batch):
            a, b = pairs[k]
            drawn = random.random() * (true_wins[a, b] + true_wins[b, a] + true_ties[a, b])
            if drawn < true_wins[a, b]:
                outcome = -1
                wins[a, b] += 1
            elif drawn < true_wins[a, b] + true_wins[b, a]:
                outcome = 1
                wins[b, a] += 1
            else:
                outcome = 0
                ties[a, b] += 1
                ties[b, a] += 1
            rate_pair(mean, variance, a, b, outcome, 1.118, MARGIN)
            step += 1
            if mark < len(marks) and step == marks[mark]:
                taus[0, mark] = kendall(mean, gold)
                taus[1, mark] = kendall(settle(wins, ties, none, room, vectors), gold)
                mark += 1


def oracles(only: Sequence[str] = ()) -> dict[str, Oracle]:
    """Read the logs, one oracle per campaign."""
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
    return {name: each for name, each in found.items() if each.is_large_enough and (not only or name in only)}


def measure(policy: str, oracle: Oracle, *, seeds: int, marks: Ints, outstanding: int = 0) -> Floats:
    """Return tau by run, estimate and mark."""
    taus = np.zeros((seeds, len(ESTIMATES), len(marks)))
    for seed in range(seeds):
        random = np.random.default_rng([seed, POLICIES.index(policy)])
        run(POLICIES.index(policy), oracle.wins, oracle.ties, oracle.gold, marks, outstanding, taus[seed], random)
    return taus
