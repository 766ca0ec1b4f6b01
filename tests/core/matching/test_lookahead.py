"""The expected gain of a judgment, against the joint Gaussian of abilities and pair effects."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from streams.core import kernels
from streams.core.kernels import lookahead as at
from streams.core.matching import lookahead
from streams.core.matching.lookahead import expected_gains
from tests.core.matching.counts import meetings_of

if TYPE_CHECKING:
    from streams.core.matching import Meetings
    from streams.core.matching.base import Floats

C = 2**0.5 * lookahead.BETA
ABILITIES = [0.0, 0.25, 0.3, 0.9, -0.4]


def fitted(meetings: Meetings, steps: int = lookahead.STEPS) -> tuple[Floats, Floats, Floats]:
    """Return the fitted variances and margin, the layers and the vectors of a fit."""
    size = len(meetings.wins)
    found, room, vectors = np.array(at.FIRST_FIT), np.zeros((at.LAYERS, size, size)), np.zeros((at.VECTORS, size))
    none = np.zeros((size, size), np.int64)
    kernels.plain("lookahead").fit(meetings.wins, meetings.ties, none, C, steps, found, room, vectors)
    return found, room, vectors


def probabilities(eta: float, margin: float) -> Floats:
    win, loss = stats.norm.cdf(eta / C - margin), stats.norm.cdf(-eta / C - margin)
    return np.array([win, 1.0 - win - loss, loss])


def information(eta: float, margin: float) -> float:
    """Return the Fisher information of one judgment, by numeric derivatives."""
    step = 1e-5
    slopes = (probabilities(eta + step, margin) - probabilities(eta - step, margin)) / (2 * step)
    return float((slopes**2 / probabilities(eta, margin)).sum())


def brute_force(meetings: Meetings) -> Floats:
    """Return the fall of the expected errors of the order by each judgment, from the whole joint distribution.

    A judgment moves each gap of scores by N(0, r) and reduces its variance by r. The errors are integrated over the
    move, for a small part of r, because the gain is the slope at r = 0.
    """
    (pair, spread, margin, *_), room, vectors = fitted(meetings)
    size, pairs = len(meetings.wins), list(combinations(range(len(meetings.wins)), 2))
    theta, effects = vectors[at.ABILITY], [room[at.EFFECT, a, b] for a, b in pairs]
    directions = np.zeros((len(pairs), size + len(pairs)))
    for k, (a, b) in enumerate(pairs):
        directions[k, [a, b, size + k]] = 1.0, -1.0, 1.0
    state = np.concatenate([theta, effects])
    precision = np.diag([1.0 / room_spread for room_spread in [spread] * size + [pair] * len(pairs)])
    for k, (a, b) in enumerate(pairs):
        precision += room[at.INFORMATION, a, b] * np.outer(directions[k], directions[k])
    covariance = np.linalg.inv(precision)

    def scores(at_state: Floats) -> Floats:
        total = np.zeros(size)
        for k, (a, b) in enumerate(pairs):
            win, _, loss = probabilities(float(directions[k] @ at_state), margin)
            total[a] += win / (win + loss) / (size - 1)
            total[b] += loss / (win + loss) / (size - 1)
        return total

    slopes = np.array([(scores(state + h) - scores(state - h)) / 2e-5 for h in 1e-5 * np.eye(len(state))]).T
    score, spreads = scores(state), slopes @ covariance @ slopes.T
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    part = 1e-4
    gains = np.zeros((size, size))
    for k, (a, b) in enumerate(pairs):
        eta = float(directions[k] @ state)
        moves = slopes @ covariance @ directions[k]
        moves = moves / np.sqrt(directions[k] @ covariance @ directions[k] + 1.0 / information(eta, margin))
        for i, j in pairs:
            variance, gap = spreads[i, i] + spreads[j, j] - 2.0 * spreads[i, j], score[i] - score[j]
            fall = part * (moves[i] - moves[j]) ** 2
            p = stats.norm.cdf((gap + np.sqrt(fall) * nodes) / np.sqrt(variance - fall))
            before = stats.norm.cdf(gap / np.sqrt(variance))
            expected = (p * (1.0 - p)) @ weights / weights.sum()
            gains[a, b] += (before * (1.0 - before) - expected) / part
        gains[b, a] = gains[a, b]
    return 2.0 * np.pi * gains


def none_asked(meetings: Meetings) -> Floats:
    return np.zeros_like(meetings.wins)


@pytest.mark.parametrize("times", [3, 40])
def test_the_gain_is_that_of_the_joint_distribution(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookahead.kernels, "suited", lambda name, _: kernels.plain(name))
    meetings = meetings_of(ABILITIES, times=times, seed=1)
    # The information in the fit is from before its last step: a fit that has ended is needed to compare.
    monkeypatch.setattr(at, "NEAR", 1e-9)
    monkeypatch.setattr(lookahead, "STEPS", 400)
    gains = expected_gains(meetings, np.arange(5), none_asked(meetings))
    (pair, *_), _, _ = fitted(meetings, 400)
    assert pair > at.LEAST_PAIR
    np.testing.assert_allclose(gains, brute_force(meetings), rtol=2e-3)
