"""The online graded response model: systems, the sensitivity of judges and the difficulty of segments."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from msgspec import Meta

from streams.core import kernels
from streams.core.kernels.elementary import exp, log, log2
from streams.core.kernels.grm import gap_information, moderation, outcomes
from streams.core.models.base import JudgeFacts, Model, Outcome, Parameters, SettingProblem
from streams.core.models.card import ModelCard
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.models.base import Axis, Floats, JudgmentBatch
    from streams.wire.events import CampaignSettings

DESCENT = {"rate": 0.03, "decay": 0.5}  # the best on WMT13 French-English, see benchmarks/grm_steps.py
Deviation = Annotated[float, Meta(gt=0, le=10)]


class GradedResponseParameters(Parameters, frozen=True, kw_only=True):
    """The priors, and the `mode`: compare every pair, or each system with the campaign's baseline only.

    Without a `mode`, a campaign with a baseline is rated against it, and any other campaign pairwise.

    theta ~ N(0, deviation²) and log a ~ N(log sensitivity, sensitivity_deviation²), as in the paper. The paper has
    independent thresholds N(-0.5, 4) and N(0.5, 4). Here they are replaced by their middle m ~ N(0,
    difficulty_deviation²), of variance 2, and the logarithm of their distance for a judge of prior sensitivity. Its
    mean is log(2 margin). The paper's distance, where positive, has a log deviation of about 1.

    `step` is `fisher` or `sgd`. Only `sgd` has a `rate` (default 0.03) and a `decay` (default 0.5).
    """

    mode: Annotated[
        Literal["pairwise", "baseline"] | None,
        Meta(description="Compare every pair, or only with the baseline. Null: with the baseline if there is one."),
    ] = None
    deviation: Annotated[Deviation, Meta(description="Deviation of the prior of an ability.")] = sqrt(2.0)
    sensitivity: Annotated[
        float, Meta(ge=1e-3, le=1e3, description="Median of the prior of a judge's sensitivity.")
    ] = 1.7
    sensitivity_deviation: Annotated[Deviation, Meta(description="Deviation of the prior of a log-sensitivity.")] = 1.0
    difficulty_deviation: Annotated[
        Deviation, Meta(description="Deviation of the prior of a segment's middle threshold.")
    ] = sqrt(2.0)
    margin: Annotated[float, Meta(ge=1e-3, le=1e3, description="Half the distance of a segment's thresholds.")] = 0.5
    margin_deviation: Annotated[Deviation, Meta(description="Deviation of the prior of the log of that distance.")] = (
        1.0
    )
    step: Annotated[Literal["fisher", "sgd"], Meta(description="Step scaled by the information, or plain.")] = "fisher"
    rate: Annotated[Annotated[float, Meta(gt=0, le=10)] | None, Meta(description="First rate of `sgd`.")] = None
    decay: Annotated[Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="Decay of the rate of `sgd`.")] = None


class _Typical(NamedTuple):
    """A judge and a segment about which nothing else is known."""

    alpha: float
    alpha_variance: float
    delta: float
    delta_variance: float


def _schedule(parameters: GradedResponseParameters) -> tuple[float, float]:
    """Return rate and decay. The rate is 0 for Fisher-scaled steps, which have neither."""
    given = {name: value for name in DESCENT if (value := getattr(parameters, name)) is not None}
    if parameters.step == "fisher" and given:
        name = next(iter(given))
        raise ParameterError(f"{name}: {given[name]} is only for `step: sgd`; leave it out, or set the step")
    rate, decay = (DESCENT | given).values()
    return (0.0 if parameters.step == "fisher" else rate), decay


class GradedResponse(Model):
    """The graded response model for comparisons by judges of different sensitivity.

    For judge k on segment j, system i does not lose to the baseline with probability sigmoid(a_k (theta_i - b_1)), and
    wins with sigmoid(a_k (theta_i - b_2)) (Samejima 1968; Otani, Nakazawa, Kawahara and Kurohashi 2016). The thresholds
    are b = m_j -+ exp(delta_j) / (2 a_k). In the paper they do not depend on the judge. Then a judge who answers at
    random (a = 0) would never report a tie, and ties would be mistaken for sensitivity.

    In mode `baseline` only comparisons with the campaign's baseline count, and its theta stays at 0. A campaign without
    a baseline is rated pairwise, so that no judgment is lost. In mode `pairwise` the same likelihood applies to
    theta_i - theta_j with m = 0, so that the two systems can be exchanged.

    In mode `pairwise` m can't be learned. Exchanging the two systems changes the sign of theta_i - theta_j, but not m:
    a segment whose m is not 0 would favour the system that is listed first. So m is 0 for every segment.

    The online update is one step on the log posterior per comparison: the gradient divided by the Fisher information so
    far plus the prior's precision, jointly for system, judge and segment. There is no learning rate. The unit of theta
    comes from the priors: a deviation compares systems; it does not include the uncertainty of the whole scale.

    With `step: sgd` each value moves by rate s0 (s / s0)^decay times its slope of the log posterior, where s0 is the
    variance of its prior and s its present variance. The variances are the same as with `fisher`, taken at the values
    that the gradient steps have reached. So the deviations measure the evidence; they do not include the noise of the
    steps.

    >>> model = GradedResponse(GradedResponseParameters())
    >>> model.grow(systems=2, judges=1, segments=1)
    >>> [round(p, 2) for p in model.predict(0, 1)]
    [0.41, 0.17, 0.41]
    """

    name: ClassVar[str] = "grm"
    card: ClassVar[ModelCard] = ModelCard(
        assumes="Systems have an ability, judges a sensitivity, segments thresholds between worse, equal and better.",
        cost="one pass; about 0.1 s per 100,000 pairs when compiled; memory for each system, judge and segment",
        choose="If there are many ties, or one baseline that all systems are compared with.",
        reference="Otani et al. 2016",
    )
    ranges: ClassVar[tuple[str, ...]] = ("bootstrap", "closed", "posterior")
    parameters_type: ClassVar[type[Parameters]] = GradedResponseParameters
    takes_baseline: ClassVar[bool] = True
    widths: ClassVar[Mapping[Axis, int]] = {"systems": 2, "judges": 2, "segments": 4}
    parameters: GradedResponseParameters

    def __init__(self, parameters: Parameters, *, budget: int | None = None) -> None:
        super().__init__(parameters, budget=budget)
        p = self.parameters
        self._priors: Mapping[Axis, tuple[float, ...]] = {
            "systems": (0.0, _square(p.deviation)),
            "judges": (log(p.sensitivity), _square(p.sensitivity_deviation)),
            "segments": (
                0.0,
                _square(p.difficulty_deviation),
                log(2.0 * p.sensitivity * p.margin),
                _square(p.margin_deviation),
            ),
        }
        self._prior_rows = np.array([np.resize(self._priors[axis], 4) for axis in ("systems", "judges", "segments")])
        self._schedule = _schedule(p)
        self._typical: _Typical | None = None
        self._rows: dict[Axis, Floats] = {axis: np.empty((0, width)) for axis, width in self.widths.items()}
        self._counts: dict[Axis, int] = dict.fromkeys(self.widths, 0)

    def grow(self, systems: int, judges: int, segments: int) -> None:
        """Make room for this many systems, judges and segments."""
        sizes: dict[Axis, int] = {"systems": systems, "judges": judges, "segments": segments}
        for axis, size in sizes.items():
            self._make_room(axis, size)
            self._counts[axis] = max(self._counts[axis], size)
        self._typical = None

    def _make_room(self, axis: Axis, size: int) -> None:
        rows = self._rows[axis]
        if size > len(rows):
            room = max(size, 2 * len(rows), 16) - len(rows)
            self._rows[axis] = np.vstack([rows, np.tile(self._priors[axis], (room, 1))])

    def apply(self, batch: JudgmentBatch) -> None:
        """Update with rankings, in order."""
        self._typical = None
        # Nothing is kept of a segment beyond the limit: each judgment on one has a row at the prior for this batch.
        segments, alone = batch.segments.copy(), np.flatnonzero(batch.segments == self.shared_segment)
        segments[alone] = borrowed = self._counts["segments"] + np.arange(len(alone))
        self._make_room("segments", self._counts["segments"] + len(alone))
        kernels.suited("grm", batch.pairs).rate_rankings(
            self._rows["systems"],
            self._rows["judges"],
            self._rows["segments"],
            batch.systems,
            batch.ranks,
            batch.starts,
            batch.judges,
            segments,
            -1 if self.required_system is None else self.required_system,
            self._prior_rows,
            *self._schedule,
        )
        self._rows["segments"][borrowed] = self._priors["segments"]

    def predict(self, a: int, b: int) -> Outcome:
        """Return the probabilities for a typical judge and segment, averaged over their spread."""
        gap, spread = self._gap(a, b)
        alpha, alpha_variance, delta, delta_variance = self._population()
        u, y = exp(alpha) * gap, 0.5 * exp(delta)
        factor = moderation(u, y, exp(2.0 * alpha) * spread, alpha_variance, delta_variance)
        return Outcome(*outcomes(factor * u, factor * y))

    def information(self, a: int, b: int) -> float:
        """Return how far a typical verdict is expected to narrow the two posteriors, or 0 if it would not count."""
        if self.required_system not in (None, a, b):
            return 0.0
        gap, spread = self._gap(a, b)
        known = gap_information(gap, spread, *self._population())
        return sum(-0.5 * log2(1.0 - self._variance(system) * known) for system in (a, b))

    def scores(self) -> tuple[Floats, Floats]:
        """Return theta and its deviation for each system. Both are 0 for the baseline."""
        rows = self._rows["systems"][: self._counts["systems"]]
        mean, deviation = rows[:, 0].copy(), np.sqrt(rows[:, 1])
        if (held := self.required_system) is not None:
            mean -= mean[held]
            deviation[held] = 0.0
        return mean, deviation

    def judge_facts(self) -> JudgeFacts:
        """Return the sensitivity a of each judge."""
        alphas = self._rows["judges"][: self._counts["judges"], 0].tolist()
        return JudgeFacts(sensitivity=np.array([exp(alpha) for alpha in alphas]))

    def check_settings(self, settings: CampaignSettings) -> SettingProblem | None:
        """Return a problem if mode and baseline contradict each other."""
        if self.parameters.mode == "baseline" and not settings.baseline:
            message = "the mode 'baseline' needs a `baseline`; name one of the systems, or leave out the mode"
            return SettingProblem("baseline", message)
        if self.parameters.mode == "pairwise" and settings.baseline:
            message = (
                f"the mode 'pairwise' compares all systems and has no baseline, but `baseline` is "
                f"{settings.baseline!r}; leave out the baseline, or the mode to compare every system with it"
            )
            return SettingProblem("baseline", message)
        return None

    @property
    def required_system(self) -> int | None:
        """Return the baseline, if judgments are rated against it."""
        return None if self.parameters.mode == "pairwise" else self.baseline

    def segment_information(self, a: int, b: int) -> Floats:
        """Return the item information of every segment at the gap of a and b.

        Against a baseline it is the information about theta of each of the two that is not the baseline, summed.
        """
        held = self.required_system
        pairs = [(a, b)] if held is None else [(system, held) for system in (a, b) if system != held]
        rows = self._rows["segments"][: self._counts["segments"]]
        kernel = kernels.suited("grm", len(rows))
        found = np.zeros(len(rows))
        for one, other in pairs:
            gap, _ = self._gap(one, other)
            found += kernel.item_informations(rows, gap, held is not None, self.parameters.sensitivity)
        return found

    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        """Return means and variances of theta, of alpha, or of m and delta."""
        return tuple(self._rows[axis][index].tolist())

    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        """Restore means and variances."""
        self._rows[axis][index] = row
        self._typical = None

    def _population(self) -> _Typical:
        """Return the expected judge and segment: the mean of those seen, weighted by what is known about each."""
        if self._typical is None:
            self._typical = _Typical(
                self._mean_of("judges", 0),
                _square(self.parameters.sensitivity_deviation),
                self._mean_of("segments", 2),
                _square(self.parameters.margin_deviation),
            )
        return self._typical

    def _mean_of(self, axis: Axis, column: int) -> float:
        """Return the mean, weighted by the information gathered. The prior counts as one more."""
        mean, variance = self._rows[axis][: self._counts[axis], column : column + 2].T
        prior_mean, prior_variance = self._priors[axis][column : column + 2]
        weights = np.maximum(1.0 / variance - 1.0 / prior_variance, 0.0)
        return float((prior_mean / prior_variance + np.sum(weights * mean)) / (1.0 / prior_variance + np.sum(weights)))

    def _variance(self, system: int) -> float:
        return 0.0 if system == self.required_system else float(self._rows["systems"][system, 1])

    def _gap(self, a: int, b: int) -> tuple[float, float]:
        """Return the difference of two systems and its variance, including a segment's m against the baseline."""
        rows = self._rows["systems"]
        segment = _square(self.parameters.difficulty_deviation) if self.required_system in (a, b) else 0.0
        return float(rows[a, 0] - rows[b, 0]), self._variance(a) + self._variance(b) + segment


def _square(x: float) -> float:
    """Return x². In Python x**2 is a function of the C library, whose last bit is not the same everywhere."""
    return x * x
