"""The stop rule: whether more judgments would still change the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.matching.base import Floats
    from streams.core.models import Model


# A judgment that tells nothing at all would take forever; this is as good as forever.
FAINT = 1e-12


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """Whether the clusters are settled, why, and what it would take to draw the next line between two of them."""

    settled: bool
    why: str
    boundary: tuple[int, int] | None  # the two systems, by index, that keep the next line from being drawn
    judgments: int  # of these two against each other that it would take, as far as can be told


def outlook(
    model: Model, *, candidates: Sequence[int], confidence: float = 0.95, remaining: int | None = None
) -> Outlook:
    """Say whether `remaining` more judgments, or any number of them, would rule the leaderboard off once more.

    There is a line between two neighbours if everyone above is better than everyone below with probability
    1 - (1 - confidence) / (n - 1), so that all the lines of n systems hold together with the confidence. Where one is
    missing, two of those above and below have the smallest |mu_a - mu_b| / sqrt(s_a + s_b); k judgments of these two
    take their variances to 1 / (1 / s + k i), i being what the model expects of one, and draw the line if their true
    gap, of which (mu_a - mu_b)² + s_a + s_b is the expected square, is then large enough. The campaign is settled when
    every line is drawn, or the missing one that needs least needs more judgments than remain.

    >>> from streams.core.models import create
    >>> model = create("trueskill", {})
    >>> model.grow(2, 0, 0)
    >>> outlook(model, candidates=[0, 1]).settled
    False
    """
    if not 0.5 < confidence < 1.0:
        raise ParameterError(f"confidence {confidence}: it must be between 0.5 and 1")
    mean, deviation = model.scores()
    order = sorted(candidates, key=lambda system: -mean[system])
    if len(order) < 2:
        return Outlook(settled=True, why="there is nothing to order", boundary=None, judgments=0)
    wanted = NormalDist().inv_cdf(1.0 - (1.0 - confidence) / (len(order) - 1))
    missing = _missing(mean[order], deviation[order], wanted)
    if not missing:
        return Outlook(settled=True, why="every place is certain", boundary=None, judgments=0)
    costs = {(order[a], order[b]): _judgments(model, order[a], order[b], wanted=wanted) for a, b in missing}
    boundary = min(costs, key=lambda pair: costs[pair])
    judgments = costs[boundary]
    if remaining is not None and judgments > remaining:
        why = "those who share a cluster are too close to part in the judgments that remain"
        return Outlook(settled=True, why=why, boundary=boundary, judgments=judgments)
    return Outlook(settled=False, why="one more line can be drawn", boundary=boundary, judgments=judgments)


def _missing(mean: Floats, deviation: Floats, wanted: float) -> list[tuple[int, int]]:
    """Give, for each place where no line is drawn, the two of those above and below who are least apart."""
    apart = (mean[:, None] - mean[None, :]) / np.hypot(deviation[:, None], deviation[None, :])
    missing = []
    for below in range(1, len(mean)):
        across = apart[:below, below:]
        least = int(np.argmin(across))
        a, b = least // across.shape[1], below + least % across.shape[1]
        if across.flat[least] < wanted:
            missing.append((a, b))
    return missing


def _judgments(model: Model, a: int, b: int, *, wanted: float) -> int:
    """Solve 1 / (x + k i) + 1 / (y + k i) = gap² / wanted² for k, with x and y the precisions now."""
    mean, deviation = model.scores()
    x, y = 1.0 / deviation[a] ** 2, 1.0 / deviation[b] ** 2
    inverse = wanted**2 / ((mean[a] - mean[b]) ** 2 + 1.0 / x + 1.0 / y)
    # A judgment of so many bits, half about each of the two, takes each variance to 2^-bits of itself.
    gain = (2.0 ** model.information(a, b) - 1.0) * (x + y) / 2.0
    half = (x + y) / 2.0 - inverse
    needed = float((sqrt(half * half - x * y + (x + y) * inverse) - half) / max(gain, FAINT))
    return max(1, ceil(needed))
