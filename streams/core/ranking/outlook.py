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


# Smallest variance of a gap. That of systems without any doubt is 0, and nothing may be divided by it.
KNOWN = 1e-30
# Most judgments that are predicted. It stands for "never", where a judgment adds no information.
MOST = 10**12


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """Whether the clusters are settled, why, and what the next line between two clusters would need."""

    settled: bool
    why: str
    boundary: tuple[int, int] | None  # the two systems, by index, that are not yet separated
    judgments: int  # estimated number of judgments of these two that are needed


def outlook(
    model: Model, *, candidates: Sequence[int], confidence: float = 0.95, remaining: int | None = None
) -> Outlook:
    """Return whether `remaining` more judgments (None: any number) could separate one more cluster.

    There is a line between two neighbours if every system above is better than every system below with probability
    1 - (1 - confidence) / (n - 1), so that all lines of n systems together hold with the confidence. Where a line is
    missing, take the two systems above and below with the smallest |mu_a - mu_b| / sqrt(s_a + s_b). k judgments of
    these two reduce their variances to 1 / (1 / s + k i), where i is the information that the model expects of one. If
    the model requires a system in each match, half of the k judgments compare one of the two with it, half the other.
    The line appears if their true gap is then large enough; the expected square of the gap is
    (mu_a - mu_b)² + s_a + s_b. The campaign is settled if no line is missing, or if the cheapest missing line needs
    more judgments than remain.

    >>> from streams.core.models import create
    >>> model = create("trueskill", {})
    >>> model.grow(2, 0, 0)
    >>> outlook(model, candidates=[0, 1]).settled
    False
    """
    if not 0.5 < confidence < 1.0:
        raise ParameterError(f"`confidence` is {confidence}; it must be between 0.5 and 1")
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
        why = "the judgments that remain are too few to separate systems that share a cluster"
        return Outlook(settled=True, why=why, boundary=boundary, judgments=judgments)
    return Outlook(settled=False, why="one more line can be drawn", boundary=boundary, judgments=judgments)


def _missing(mean: Floats, deviation: Floats, wanted: float) -> list[tuple[int, int]]:
    """Return, for each missing line, the closest two systems above and below it."""
    variance = deviation**2
    apart = (mean[:, None] - mean[None, :]) / np.sqrt(np.maximum(variance[:, None] + variance[None, :], KNOWN))
    missing = []
    for below in range(1, len(mean)):
        across = apart[:below, below:]
        least = int(np.argmin(across))
        a, b = least // across.shape[1], below + least % across.shape[1]
        if across.flat[least] < wanted:
            missing.append((a, b))
    return missing


def _judgments(model: Model, a: int, b: int, *, wanted: float) -> int:
    """Solve s / (1 + k p) + t / (1 + k q) = gap² / wanted² for k, where s and t are the present variances.

    p and q are what one judgment adds to the precisions 1 / s and 1 / t, relative to them.
    """
    mean, deviation = model.scores()
    s, t = float(deviation[a]) ** 2, float(deviation[b]) ** 2
    target = (float(mean[a] - mean[b]) ** 2 + s + t) / wanted**2
    p, q = _gains(model, a, b, s, t)
    square, linear, constant = target * p * q, target * (p + q) - s * q - t * p, target - s - t
    if constant >= 0.0:
        return 1 if target > 0.0 else MOST
    root = sqrt(linear * linear - 4.0 * square * constant)
    above, below = (-2.0 * constant, linear + root) if linear > 0.0 else (root - linear, 2.0 * square)
    return max(1, ceil(above / below)) if above < MOST * below else MOST


def _gains(model: Model, a: int, b: int, s: float, t: float) -> tuple[float, float]:
    """Return what one judgment is expected to add to the precisions of a and b, relative to them."""
    if model.kind == "scores":  # a judgment is of one of the two, so each gets half of them
        p, q = (0.5 * (4.0 ** model.score_information(each) - 1.0) for each in (a, b))
        return p, q
    required = model.required_system
    if required is None:
        # A judgment of `bits` bits, half about each system, multiplies each variance by 2^-bits.
        gain = (2.0 ** model.information(a, b) - 1.0) * (1.0 / max(s, KNOWN) + 1.0 / max(t, KNOWN)) / 2.0
        return gain * s, gain * t
    share = 1.0 if required in (a, b) else 0.5
    p, q = (0.0 if each == required else share * (4.0 ** model.information(each, required) - 1.0) for each in (a, b))
    return p, q
