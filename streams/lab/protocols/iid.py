"""A nearly independent test set: the comparisons on the least judged segments."""

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
    """The training set, the test set, and the largest number of comparisons on a segment of the test set."""

    training: Pairs
    test: Pairs
    most: int


def least_judged(pairs: Pairs, *, fewest: int = FEWEST) -> LeastJudgedSplit:
    """Split off all comparisons on segments with at most k of them as the test set, with k as small as possible.

    Hopkins and May (2013), 4 and Table 3: these comparisons are in fewer batches, and so depend less on each other.

    >>> from dataclasses import replace
    >>> from streams.core.methods.pairs import Pairs
    >>> three = replace(Pairs.parse(">>>"), segment=np.array([0, 0, 1]), segments=("s", "t"))
    >>> split = least_judged(three, fewest=1)
    >>> split.test.segment.tolist(), split.training.segment.tolist(), split.most
    ([1], [0, 0], 1)
    """
    if len(pairs) <= fewest:
        raise ParameterError(f"{len(pairs):,} comparisons are too few for a test set of {fewest:,}")
    judged = np.bincount(pairs.segment)[pairs.segment]
    most = int(np.sort(judged)[fewest - 1])
    test = judged <= most
    return LeastJudgedSplit(training=pairs.select(~test), test=pairs.select(test), most=most)
