"""The batch graded response model as a method; `grm_fit` does the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Fitted, Method, logistic
from streams.core.methods.baseline_choice import choose_baseline
from streams.core.methods.grm_fit import Comparisons, fit_graded_response
from streams.core.models.card import ModelCard
from streams.core.models.grm import GradedResponseParameters
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats


class BatchGradedResponse(Method, frozen=True):
    """P(not worse than the baseline) = sigmoid(a_k (theta_i - b_j1)), P(better) = sigmoid(a_k (theta_i - b_j2)).

    Otani et al. (2016), fitted by `streams.core.methods.grm_fit` to the comparisons with one baseline. By default
    it is the system whose comparisons tell most. The paper does not predict pairs. Here P(a wins over b) is
    sigmoid(a_k (theta_a - theta_b - w_j)), with w = (b_2 - b_1) / 2, averaged over the comparisons.
    Each segment needs several comparisons with the baseline, as whole rankings provide. With only one, the thresholds
    of the segment explain its outcome, and it says little about the system.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = BatchGradedResponse(baseline=1).fit(Pairs.parse(">>=>"))
    >>> bool(fitted.scores[0] > fitted.scores[1] == 0.0)
    True
    """

    baseline: Annotated[int, Meta(ge=0, description="Index of the baseline.")] | None = None

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Every system is compared with one baseline. Judges have a sensitivity, segments a difficulty.",
        cost="comparisons with the baseline in memory; 1 to 10 s per 10,000 comparisons",
        choose="To compare with Otani et al. Each segment needs several comparisons with the baseline.",
        reference="Otani et al. 2016",
    )
    ranges: ClassVar[tuple[str, ...]] = ("closed", "posterior", "bootstrap")
    runs: ClassVar[int] = 10

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "grm-batch"

    def fit(self, training: Pairs) -> Fitted:
        """Fit to the comparisons with the baseline."""
        size, priors = len(training.systems), GradedResponseParameters()
        baseline = self._baseline(training)
        theta, deviation = np.zeros(size), np.full(size, priors.deviation)
        sensitivity, width = np.array([priors.sensitivity]), np.array([priors.margin])
        met = training.select((training.a == baseline) | (training.b == baseline))
        if len(met):
            found = fit_graded_response(comparisons_with(met, baseline))
            theta[: len(found.theta)], deviation[: len(found.theta)] = found.theta, found.deviation
            sensitivity = found.sensitivities[met.judge]
            width = 0.5 * np.diff(found.thresholds[met.segment], axis=1)[:, 0]
        theta[baseline], deviation[baseline] = 0.0, 0.0
        return Fitted(outcomes=_graded(theta, sensitivity, width), scores=theta, deviations=deviation)

    def _baseline(self, training: Pairs) -> int:
        size = len(training.systems)
        if self.baseline is not None and self.baseline >= size:
            raise ParameterError(f"baseline: {self.baseline} is not a system; use 0 to {size - 1}")
        if self.baseline is None:
            return choose_baseline(*training.counts()).system if size > 1 else 0
        return self.baseline


def comparisons_with(met: Pairs, baseline: int) -> Comparisons:
    """Return pairs that all contain the baseline as comparisons with it.

    >>> from streams.core.methods.pairs import Pairs
    >>> comparisons_with(Pairs.parse(">=<"), 1).outcomes.tolist()
    [3, 2, 1]
    """
    first = met.b == baseline  # whether the other system is listed first
    return Comparisons(
        systems=np.where(first, met.a, met.b),
        judges=met.judge,
        segments=met.segment,
        outcomes=np.where(first, 3 - met.outcome, 1 + met.outcome),
    )


def _graded(theta: Floats, sensitivity: Floats, width: Floats) -> Floats:
    """Return the outcomes of every two systems, averaged over the judge and the segment of each comparison."""
    outcomes = np.empty((len(theta), len(theta), 3))
    for a, mine in enumerate(theta):
        gap = (mine - theta)[:, None]
        outcomes[a, :, 0] = logistic(sensitivity * (gap - width)).mean(axis=1)
        outcomes[a, :, 2] = logistic(sensitivity * (-gap - width)).mean(axis=1)
    outcomes[..., 1] = 1.0 - outcomes[..., 0] - outcomes[..., 2]
    return outcomes
