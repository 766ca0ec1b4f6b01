"""TrueSkill for rankings of systems: a closed form on the pairs of a ranking, or all of it as one match."""

from __future__ import annotations

from math import erfc, log2, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar, cast

import numpy as np
from msgspec import UNSET, Meta
from msgspec.structs import replace

from streams.core import kernels
from streams.core.kernels.normal import tie_moments, win_moments
from streams.core.models.base import Model, Outcome, Parameters, grown
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.models.base import Axis, Floats, JudgmentBatch


# The best on the mean of the real logs, see docs/models.md; deviation is the unit of the scale.
ONLINE = {"mean": 0.0, "deviation": 1.0, "beta": 1.118, "margin": 0.58}
# A free-for-all comes to each system about so many times until its chain is at rest.
VISITS = 10
# Stands in a parameter that was not given, until the model is made: the profile has its value.
BY_PROFILE = cast("float", UNSET)


class TrueSkillParameters(Parameters, frozen=True, kw_only=True):
    """The prior N(mean, deviation²), the noise of one performance, and the margin within which a judge sees a tie.

    What is not given is as the profile has it; the profile `wmt` is the official procedure, so it takes no others.
    """

    profile: Literal["online", "wmt"] = "online"
    ways: Literal["pairs", "free-for-all"] = "pairs"
    mean: Annotated[float, Meta(ge=-1e6, le=1e6)] = BY_PROFILE
    deviation: Annotated[float, Meta(gt=0, le=1e6)] = BY_PROFILE
    beta: Annotated[float, Meta(gt=0, le=1e6)] = BY_PROFILE
    margin: Annotated[float, Meta(ge=0, le=1e6)] = BY_PROFILE


Given = TypeVar("Given", bound=TrueSkillParameters)


class TrueSkill(Model):
    """TrueSkill without dynamics, so that the deviation is a posterior.

    For winner i and loser j: c² = 2 beta² + s_i + s_j, t = (mu_i - mu_j) / c, e = margin / c,
    mu_i += s_i / c v(t, e), s_i *= 1 - s_i / c² w(t, e), and likewise for j with the other sign;
    v and w are the moments of the truncated normal (Herbrich, Minka and Graepel 2006). A ranking of n systems
    counts as its n (n - 1) / 2 pairs, or, with `ways` free-for-all, as one match: the expectation propagation of the
    same paper on the chain of adjacent ranks, where systems of one rank stand in the order listed.

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
        self.parameters = _completed(self.parameters, budget)
        self._mean: Floats = np.empty(0)
        self._variance: Floats = np.empty(0)
        self._count = 0

    def grow(self, systems: int, judges: int, segments: int) -> None:  # noqa: ARG002 - TrueSkill rates systems only
        """Make room for so many systems."""
        self._mean = grown(self._mean, systems, self.parameters.mean)
        self._variance = grown(self._variance, systems, self.parameters.deviation**2)
        self._count = max(self._count, systems)

    def apply(self, batch: JudgmentBatch) -> None:
        """Update with rankings, in order."""
        if self.parameters.ways == "pairs":
            rate = kernels.suited("pairs", batch.pairs).rate_rankings
        else:
            rate = kernels.suited("freeforall", VISITS * len(batch.systems)).rate_matches
        rate(
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


def _completed(given: Given, budget: int | None) -> Given:
    """Give the parameters with those of the profile where none were given."""
    profile = _wmt(budget) if given.profile == "wmt" else ONLINE
    values = {name: getattr(given, name) for name in profile if getattr(given, name) is not UNSET}
    if given.profile == "wmt":
        for name, value in values.items():
            if value != profile[name]:
                raise ParameterError(
                    f"{name}: {value} contradicts the profile 'wmt', which has {profile[name]:.6g}; "
                    f"leave {name} out, or choose the profile 'online'"
                )
    return replace(given, **(profile | values))


def _wmt(budget: int | None) -> dict[str, float]:
    if budget is None:
        raise ParameterError(
            "the profile 'wmt' needs the campaign's budget: its beta is deviation * budget / 40; "
            "give the campaign a budget, or choose the profile 'online'"
        )
    deviation, draws = 0.5, 0.25
    beta = deviation * budget / 40.0
    margin = NormalDist().inv_cdf((draws + 1.0) / 2.0) * sqrt(2.0) * beta
    return {"mean": 0.0, "deviation": deviation, "beta": beta, "margin": margin}


def _phi(x: float) -> float:
    return 0.5 * erfc(-x / sqrt(2.0))
