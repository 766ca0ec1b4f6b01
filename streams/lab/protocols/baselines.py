"""Models that learn from comparisons with one baseline system only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.registry import create_method
from streams.core.models import create
from streams.lab.protocols.drawing import draw_rankings

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.methods.rankings import Rankings
    from streams.core.models.base import Floats

# The models of Otani et al. (2016). `grm` is the online model in one pass.
WITH_BASELINE = ("grm-batch", "two-stage", "grm")


def draw_with_baseline(rankings: Rankings, baseline: int, size: int, random: np.random.Generator) -> Pairs:
    """Draw rankings with the baseline until there are `size` comparisons with it (Otani et al. 2016, 6.1)."""
    pairs = rankings.pairs
    rows = np.flatnonzero((pairs.a == baseline) | (pairs.b == baseline))
    return draw_rankings(pairs.select(rows), rankings.number[rows], size, random)


def scores_with_baseline(name: str, training: Pairs, baseline: int) -> Floats:
    """Learn from comparisons with the baseline, and return the scores of the systems.

    >>> from streams.core.methods.pairs import Pairs
    >>> scores = scores_with_baseline("grm", Pairs.parse(">>>="), 1)
    >>> bool(scores[0] > scores[1] == 0.0)
    True
    """
    if name == "grm":
        model = create("grm", {"mode": "baseline"})
        model.baseline = baseline
        model.grow(len(training.systems), len(training.judges), len(training.segments))
        model.apply(training.to_batch())
        return model.scores()[0]
    fitted = create_method(name, {"baseline": baseline} if name == "grm-batch" else None).fit(training)
    assert fitted.scores is not None
    return fitted.scores
