"""Bradley-Terry with judges of different reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Fitted, Method, Positive, logistic
from streams.core.methods.davidson import davidson
from streams.core.methods.minimiser import difference_deviations, gradient_slopes, minimise
from streams.core.methods.pairs import LOSS, TIE
from streams.core.methods.tie_radius import score_gaps
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints


class CrowdBradleyTerry(Method, frozen=True):
    """P(win by judge k) = eta_k P(win) + (1 - eta_k) P(loss) (Chen, Bennett, Collins-Thompson and Horvitz 2013).

    eta_k is the probability that judge k reports the true outcome: 1 is perfect, 0.5 random, 0 always wrong. The paper
    has no ties; here P is Davidson's, and ties are equally likely for all judges. The fit is the maximum of the
    posterior, with theta and log nu ~ N(0, deviation²) and eta ~ Beta(prior_a, prior_b), on the scale of
    log eta / (1 - eta). Deviations are those of theta, with nu and eta at their estimates. A prediction is for a judge
    of the mean reliability over the training outcomes.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = CrowdBradleyTerry().fit(Pairs.parse(">>>>="))
    >>> bool(fitted.scores[0] > fitted.scores[1])
    True
    """

    deviation: Annotated[Positive, Meta(description="Deviation of the prior of a log-strength.")] = 1.0
    prior_a: Annotated[Positive, Meta(description="Prior number of right answers of a judge.")] = 10.0
    prior_b: Annotated[Positive, Meta(description="Prior number of reversed answers of a judge.")] = 1.0

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Like bradley-terry-ties, but each judge sometimes reports the reverse of a decided outcome.",
        cost="all pairs in memory; about 8 s per 100,000 pairs",
        choose="For crowds in which some judges answer at random or in reverse.",
        reference="Chen et al. 2013",
    )
    ranges: ClassVar[tuple[str, ...]] = ("closed", "posterior", "bootstrap")
    runs: ClassVar[int] = 20

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "crowd-bt"

    def fit(self, training: Pairs) -> Fitted:
        """Maximise the posterior."""
        size, judges = len(training.systems), len(training.judges)
        a, b, judge, outcome, times = _distinct(training)
        decided = np.flatnonzero(outcome != TIE)
        tied = outcome == TIE
        sign = np.where(outcome == LOSS, -1.0, 1.0)  # turns a loss of a into a win of b

        def loss(point: Floats) -> tuple[float, Floats]:
            theta, log_nu, logit = point[:size], point[size], point[size + 1 :]
            eta = logistic(logit)
            win, tie, lost = np.exp(davidson(sign * (theta[a] - theta[b]), log_nu)).T
            honest = eta[judge]
            said = np.where(tied, tie, honest * win + (1.0 - honest) * lost)
            lead = 0.5 * (win - lost)
            by_gap = np.where(tied, -lead, (honest * win * (0.5 - lead) - (1.0 - honest) * lost * (0.5 + lead)) / said)
            by_nu = float((times * np.where(tied, 1.0 - tie, -tie)).sum())
            by_eta = (times * 2.0 * lead / said)[decided]
            by_theta = np.bincount(a, times * sign * by_gap, size) - np.bincount(b, times * sign * by_gap, size)
            by_logit = np.bincount(judge[decided], by_eta, judges) * eta * (1.0 - eta)
            by_logit += self.prior_a * (1.0 - eta) - self.prior_b * eta
            prior = point[: size + 1] / self.deviation**2
            beta = -self.prior_a * np.logaddexp(0.0, -logit) - self.prior_b * np.logaddexp(0.0, logit)
            value = float((times * np.log(said)).sum() + beta.sum()) - 0.5 * float(point[: size + 1] @ prior)
            return -value, np.concatenate([prior - np.append(by_theta, by_nu), -by_logit])

        start = np.zeros(size + 1 + judges)
        start[size + 1 :] = np.log(self.prior_a / self.prior_b)  # with every eta at 0.5 the gradient would be 0
        point = minimise(loss, start).point
        precision = gradient_slopes(lambda theta: loss(np.append(theta, point[size:]))[1][:size], point[:size])
        eta = logistic(point[size + 1 :])
        typical = (
            float(np.average(eta[judge], weights=times))
            if len(training)
            else self.prior_a / (self.prior_a + self.prior_b)
        )
        clean = np.exp(davidson(score_gaps(point[:size]), point[size]))
        return Fitted(
            outcomes=typical * clean + (1.0 - typical) * clean[..., ::-1],
            scores=point[:size],
            deviations=difference_deviations(precision),
            reliabilities=eta,
        )


def _distinct(training: Pairs) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Return a, b, judge and outcome of each distinct row, and how often it occurs."""
    columns = np.stack([training.a, training.b, training.judge, training.outcome])
    (a, b, judge, outcome), times = np.unique(columns, axis=1, return_counts=True)
    return a, b, judge, outcome, times.astype(np.float64)
