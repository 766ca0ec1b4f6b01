"""Prequential predictions of online models: every outcome is predicted before the model learns from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.methods.rankings import Rankings
    from streams.core.models import Model
    from streams.core.models.base import Floats


def predict_prequentially(model: Model, pairs: Pairs, *, block: int = 1) -> Floats:
    """Return the predicted probabilities of each outcome before the model learned from its block (Dawid 1984).

    The model continues from its current state and has learned all pairs afterwards. Larger blocks are faster.

    >>> from streams.core.methods.pairs import Pairs
    >>> from streams.core.models import create
    >>> wins = predict_prequentially(create("trueskill", {}), Pairs.parse(">>>"))[:, 0]
    >>> bool(wins[0] < wins[1] < wins[2])
    True
    """
    if block < 1:
        raise ParameterError(f"`block` is {block}; it must be at least 1")
    model.grow(len(pairs.systems), len(pairs.judges), len(pairs.segments))
    held = np.empty((len(pairs), 3))
    for start in range(0, len(pairs), block):
        part = pairs.select(np.arange(start, min(start + block, len(pairs))))
        for row, (a, b) in enumerate(zip(part.a.tolist(), part.b.tolist(), strict=True), start):
            held[row] = model.predict(a, b)
        model.apply(part.to_batch())
    return held


def predict_ranking_by_ranking(model: Model, rankings: Rankings) -> Floats:
    """Return the predicted probabilities of each pair of a ranking before the model learned the whole ranking.

    This is how a campaign works: a judgment arrives as a whole, and its pairs depend on each other.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> from streams.core.methods.rankings import Rankings
    >>> from streams.core.models import create
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b", "c"), ranks=(1, 2, 3), at=EPOCH)
    >>> held = predict_ranking_by_ranking(create("trueskill", {}), Rankings.of([one, one]))
    >>> bool((held[:3, 0] == held[0, 0]).all()), bool((held[3:, 0] > held[0, 0]).all())
    (True, True)
    """
    model.grow(len(rankings.systems), len(rankings.judges), len(rankings.segments))
    pairs = rankings.pairs
    held = np.empty((len(pairs), 3))
    ends = np.searchsorted(rankings.number, np.arange(len(rankings)), side="right").tolist()
    couples = list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
    start = 0
    for number, end in enumerate(ends):
        for row in range(start, end):
            held[row] = model.predict(*couples[row])
        model.apply(rankings.to_batch(np.array([number])))
        start = end
    return held
