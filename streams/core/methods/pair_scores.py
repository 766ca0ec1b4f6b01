"""Scores of systems from pair counts, for one table of counts or many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.ranking.ranges import Floats, Ints

    Score = Callable[[Ints, Ints], Floats]

# Deviation of Bradley-Terry's prior. Without a prior, a system that won or lost everything has an infinite strength.
PRIOR = 10.0
LONGEST_STEP = 1.0
CLOSE = 1e-10
MOST_STEPS = 200


def expected_wins(wins: Ints, ties: Ints) -> Floats:  # noqa: ARG001 - by definition, ties do not matter
    """Return Expected Wins: the mean, over the opponents j of i, of win(i, j) / (win(i, j) + win(j, i)).

    The official score of WMT13 (Koehn 2012; Bojar et al. 2013); a system without a decided outcome has 0.5.

    >>> expected_wins(np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]]), np.zeros((3, 3), int)).tolist()
    [0.625, 0.375, 0.5]
    """
    met = wins + wins.swapaxes(-1, -2)
    share = np.divide(wins, met, out=np.zeros(met.shape), where=met > 0)
    opponents = (met > 0).sum(axis=-1)
    mean: Floats = np.divide(share.sum(axis=-1), opponents, out=np.full(opponents.shape, 0.5), where=opponents > 0)
    return mean


def bradley_terry(wins: Ints, ties: Ints) -> Floats:
    """Return Bradley-Terry log-strengths: P(i beats j) = 1 / (1 + exp(theta_j - theta_i)), a tie is half a win each.

    Bradley and Terry (1952), by Newton's method on the log posterior with the prior N(0, 10²). The sum is zero.

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
        # Where the curvature is small, a full step can overshoot.
        longest = np.abs(step).max(axis=-1, keepdims=True, initial=0.0)
        theta += step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        if longest.max(initial=0.0) < CLOSE:
            break
    return theta


SCORES: dict[str, Score] = {"expected-wins": expected_wins, "bradley-terry": bradley_terry}
