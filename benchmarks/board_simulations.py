"""Simulated campaigns whose truth is known, for the benchmark of boards."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.comparisons import Comparisons, count_groups, read_campaigns
from benchmarks.data import find_log
from streams.core.ranking.fit import PairOutcomes, fit_pairs
from streams.core.ranking.grouped_counts import GROUPS, GroupedCounts
from streams.core.ranking.settled import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

LOGS = ("wmt10_rank", "wmt11_rank", "wmt13_fr-en_rank", "wmt15_rank", "llmfao_crowd")
BETA, MARGIN = 1.118, 0.45
_loaded: dict[str, list[Comparisons]] = {}


@dataclass(frozen=True)
class Simulation:
    """A way to get counts after so many judgments, and the true score of each system."""

    truth: Floats
    grow: Callable[[int], GroupedCounts]  # called with growing numbers, it continues the same campaign


def resampled(log: Comparisons, random: np.random.Generator) -> Simulation:
    """Draw whole rankings with replacement. The truth is the fit of the log."""
    drawn = random.integers(log.judgments, size=10_000_000 // 50)
    groups = int(random.integers(2**31))
    return Simulation(
        truth=settle(log.sample(np.arange(log.judgments), random)).score,
        grow=lambda size: log.sample(drawn[:size], np.random.default_rng(groups)),
    )


def neighbours(systems: int, spread: float, random: np.random.Generator, *, turns: int = 10) -> Simulation:
    """Draw abilities, and let neighbours of the present board meet; one match in ten is uniform."""
    truth = random.normal(size=systems) * spread
    names = tuple(f"s{k:04}" for k in range(systems))
    played = np.zeros((0, 5), np.int64)  # first, second, outcome, group by judgment, group by judge
    upper = np.triu_indices(systems, 1)
    slot = np.zeros((systems, systems), np.int64)
    slot[upper] = np.arange(len(upper[0]))

    def order() -> Ints:
        """Return the systems in order of the present fit."""
        cells = np.bincount(slot[played[:, 0], played[:, 1]] * 3 + played[:, 2], minlength=3 * len(upper[0]))
        pairs = PairOutcomes(
            first=upper[0],
            second=upper[1],
            outcomes=cells.reshape(-1, 3).astype(float),
            size=systems,
            precision=0.28,
        )
        return np.argsort(-fit_pairs(pairs).ability)

    def counts() -> GroupedCounts:
        judgments = np.bincount(played[:, :2].ravel(), minlength=systems)
        return count_groups(
            names,
            *played.T[:3],
            by_judgment=played[:, 3],
            by_judge=played[:, 4],
            judgments=judgments,
            rankings=len(played),
            judges=100,
        )

    def grow(size: int) -> GroupedCounts:
        nonlocal played
        first = len(played)
        for begin, end in pairwise(np.linspace(first, size, turns + 1).astype(int)):
            present = order() if len(played) else random.permutation(systems)
            place = random.integers(systems - 1, size=end - begin)
            a, b = present[place], present[place + 1]
            other = (a + random.integers(1, systems, size=len(a))) % systems
            b = np.where(random.random(len(a)) < 0.1, other, b)
            a, b = np.minimum(a, b), np.maximum(a, b)
            seen = truth[a] - truth[b] + sqrt(2.0) * BETA * random.normal(size=len(a))
            outcome = np.where(seen > MARGIN, 0, np.where(seen < -MARGIN, 2, 1))
            groups = random.integers(GROUPS, size=(2, len(a)))
            played = np.concatenate([played, np.stack([a, b, outcome, *groups], axis=1)])
        return counts()

    return Simulation(truth=truth, grow=grow)


def simulations(seed: int, run: int, *, kinds: str = "") -> Iterator[tuple[str, Simulation]]:
    """Return one simulation of each kind whose name contains `kinds`. Every run uses another log of each file."""
    random = np.random.default_rng([seed, run])
    for file in LOGS:
        if kinds not in file:
            continue
        logs = _loaded.setdefault(file, list(read_campaigns(find_log(f"{file}.csv.gz"), fewest=200).values()))
        yield file, resampled(logs[run % len(logs)], random)
    for systems in (12, 30):
        name = f"{systems} systems, spread 2, neighbours"
        if kinds in name:
            yield name, neighbours(systems, 2.0, random)


def uniform(systems: int, judgments: int, random: np.random.Generator, *, truth: Floats | None = None) -> GroupedCounts:
    """Return counts of matches between any two systems. By default their abilities are drawn with spread 1."""
    truth = random.normal(size=systems) if truth is None else truth
    a = random.integers(systems, size=judgments)
    b = (a + random.integers(1, systems, size=judgments)) % systems
    a, b = np.minimum(a, b), np.maximum(a, b)
    seen = truth[a] - truth[b] + sqrt(2.0) * BETA * random.normal(size=judgments)
    return count_groups(
        tuple(f"s{k:04}" for k in range(systems)),
        a,
        b,
        np.where(seen > MARGIN, 0, np.where(seen < -MARGIN, 2, 1)),
        by_judgment=random.integers(GROUPS, size=judgments),
        by_judge=random.integers(GROUPS, size=judgments),
        judgments=np.bincount(a, minlength=systems) + np.bincount(b, minlength=systems),
        rankings=judgments,
        judges=100,
    )
