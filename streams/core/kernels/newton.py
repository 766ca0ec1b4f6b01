"""The fit of a settled board: Newton's search for the mode of the posterior of abilities and margin."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.linear import solve_positive
from streams.core.kernels.settled import pair_moments

SIGNATURES = {
    "evaluate": "q1 q1 d2 d d1 d3 d2 d1 d2",
    "add_up": "q1 q1 d2 d d1 d3 d2 d1 d2",
    "climb": "q1 q1 d2 d d1 d3 d2 d1 d2 d2 d2 ? d -> q",
}

MOST_STEPS = 60
MOST_HALVINGS = 30
SLACK = 0.5  # a step is too long if the slope at its end is below -SLACK times the one at its beginning
SHORTEST = 0.125  # part of the margin that one step leaves at least, because a margin is above 0
SETTLED = 1e-18  # of the Newton decrement, which is 1 for a change of one standard deviation
ROUNDED = 1e-8  # a decrement below it that does not fall to a quarter is rounding
STEP, TRIAL = 0, 1  # rows of `vectors`
RIDGE = 1e-13  # by which the diagonal is larger, so that rounding does not make it singular after 10^12 judgments
MARGIN_PRIOR = (0.25, 0.5, 0.25)  # the prior of the margin is one comparison of two equal systems, half a tie


@jit
def evaluate(
    first: Any,
    second: Any,
    outcomes: Any,
    precision: float,
    point: Any,
    moments: Any,
    prior: Any,
    gradient: Any,
    hessian: Any,
) -> None:
    """Fill the moments of each pair at a point, and do what `add_up` does."""
    margin = float(point[len(point) - 1])
    for p in range(len(first)):
        pair_moments(float(point[first[p]]) - float(point[second[p]]), margin, moments[p])
    add_up(first, second, outcomes, precision, point, moments, prior, gradient, hessian)


@jit
def add_up(
    first: Any,
    second: Any,
    outcomes: Any,
    precision: float,
    point: Any,
    moments: Any,
    prior: Any,
    gradient: Any,
    hessian: Any,
) -> None:
    """Add up the gradient and the curvature of all outcomes and of the prior, from the moments at a point.

    The margin is the last entry of the point, of the gradient and of the curvature. The moments of its prior are left
    in `prior`.
    """
    last = len(point) - 1
    for i in range(last + 1):
        gradient[i] = 0.0
        for j in range(last + 1):
            hessian[i, j] = 0.0
    for p in range(len(first)):
        a, b = first[p], second[p]
        own = moments[p]
        won, tied, lost = float(outcomes[p, 0]), float(outcomes[p, 1]), float(outcomes[p, 2])
        slope = won * own[0, 0] + tied * own[1, 0] + lost * own[2, 0]
        gradient[a] += slope
        gradient[b] -= slope
        gradient[last] += won * own[0, 1] + tied * own[1, 1] + lost * own[2, 1]
        curve = won * own[0, 2] + tied * own[1, 2] + lost * own[2, 2]
        both = won * own[0, 3] + tied * own[1, 3] + lost * own[2, 3]
        hessian[a, a] += curve
        hessian[b, b] += curve
        hessian[a, b] -= curve
        hessian[b, a] -= curve
        hessian[a, last] += both
        hessian[last, a] += both
        hessian[b, last] -= both
        hessian[last, b] -= both
        hessian[last, last] += won * own[0, 4] + tied * own[1, 4] + lost * own[2, 4]
    for i in range(last):
        gradient[i] -= precision * point[i]
        hessian[i, i] += precision
    pair_moments(0.0, float(point[last]), prior)
    for k in range(3):
        gradient[last] += MARGIN_PRIOR[k] * prior[k, 1]
        hessian[last, last] += MARGIN_PRIOR[k] * prior[k, 4]
    for i in range(last + 1):
        hessian[i, i] *= 1.0 + RIDGE


@jit
def dot(one: Any, other: Any) -> float:
    """Return the inner product."""
    total = 0.0
    for i in range(len(one)):
        total += float(one[i]) * float(other[i])
    return total


@jit
def climb(
    first: Any,
    second: Any,
    outcomes: Any,
    precision: float,
    point: Any,
    moments: Any,
    prior: Any,
    gradient: Any,
    hessian: Any,
    matrix: Any,
    vectors: Any,
    has_moments: bool,
    enough: float,
) -> int:
    """Move a point to the mode. Return the number of steps.

    All that `evaluate` computes is that of the mode then. If the decrement is below `enough`, the last step is taken
    without evaluating its end. `has_moments` tells whether the moments are those of the point already. `matrix` and two
    rows of `vectors` are room to compute in.
    """
    if has_moments:
        add_up(first, second, outcomes, precision, point, moments, prior, gradient, hessian)
    else:
        evaluate(first, second, outcomes, precision, point, moments, prior, gradient, hessian)
    size, last, step, trial = len(point), 1e300, vectors[STEP], vectors[TRIAL]
    for number in range(MOST_STEPS):
        for i in range(size):
            step[i] = gradient[i]
            for j in range(size):
                matrix[i, j] = hessian[i, j]
        solve_positive(matrix, step)
        slope = dot(gradient, step)
        if slope < SETTLED or (slope < ROUNDED and slope > 0.25 * last):
            return number
        if slope < enough:
            for i in range(size):
                point[i] += step[i]
            return number + 1
        last = slope
        if step[size - 1] < 0.0:
            part = min(1.0, (1.0 - SHORTEST) * float(point[size - 1]) / -float(step[size - 1]))
            for i in range(size):
                step[i] *= part
        reached = dot(gradient, step)
        for _ in range(MOST_HALVINGS):
            for i in range(size):
                trial[i] = point[i] + step[i]
            evaluate(first, second, outcomes, precision, trial, moments, prior, gradient, hessian)
            if dot(gradient, step) >= -SLACK * reached:
                break
            reached *= 0.5
            for i in range(size):
                step[i] *= 0.5
        for i in range(size):
            point[i] = trial[i]
    return MOST_STEPS
