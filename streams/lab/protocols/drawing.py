"""Training, development and test sets as in the papers, without overlap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError
from streams.lab.protocols.randomness import random_generator

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.methods.rankings import Rankings
    from streams.core.models.base import Ints

LARGEST_SHARE = 5  # a test or development set is at most 1 / this of the log


@dataclass(frozen=True, kw_only=True)
class SegmentSplit:
    """The numbers of the rankings for training, tuning and testing. No segment is in two of them."""

    training: Ints
    development: Ints
    test: Ints


def split_segments(
    rankings: Rankings, testers: Ints, random: np.random.Generator, *, pairs: int = 2000
) -> SegmentSplit:
    """Hold out whole segments until the testers' rankings of them have this many pairs, for two sets.

    Sakaguchi et al. (2014), 3.1, test on 2,000 pairs of researchers. All rankings of a held-out segment are left out of
    the training set. Otherwise rankings of the same outputs would inform the model about the test, and repeated rows of
    the log would be in both sets. The test set is at most a fifth of a small log.
    """
    size = rankings.sizes * (rankings.sizes - 1) // 2
    held = np.bincount(
        rankings.segment, np.where(np.isin(rankings.judge, testers), size, 0), minlength=len(rankings.segments)
    )
    wanted = min(pairs, int(held.sum()) // LARGEST_SHARE)
    if wanted < 1:
        raise ParameterError(
            f"{len(rankings)} rankings by {len(testers)} judges are too few for a test set; use a larger log"
        )
    order = random.permutation(len(rankings.segments))
    total = np.cumsum(held[order])
    ends = [int(np.searchsorted(total, wanted * part)) + 1 for part in (1, 2)]
    test, development, training = np.split(order, ends)
    parts = [
        np.flatnonzero(np.isin(rankings.segment, part) & np.isin(rankings.judge, testers))
        for part in (test, development)
    ]
    return SegmentSplit(
        test=parts[0], development=parts[1], training=np.flatnonzero(np.isin(rankings.segment, training))
    )


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """A split of a campaign and its pairs. `testers` are the judges of the two held-out sets."""

    split: SegmentSplit
    testers: Ints
    pool: Pairs
    development: Pairs
    test: Pairs


@lru_cache(maxsize=4)
def hold_out(rankings: Rankings, researchers: str, pairs: int, key: tuple[int | str, ...]) -> HeldOut:
    """Hold out judgments of judges with names like `researchers`, or of all judges if there are none.

    `key` selects the random generator. The cells of a repeat share the result, so the last few are cached.
    """
    known = find_judges(rankings, researchers)
    testers = known if len(known) else np.arange(len(rankings.judges))
    split = split_segments(rankings, testers, random_generator(*key, "split"), pairs=pairs)
    pool, development, test = map(rankings.pairs_of, (split.training, split.development, split.test))
    return HeldOut(split=split, testers=testers, pool=pool, development=development, test=test)


def remaining(rankings: Rankings, researchers: str, pairs: int) -> float:
    """Return the share of judgments that at least remains for training, since whole segments are held out."""
    size = rankings.sizes * (rankings.sizes - 1) // 2
    known = np.isin(rankings.judge, find_judges(rankings, researchers))
    testable = int(size[known].sum()) or int(size.sum())
    return 1.0 - 3.0 * min(pairs, testable // LARGEST_SHARE) / max(1, testable)


def find_judges(rankings: Rankings, pattern: str) -> Ints:
    """Return the judges whose names match a pattern, such as researcher*."""
    return np.array([k for k, name in enumerate(rankings.judges) if fnmatchcase(name, pattern)], np.int64)


def draw_pairs(pool: Pairs, size: int, random: np.random.Generator) -> Pairs:
    """Draw pairs without replacement, in random order. Raise ParameterError if there are too few."""
    if size > len(pool):
        raise ParameterError(f"{size:,} pairs can't be drawn from {len(pool):,}; use smaller sizes")
    return pool.select(random.permutation(len(pool))[:size])


def draw_rankings(pool: Pairs, number: Ints, size: int, random: np.random.Generator) -> Pairs:
    """Draw whole rankings until there are this many pairs, so that segments have several comparisons."""
    if size > len(pool):
        raise ParameterError(f"{size:,} pairs can't be drawn from {len(pool):,}; use smaller sizes")
    key = random.permutation(int(number.max(initial=-1)) + 1)[number]
    return pool.select(np.argsort(key, kind="stable")[:size])


def add_noise(pairs: Pairs, share: float, random: np.random.Generator) -> Pairs:
    """Replace the answers of a share of the judges by random ones (Otani et al. 2016, 6.4)."""
    careless = np.zeros(len(pairs.judges), np.bool_)
    careless[random.permutation(len(pairs.judges))[: round(share * len(pairs.judges))]] = True
    outcome = np.where(careless[pairs.judge], random.integers(3, size=len(pairs)), pairs.outcome)
    return replace(pairs, outcome=outcome)
