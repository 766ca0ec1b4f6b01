"""Outcomes that the lab's tests learn from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.pairs import Pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.methods import Fitted
    from streams.core.models.base import Floats, Ints

QUALITIES = (1.2, 0.6, 0.0, -0.6, -1.2)


def pairs_of(rows: Sequence[tuple[int, int, int]], *, systems: int, judges: Ints | None = None) -> Pairs:
    """Take rows of a, b and outcome, each on a segment of its own."""
    a, b, outcome = np.array(rows, np.int64).reshape(-1, 3).T
    return Pairs(
        a=a,
        b=b,
        outcome=outcome,
        judge=np.zeros(len(a), np.int64) if judges is None else judges,
        segment=np.arange(len(a)),
        systems=tuple(f"system-{i}" for i in range(systems)),
        judges=tuple(f"judge-{i}" for i in range(1 if judges is None else int(judges.max()) + 1)),
        segments=tuple(f"segment-{i}" for i in range(len(a))),
    )


def drawn(
    count: int,
    *,
    seed: int = 0,
    qualities: Sequence[float] = QUALITIES,
    judges: int = 8,
    careless: int = 0,
    segments: int = 60,
) -> Pairs:
    """Draw outcomes of systems of known quality; the first so many judges answer at random."""
    random = np.random.default_rng(seed)
    a = random.integers(len(qualities), size=count)
    b = (a + random.integers(1, len(qualities), size=count)) % len(qualities)
    gap = np.array(qualities)[a] - np.array(qualities)[b] + random.normal(size=count) * 1.4
    outcome = np.where(gap > 0.4, 0, np.where(gap < -0.4, 2, 1))
    judge = random.integers(judges, size=count)
    outcome = np.where(judge < careless, random.integers(3, size=count), outcome)
    return Pairs(
        a=a,
        b=b,
        outcome=outcome,
        judge=judge,
        segment=random.integers(segments, size=count),
        systems=tuple(f"system-{i}" for i in range(len(qualities))),
        judges=tuple(f"judge-{i}" for i in range(judges)),
        segments=tuple(f"segment-{i}" for i in range(segments)),
    )


def relabelled(pairs: Pairs, order: Ints) -> Pairs:
    """Call system i order[i]."""
    return replace(pairs, a=order[pairs.a], b=order[pairs.b])


def turned(pairs: Pairs) -> Pairs:
    """Put b before a."""
    return replace(pairs, a=pairs.b, b=pairs.a, outcome=2 - pairs.outcome)


def scores_of(fitted: Fitted) -> Floats:
    """Give the scores of a model that has them."""
    assert fitted.scores is not None
    return fitted.scores
