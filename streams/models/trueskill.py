"""TrueSkill for rankings of systems, as a closed form on the pairs of a ranking."""

from __future__ import annotations

from math import erfc, log2, sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams import kernels
from streams.kernels.normal import tie_moments, win_moments
from streams.models.base import Model, Outcome, Parameters, grown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.models.base import Axis, Batch, Floats


class TrueSkillParameters(Parameters, frozen=True, kw_only=True):
    """The prior N(mean, deviation²), the noise of one performance, and the margin within which a judge sees a tie."""

    mean: Annotated[float, Meta(ge=-1e6, le=1e6)] = 0.0
    deviation: Annotated[float, Meta(gt=0, le=1e6)] = 1.0
    beta: Annotated[float, Meta(gt=0, le=1e6)] = 1.118
    margin: Annotated[float, Meta(ge=0, le=1e6)] = 0.45


class TrueSkill(Model):
    """TrueSkill without dynamics, so that the deviation is a posterior.

    For winner i and loser j: c² = 2 beta² + s_i + s_j, t = (mu_i - mu_j) / c, e = margin / c,
    mu_i += s_i / c v(t, e), s_i *= 1 - s_i / c² w(t, e), and likewise for j with the other sign;
    v and w are the moments of the truncated normal (Herbrich, Minka and Graepel 2006).

    >>> model = TrueSkill(TrueSkillParameters())
    >>> model.grow(systems=2, judges=0, segments=0)
    >>> model.predict(0, 1).win == model.predict(0, 1).loss
    True
    """

    name: ClassVar[str] = "trueskill"
    parameters_type: ClassVar[type[Parameters]] = TrueSkillParameters
    widths: ClassVar[Mapping[Axis, int]] = {"systems": 2, "judges": 0, "segments": 0}
    parameters: TrueSkillParameters

    def __init__(self, parameters: Parameters, *, budget: int | None = None) -> None:
        super().__init__(parameters, budget=budget)
        self._mean: Floats = np.empty(0)
        self._variance: Floats = np.empty(0)
        self._count = 0

    def grow(self, systems: int, judges: int, segments: int) -> None:  # noqa: ARG002 - TrueSkill rates systems only
        """Make room for so many systems."""
        self._mean = grown(self._mean, systems, self.parameters.mean)
        self._variance = grown(self._variance, systems, self.parameters.deviation**2)
        self._count = max(self._count, systems)

    def apply(self, batch: Batch) -> None:
        """Update with rankings, in order."""
        kernels.suited("pairs", batch.pairs).rate_rankings(
            self._mean,
            self._variance,
            batch.systems,
            batch.ranks,
            batch.starts,
            self.parameters.beta,
            self.parameters.margin,
        )

    def predict(self, a: int, b: int) -> Outcome:
        """Carve the normal of the difference at the margin."""
        c = self._spread(a, b)
        difference = float(self._mean[a] - self._mean[b])
        win = _phi((difference - self.parameters.margin) / c)
        loss = _phi((-difference - self.parameters.margin) / c)
        return Outcome(win, max(0.0, 1.0 - win - loss), loss)

    def information(self, a: int, b: int) -> float:
        """Average, over the outcomes, how far the two posteriors would narrow."""
        c = self._spread(a, b)
        t, e = float(self._mean[a] - self._mean[b]) / c, self.parameters.margin / c
        outcome = self.predict(a, b)
        shrinks = (
            win_moments(t - e)[1],
            tie_moments(abs(t), e)[1],
            win_moments(-t - e)[1],
        )
        shares = (float(self._variance[a]) / c**2, float(self._variance[b]) / c**2)
        return sum(
            -0.5 * probability * log2(1.0 - share * shrink)
            for probability, shrink in zip(outcome, shrinks, strict=True)
            for share in shares
        )

    def scores(self) -> tuple[Floats, Floats]:
        """Give each system's mean and deviation."""
        return self._mean[: self._count].copy(), np.sqrt(self._variance[: self._count])

    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        """Give a system's mean and variance."""
        return (float(self._mean[index]), float(self._variance[index])) if axis == "systems" else ()

    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        """Put a system's mean and variance back."""
        if axis == "systems":
            self._mean[index], self._variance[index] = row

    def _spread(self, a: int, b: int) -> float:
        return sqrt(2.0 * self.parameters.beta**2 + float(self._variance[a] + self._variance[b]))


def _phi(x: float) -> float:
    return 0.5 * erfc(-x / sqrt(2.0))
