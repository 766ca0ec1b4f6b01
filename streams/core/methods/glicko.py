"""Glicko-2: ratings with a deviation and a volatility."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, pi, sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Fitted, Method, Positive, Whole, decided, logistic, tie_share
from streams.core.methods.tie_radius import score_gaps
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

SCALE = 173.7178
START = 1500.0
CLOSE = 1e-6


@dataclass(frozen=True, kw_only=True)
class GlickoRatings:
    """The rating, deviation and volatility of each system, on the scale of Glicko-2."""

    mean: Floats
    deviation: Floats
    volatility: Floats


class Glicko2(Method, frozen=True):
    """E = 1 / (1 + exp(-g(phi_b) (mu_a - mu_b))), g(phi) = 1 / sqrt(1 + 3 phi² / pi²), in periods (Glickman 2012).

    A period has on average `games` outcomes per system. A prediction has both deviations in g. Glicko predicts no ties;
    here every pair has the same probability of a tie.

    >>> from streams.core.methods.pairs import Pairs
    >>> Glicko2().fit(Pairs.parse(">")).scores.round(1).tolist()
    [1662.3, 1337.7]
    """

    deviation: Annotated[Positive, Meta(description="Deviation of a new system, in rating points.")] = 350.0
    volatility: Annotated[
        Positive, Meta(description="Volatility of a new system: how much its strength may change per period.")
    ] = 0.06
    tau: Annotated[Positive, Meta(description="How fast the volatility itself may change.")] = 0.5
    games: Annotated[Whole, Meta(description="Mean number of outcomes per system in a rating period.")] = 15

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Like elo, with a deviation for each rating, and strengths that may change from period to period.",
        cost="one pass over the pairs, in log order; under 1 s per 100,000 pairs",
        choose="To compare with a league that publishes Glicko-2, or if systems change over time.",
        reference="Glickman 2012",
    )
    ranges: ClassVar[tuple[str, ...]] = ("closed", "posterior", "bootstrap")
    runs: ClassVar[int] = 100

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "glicko2"

    def fit(self, training: Pairs) -> Fitted:
        """Update the ratings period by period."""
        size = len(training.systems)
        ratings = GlickoRatings(
            mean=np.zeros(size),
            deviation=np.full(size, self.deviation / SCALE),
            volatility=np.full(size, self.volatility),
        )
        scores, length = training.points(), max(1, self.games * size // 2)
        for start in range(0, len(training), length):
            rows = slice(start, start + length)
            ratings = after_period(ratings, training.a[rows], training.b[rows], scores[rows], tau=self.tau)
        variance = ratings.deviation[:, None] ** 2 + ratings.deviation[None, :] ** 2
        win = logistic(_attenuation(variance) * score_gaps(ratings.mean))
        return Fitted(
            outcomes=decided(win, tie_share(training)),
            scores=START + SCALE * ratings.mean,
            deviations=SCALE * ratings.deviation,
        )


def after_period(before: GlickoRatings, a: Ints, b: Ints, score: Floats, *, tau: float) -> GlickoRatings:
    """Return the ratings after a period, from the score of a against b in each game: 1, 0.5 or 0.

    >>> one = GlickoRatings(mean=np.zeros(2), deviation=np.ones(2), volatility=np.full(2, 0.06))
    >>> after = after_period(one, np.array([0]), np.array([1]), np.array([0.5]), tau=0.5)
    >>> after.mean.tolist(), bool(after.deviation[0] < 1.0)
    ([0.0, 0.0], True)
    """
    me, rival = np.concatenate([a, b]), np.concatenate([b, a])
    got, size = np.concatenate([score, 1.0 - score]), len(before.mean)
    g = _attenuation(before.deviation[rival] ** 2)
    expected = logistic(g * (before.mean[me] - before.mean[rival]))
    information = np.bincount(me, g**2 * expected * (1.0 - expected), size)
    pull = np.bincount(me, g * (got - expected), size)
    volatility = before.volatility.copy()
    for i in np.flatnonzero(information > 0.0):
        v, phi = 1.0 / information[i], float(before.deviation[i])
        volatility[i] = _volatility(float(v * pull[i]), phi, float(v), float(before.volatility[i]), tau)
    deviation = 1.0 / np.sqrt(1.0 / (before.deviation**2 + volatility**2) + information)
    return GlickoRatings(mean=before.mean + deviation**2 * pull, deviation=deviation, volatility=volatility)


def _attenuation(variance: Floats) -> Floats:
    return 1.0 / np.sqrt(1.0 + 3.0 * variance / pi**2)


def _volatility(delta: float, phi: float, v: float, sigma: float, tau: float) -> float:
    """Return the new volatility, by the Illinois variant of regula falsi (step 5 of Glickman's paper)."""
    start = log(sigma**2)

    def f(x: float) -> float:
        spread = phi**2 + v + exp(x)
        return exp(x) * (delta**2 - spread) / (2.0 * spread**2) - (x - start) / tau**2

    low = start
    if delta**2 > phi**2 + v:
        high = log(delta**2 - phi**2 - v)
    else:
        high = start - tau
        while f(high) < 0.0:
            high -= tau
    at_low, at_high = f(low), f(high)
    while abs(high - low) > CLOSE:
        middle = low + (low - high) * at_low / (at_high - at_low)
        at_middle = f(middle)
        if at_middle * at_high <= 0.0:
            low, at_low = high, at_high
        else:
            at_low *= 0.5
        high, at_high = middle, at_middle
    return sqrt(exp(low))
