"""TrueSkill for rankings of systems: a closed-form update per pair, or the whole ranking as one match."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, cast

import numpy as np
from msgspec import UNSET, Meta
from msgspec.structs import replace

from streams.core import kernels
from streams.core.kernels.normal import upper_tail
from streams.core.kernels.pairs import start_weight
from streams.core.models.base import BoardScale, Model, Outcome, PairParameters, Parameters, grown
from streams.core.models.card import ModelCard
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.models.base import Axis, Floats, JudgmentBatch


# Expectation propagation visits each system of a free-for-all about this often before it converges.
VISITS = 10
# Phi^-1((1 + 0.25) / 2): within it of 0, in units of sqrt(2) beta, a quarter of the matches of equal systems are ties.
QUARTER_OF_TIES = 0.31863936396437514
# Placeholder of a parameter that was not given. The model replaces it by the value of the profile.
BY_PROFILE = cast("float", UNSET)


class TrueSkillParameters(Parameters, frozen=True, kw_only=True):
    """The prior N(mean, deviation²), the noise `beta` of one performance, and the `margin` within which judges tie.

    The profile provides the parameters that are not given. A margin that is not given is learned from the ties; the
    profile provides its start. The profile `wmt` is the official procedure, which learns no margin and accepts no
    other values. The engine is the kernels of this project, or the `trueskill` package.
    """

    profile: Annotated[Literal["online", "wmt"], Meta(description="Source of the parameters that are not given.")] = (
        "online"
    )
    ways: Annotated[
        Literal["pairs", "free-for-all"], Meta(description="A ranking counts as pairs, or as one match.")
    ] = "pairs"
    engine: Annotated[
        Literal["compiled", "package"], Meta(description="What computes an update: the kernels, or the package.")
    ] = "compiled"
    mean: Annotated[float, Meta(ge=-1e6, le=1e6, description="Mean of the prior.")] = BY_PROFILE
    deviation: Annotated[float, Meta(gt=0, le=1e6, description="Deviation of the prior: the unit of the scale.")] = (
        BY_PROFILE
    )
    beta: Annotated[float, Meta(gt=0, le=1e6, description="Noise of one performance.")] = BY_PROFILE
    margin: Annotated[float, Meta(ge=0, le=1e6, description="Difference within which judges tie.")] = BY_PROFILE


Given = TypeVar("Given", bound=TrueSkillParameters)


class TrueSkill(Model):
    """TrueSkill without dynamics, so that the deviation is that of the posterior.

    For winner i and loser j: c² = 2 beta² + s_i + s_j, t = (mu_i - mu_j) / c, e = margin / c,
    mu_i += s_i / c v(t, e), s_i *= 1 - s_i / c² w(t, e), and the same for j with the opposite sign.
    v and w are the moments of the truncated normal (Herbrich, Minka and Graepel 2006).

    Unless it is given, the margin is learned for each judge, because judges differ most in how often they tie. After
    each pair it moves by (1 if they tied else 0) - P(tie), divided by the sum of the slopes of P(tie) so far, so that
    as many ties are expected as were seen. A new judge starts at the margin that is learned from all judges.

    A ranking of n systems counts as n (n - 1) / 2 pairs. With `ways` free-for-all it counts as one match, by the
    expectation propagation of the same paper on the chain of adjacent ranks; tied systems keep the order listed.

    >>> model = TrueSkill(TrueSkillParameters())
    >>> model.grow(systems=2, judges=0, segments=0)
    >>> model.predict(0, 1).win == model.predict(0, 1).loss
    True
    """

    name: ClassVar[str] = "trueskill"
    ranks_categories: ClassVar[bool] = True
    card: ClassVar[ModelCard] = ModelCard(
        assumes="Systems have a strength, each output varies around it, and judges tie within a margin.",
        cost="one pass; 0.01 s per 100,000 pairs when compiled; memory for two numbers per system and judge",
        choose="By default. With ranges wmt it is the official ranking of WMT14 to WMT16.",
        reference="Herbrich et al. 2006; Sakaguchi et al. 2014",
    )
    ranges: ClassVar[tuple[str, ...]] = ("groups", "wmt")
    parameters_type: ClassVar[type[Parameters]] = TrueSkillParameters
    widths: ClassVar[Mapping[Axis, int]] = {"systems": 2, "judges": 2, "segments": 0}
    parameters: TrueSkillParameters

    def __init__(self, parameters: Parameters, *, budget: int | None = None) -> None:
        super().__init__(parameters, budget=budget)
        learns = self.parameters.margin is BY_PROFILE and self.parameters.profile != "wmt"
        self.parameters = _completed(self.parameters, budget)
        weight = start_weight(self.parameters.beta) if learns else inf
        # The margin and its weight: of all judges, then of each judge. The kernel `margin_row` describes the rows.
        self._margins: Floats = np.array([[self.parameters.margin, weight]])
        self._mean: Floats = np.empty(0)
        self._variance: Floats = np.empty(0)
        self._count = 0
        # Matches that the package could not rate, since this object was made. It is no part of the state.
        self.package_failures = 0

    def grow(self, systems: int, judges: int, segments: int) -> None:  # noqa: ARG002 - a segment has no state
        """Make room for this many systems and judges."""
        self._mean = grown(self._mean, systems, self.parameters.mean)
        self._variance = grown(self._variance, systems, self.parameters.deviation * self.parameters.deviation)
        self._count = max(self._count, systems)
        if judges >= len(self._margins):
            room = max(judges + 1, 2 * len(self._margins)) - len(self._margins)
            self._margins = np.vstack([self._margins, np.zeros((room, 2))])

    def apply(self, batch: JudgmentBatch) -> None:
        """Update with rankings, in order."""
        in_pairs = self.parameters.ways == "pairs"
        if self.parameters.engine == "package":
            from streams.core.models import trueskill_package

            rate: Any = trueskill_package.rate_rankings if in_pairs else trueskill_package.rate_matches
        elif in_pairs:
            rate = kernels.suited("pairs", batch.pairs).rate_rankings
        else:
            rate = kernels.suited("freeforall", VISITS * len(batch.systems)).rate_matches
        failures = rate(
            self._mean,
            self._variance,
            self._margins,
            batch.systems,
            batch.ranks,
            batch.starts,
            batch.judges,
            self.parameters.beta,
        )
        self.package_failures += failures or 0  # kernels return nothing

    def margin(self, judge: int | None = None) -> float:
        """Return the difference within which a judge ties. Without a judge, that of a new one."""
        known = judge is not None and self._margins[judge + 1, 1] > 0.0
        return float(self._margins[judge + 1 if judge is not None and known else 0, 0])

    def predict(self, a: int, b: int, *, judge: int | None = None) -> Outcome:
        """Split the normal distribution of the difference at -margin and margin, those of a judge or of a new one."""
        c, margin = self._spread(a, b), self.margin(judge)
        difference = float(self._mean[a] - self._mean[b])
        win = upper_tail((margin - difference) / c)
        loss = upper_tail((margin + difference) / c)
        return Outcome(win, max(0.0, 1.0 - win - loss), loss)

    def information(self, a: int, b: int) -> float:
        """Return how far the two posteriors would narrow, averaged over the outcomes."""
        return self.informations([(a, b)])[0]

    def informations(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """Return the information of a judgment of each pair."""
        bits: Floats = np.empty(len(pairs))
        kernels.suited("pairs", len(pairs)).measure_information(
            self._mean,
            self._variance,
            np.array(pairs, np.int64).reshape(-1, 2),
            self.parameters.beta,
            self.margin(),
            bits,
        )
        found: list[float] = bits.tolist()
        return found

    def scores(self) -> tuple[Floats, Floats]:
        """Return the mean and the deviation of each system."""
        return self._mean[: self._count].copy(), np.sqrt(self._variance[: self._count])

    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        """Return the mean and the variance of a system, or the margin of a judge and its weight."""
        if axis == "judges":
            return tuple(self._margins[index + 1].tolist())
        return (float(self._mean[index]), float(self._variance[index])) if axis == "systems" else ()

    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        """Restore the mean and the variance of a system, or the margin of a judge and its weight."""
        if axis == "systems":
            self._mean[index], self._variance[index] = row
        elif axis == "judges" and row:  # a state of an earlier version has none
            self._margins[index + 1] = row

    def dump_shared(self) -> tuple[float, ...]:
        """Return the margin of all judges and its weight, if they are learned."""
        return tuple(self._margins[0].tolist()) if self._margins[0, 1] < inf else ()

    def load_shared(self, row: tuple[float, ...]) -> None:
        """Restore the margin of all judges and its weight."""
        if row:
            self._margins[0] = row

    def board_scale(self) -> BoardScale:
        """Return the model's own scale."""
        return BoardScale(self.parameters.beta, self.parameters.deviation)

    def _spread(self, a: int, b: int) -> float:
        return sqrt(2.0 * self.parameters.beta * self.parameters.beta + float(self._variance[a] + self._variance[b]))


def _completed(given: Given, budget: int | None) -> Given:
    """Return the parameters, with the profile's values for those that were not given."""
    profile = _wmt(budget) if given.profile == "wmt" else PairParameters()._asdict()
    values = {name: getattr(given, name) for name in profile if getattr(given, name) is not UNSET}
    if given.profile == "wmt":
        for name, value in values.items():
            if value != profile[name]:
                raise ParameterError(
                    f"{name}: {value} contradicts the profile 'wmt', which has {profile[name]:.6g}; "
                    f"leave out {name}, or choose the profile 'online'"
                )
    return replace(given, **(profile | values))


def _wmt(budget: int | None) -> dict[str, float]:
    if budget is None:
        raise ParameterError(
            "the profile 'wmt' needs the campaign's budget: its beta is deviation * budget / 40; "
            "give the campaign a budget, choose the profile 'online', or rank a log by `--ranges wmt`"
        )
    deviation = 0.5
    beta = deviation * budget / 40.0
    margin = QUARTER_OF_TIES * sqrt(2.0) * beta
    return {"mean": 0.0, "deviation": deviation, "beta": beta, "margin": margin}
