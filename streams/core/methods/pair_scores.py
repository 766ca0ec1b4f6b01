"""Scores of the systems from pair counts alone, of one table of counts or of many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.ranking.ranges import Floats, Ints

    Score = Callable[[Ints, Ints], Floats]

PRIOR = (
    10.0  # the deviation of Bradley-Terry's prior: without one, who won or lost everything is infinitely good or bad
)
LONGEST_STEP = 1.0
CLOSE = 1e-10
MOST_STEPS = 200


def expected_wins(wins: Ints, ties: Ints) -> Floats:  # noqa: ARG001 - that ties do not matter is the definition
    """Give Expected Wins: the mean, over the opponents j of i, of win(i, j) / (win(i, j) + win(j, i)).

    The official score of WMT13 (Koehn 2012; Bojar et al. 2013); a system that nothing was decided about has 0.5.

    >>> expected_wins(np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]]), np.zeros((3, 3), int)).tolist()
    [0.625, 0.375, 0.5]
    """
    met = wins + wins.swapaxes(-1, -2)
    share = np.divide(wins, met, out=np.zeros(met.shape), where=met > 0)
    opponents = (met > 0).sum(axis=-1)
    mean: Floats = np.divide(share.sum(axis=-1), opponents, out=np.full(opponents.shape, 0.5), where=opponents > 0)
    return mean


def bradley_terry(wins: Ints, ties: Ints) -> Floats:
    """Give Bradley-Terry's log-strengths: P(i beats j) = 1 / (1 + exp(theta_j - theta_i)), a tie half a win of each.

    Bradley and Terry (1952), by Newton's method on the log posterior with a prior N(0, 10²), that sums to zero.

    >>> bradley_terry(np.array([[0, 30], [10, 0]]), np.zeros((2, 2), int)).round(3).tolist()
    [0.549, -0.549]
    """
    won = wins + 0.5 * ties
    met = won + won.swapaxes(-1, -2)
    theta = np.zeros(won.shape[:-1])
    ridge = np.eye(won.shape[-1]) / PRIOR**2
    for _ in range(MOST_STEPS):
        win = 0.5 + 0.5 * np.tanh(0.5 * (theta[..., :, None] - theta[..., None, :]))
        gradient = (won - met * win).sum(axis=-1) - theta / PRIOR**2
        weight = met * win * win.swapaxes(-1, -2)
        curvature = ridge - weight
        np.einsum("...ii->...i", curvature)[...] += weight.sum(axis=-1)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        # A full step from where the curvature is small can overshoot.
        longest = np.abs(step).max(axis=-1, keepdims=True, initial=0.0)
        theta += step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        if longest.max(initial=0.0) < CLOSE:
            break
    return theta


SCORES: dict[str, Score] = {"expected-wins": expected_wins, "bradley-terry": bradley_terry}
