"""The two-stage model: systems create outputs, then judges with a bias compare them."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Fitted, Method, Positive, logistic
from streams.core.methods.hopkins_may import items
from streams.core.methods.minimiser import difference_deviations, minimise
from streams.core.methods.pairs import LOSS, TIE, WIN
from streams.core.methods.tie_radius import score_gaps
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

NODES = 21


class _Point(NamedTuple):
    theta: Floats  # per system
    luck: Floats  # per item: quality = theta of its system + luck
    bias: Floats  # per judge, towards the system listed second
    log_width: Floats  # per judge


class TwoStage(Method, frozen=True):
    """quality ~ N(theta_i, item_deviation²); judge k sees no loss with sigmoid(q_a - q_b - m_k + w_k), a win with -w_k.

    After Baba and Kashima (2013): authors with abilities, and reviewers with their own thresholds in a graded response
    model. They grade single artifacts; here two are compared. The bias m_k of a judge favours the system listed first
    or second, and w_k is the distance at which the judge sees a difference. The fit is the maximum of the posterior,
    with theta ~ N(0, deviation²), m ~ N(0, bias_deviation²) and log w ~ N(log width, 1). A prediction is for new
    outputs and a judge without bias.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = TwoStage().fit(Pairs.parse(">>>="))
    >>> bool(fitted.scores[0] > fitted.scores[1])
    True
    """

    deviation: Annotated[Positive, Meta(description="Deviation of the prior of a system.")] = 1.0
    item_deviation: Annotated[Positive, Meta(description="Deviation of the outputs of one system.")] = 0.5
    bias_deviation: Annotated[Positive, Meta(description="Deviation of the biases of judges towards one side.")] = 0.5
    width: Annotated[Positive, Meta(description="Distance at which a typical judge sees a difference.")] = 0.5

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Outputs of a system vary in quality. Judges favour one side and differ in when they tie.",
        cost="all pairs in memory, and a value per output; about a minute per 100,000 pairs",
        choose="If outputs are judged several times, and judges may favour the left or the right one.",
        reference="Baba and Kashima 2013",
    )
    ranges: ClassVar[tuple[str, ...]] = ("closed", "posterior", "bootstrap")
    runs: ClassVar[int] = 10

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "two-stage"

    def fit(self, training: Pairs) -> Fitted:
        """Maximise the posterior."""
        author, first, second = items(training)
        sizes = (len(training.systems), len(author), len(training.judges), len(training.judges))
        judge, outcome = training.judge, training.outcome
        centre = np.repeat([0.0, 0.0, 0.0, log(self.width)], sizes)
        precision = np.repeat(
            [1.0 / d**2 for d in (self.deviation, self.item_deviation, self.bias_deviation, 1.0)], sizes
        )

        def loss(values: Floats) -> tuple[float, Floats]:
            point = _Point(*np.split(values, np.cumsum(sizes)[:-1]))
            quality = point.theta[author] + point.luck
            width = np.exp(point.log_width)[judge]
            gap = quality[first] - quality[second] - point.bias[judge]
            value, by_gap, by_width = graded(gap, width, outcome)
            by_item = np.bincount(first, by_gap, sizes[1]) - np.bincount(second, by_gap, sizes[1])
            away = values - centre
            gradient = np.concatenate(
                [
                    np.bincount(author, by_item, sizes[0]),
                    by_item,
                    -np.bincount(judge, by_gap, sizes[2]),
                    np.bincount(judge, by_width * width, sizes[3]),
                ]
            )
            return 0.5 * float(away @ (precision * away)) - value, precision * away - gradient

        point = _Point(*np.split(minimise(loss, centre).point, np.cumsum(sizes)[:-1]))
        log_width = float(point.log_width[judge].mean()) if len(training) else log(self.width)
        quality = point.theta[author] + point.luck
        gap = quality[first] - quality[second] - point.bias[judge]
        return Fitted(
            outcomes=self._predicted(point.theta, np.exp(log_width)),
            scores=point.theta.copy(),
            deviations=difference_deviations(
                self._precision(training, graded_curvature(gap, np.exp(point.log_width)[judge], outcome))
            ),
        )

    def _precision(self, training: Pairs, curvature: Floats) -> Floats:
        """Return the precision of theta with the luck of all outputs integrated out, segment by segment.

        If A is the curvature of the log likelihood of one segment by the qualities of its outputs, the luck leaves
        A - A (A + 1 / item_deviation²)^-1 A of it for theta. Judges are at their estimates.
        """
        total = np.eye(len(training.systems)) / self.deviation**2
        order = np.argsort(training.segment, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(training.segment[order])) + 1):
            systems, place = np.unique(np.concatenate([training.a[rows], training.b[rows]]), return_inverse=True)
            first, second = np.split(place, 2)
            seen = np.zeros((len(systems), len(systems)))
            np.add.at(seen, (first, second), -curvature[rows])
            seen += seen.T
            np.fill_diagonal(seen, -seen.sum(axis=1))
            luck = seen + np.eye(len(systems)) / self.item_deviation**2
            total[np.ix_(systems, systems)] += seen - seen @ np.linalg.solve(luck, seen)
        return total

    def _predicted(self, theta: Floats, width: float) -> Floats:
        """Return the outcomes, averaged over the luck of two new items."""
        nodes, weights = np.polynomial.hermite.hermgauss(NODES)
        # A factor sqrt(2) comes from the nodes, another one from the two items.
        gap = score_gaps(theta)[..., None] + 2.0 * self.item_deviation * nodes
        win, lost = (logistic(sign * gap - width) @ weights / sqrt(pi) for sign in (1.0, -1.0))
        return np.stack([win, 1.0 - win - lost, lost], axis=-1)


def graded_curvature(gap: Floats, width: Floats, outcome: Ints) -> Floats:
    """Return minus the second derivative of each outcome's log likelihood by its gap.

    >>> graded_curvature(np.zeros(1), np.zeros(1), np.array([WIN])).tolist()
    [0.25]
    """
    above, below = logistic(gap + width), logistic(gap - width)
    upper, lower = above * (1.0 - above), below * (1.0 - below)
    return np.where(outcome == WIN, lower, np.where(outcome == LOSS, upper, upper + lower))


def graded(gap: Floats, width: Floats, outcome: Ints) -> tuple[float, Floats, Floats]:
    """Return the log likelihood of outcomes, and its derivatives by each gap and width.

    >>> round(graded(np.zeros(1), np.full(1, 0.5), np.array([1]))[0], 4)  # sigmoid(0.5) - sigmoid(-0.5)
    -1.4068
    """
    upper, lower = gap + width, gap - width
    above, below = logistic(upper), logistic(lower)
    won, tied, lost = (outcome == kind for kind in (WIN, TIE, LOSS))
    apart = -np.expm1(-2.0 * width)
    # This avoids differences of nearly equal numbers:
    # log(sigmoid(x) - sigmoid(y)) = log sigmoid(x) + log sigmoid(-y) + log(1 - exp(y - x)).
    tie = -np.logaddexp(0.0, -upper) - np.logaddexp(0.0, lower) + np.log(apart)
    value = np.where(won, -np.logaddexp(0.0, -lower), np.where(lost, -np.logaddexp(0.0, upper), tie))
    by_gap = (1.0 - below) * won - above * lost + (1.0 - above - below) * tied
    by_width = -(1.0 - below) * won - above * lost + (1.0 - above + below + 2.0 * (1.0 - apart) / apart) * tied
    return float(value.sum()), by_gap, by_width
