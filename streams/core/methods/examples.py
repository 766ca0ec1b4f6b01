"""Small data for the examples in the lab's docstrings."""

from __future__ import annotations

import numpy as np

from streams.core.methods.pairs import Pairs


def duel(outcomes: str) -> Pairs:
    """Give outcomes of system 0 against system 1, by one judge on one segment, as > = <.

    >>> duel(">=<").outcome.tolist()
    [0, 1, 2]
    """
    zeros = np.zeros(len(outcomes), np.int64)
    return Pairs(
        a=zeros,
        b=zeros + 1,
        outcome=np.array([">=<".index(sign) for sign in outcomes], np.int64),
        judge=zeros,
        segment=zeros,
        systems=("0", "1"),
        judges=("0",),
        segments=("0",),
    )
