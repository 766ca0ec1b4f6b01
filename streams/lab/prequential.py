"""Online models on a log: every outcome is predicted before it is learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.lab.pairs import Pairs
    from streams.models import Model
    from streams.models.base import Floats


def prequential(model: Model, pairs: Pairs, *, block: int = 1) -> Floats:
    """Give the probabilities that the model held of each outcome before it learned from its block (Dawid 1984).

    The model goes on from where it stands, and has learned all pairs afterwards. To learn in blocks is quicker.

    >>> from streams.lab.examples import duel
    >>> from streams.models import create
    >>> wins = prequential(create("trueskill", {}), duel(">>>"))[:, 0]
    >>> bool(wins[0] < wins[1] < wins[2])
    True
    """
    if block < 1:
        raise ParameterError(f"block: {block}; it takes at least 1")
    model.grow(len(pairs.systems), len(pairs.judges), len(pairs.segments))
    held = np.empty((len(pairs), 3))
    for start in range(0, len(pairs), block):
        part = pairs.take(np.arange(start, min(start + block, len(pairs))))
        for row, (a, b) in enumerate(zip(part.a.tolist(), part.b.tolist(), strict=True), start):
            held[row] = model.predict(a, b)
        model.apply(part.batch())
    return held
