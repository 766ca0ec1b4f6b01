"""A test set that looks as if it were drawn independently: comparisons on segments that were judged least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs

FEWEST = 2000


@dataclass(frozen=True, kw_only=True)
class LeastJudgedSplit:
    """What to learn from, what to measure on, and the most comparisons that a segment of the test set is in."""

    training: Pairs
    test: Pairs
    most: int


def least_judged(pairs: Pairs, *, fewest: int = FEWEST) -> LeastJudgedSplit:
    """Take all comparisons on segments with at most k of them as the test set, k as small as gives enough.

    Hopkins and May (2013), 4 and Table 3: they are in fewer batches, and so depend less on each other.

    >>> from dataclasses import replace
    >>> from streams.core.methods.pairs import Pairs
    >>> three = replace(Pairs.parse(">>>"), segment=np.array([0, 0, 1]), segments=("s", "t"))
    >>> split = least_judged(three, fewest=1)
    >>> split.test.segment.tolist(), split.training.segment.tolist(), split.most
    ([1], [0, 0], 1)
    """
    if len(pairs) <= fewest:
        raise ParameterError(f"{len(pairs):,} comparisons; a test set of {fewest:,} needs more than these")
    judged = np.bincount(pairs.segment)[pairs.segment]
    most = int(np.sort(judged)[fewest - 1])
    test = judged <= most
    return LeastJudgedSplit(training=pairs.select(~test), test=pairs.select(test), most=most)
