"""The graded response model: one comparison as a joint step on the systems, the judge and the segment.

The outcome depends on two numbers: u = a t, the gap t between the two systems as a judge of sensitivity a = exp(alpha)
sees it, and the half width y = exp(delta) / 2 of the range of u that the segment leaves undecided. So all the algebra
of a step is on two by two matrices. Values of arrays become `float`s at once, as in `pairs`.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from streams.compiler import jit
from streams.core.kernels.elementary import exp, expm1, power

LIMIT = 30.0  # largest |alpha| and |delta|: far beyond any real value, and exp() stays finite


class Response(NamedTuple):
    """The slopes of the log likelihood in (u, log y) and its expected information about them.

    A win has the slopes win_u and -y win_u. The determinant is uu yy - uy².
    """

    win_u: float
    tie_u: float
    tie_y: float
    uu: float
    uy: float
    yy: float
    determinant: float


@jit
def sigmoids(x: float) -> tuple[float, float]:
    """Return 1 / (1 + exp(-x)) and 1 / (1 + exp(x)) without overflow."""
    e = exp(-abs(x))
    large, small = 1.0 / (1.0 + e), e / (1.0 + e)
    return (large, small) if x >= 0.0 else (small, large)


@jit
def outcomes(u: float, y: float) -> tuple[float, float, float]:
    """Return the probabilities of a win, a tie and a loss. They are exactly symmetric in u."""
    win, not_win = sigmoids(u - y)
    not_loss, loss = sigmoids(u + y)
    return win, not_loss * not_win * -expm1(-2.0 * y), loss


@jit
def response(u: float, y: float) -> Response:
    """Return the slopes and the information of one outcome about u and log y."""
    win, not_win = sigmoids(u - y)
    not_loss, loss = sigmoids(u + y)
    between = -expm1(-2.0 * y)
    tie = not_loss * not_win * between
    tie_u, tie_y = loss - win, y * (loss + win) + 2.0 * y * (1.0 - between) / between
    up, down = win * not_win * not_win, loss * not_loss * not_loss
    uu = (up + down) + tie * tie_u * tie_u
    uy = y * (down - up) + tie * tie_u * tie_y
    yy = y * y * (up + down) + tie * tie_y * tie_y
    # The squares of the outcomes' cross products: their sum is never below 0, but uu yy - uy² could be, by rounding.
    cross_up, cross_down = tie_y + y * tie_u, tie_y - y * tie_u
    determinant = tie * (up * cross_up * cross_up + down * cross_down * cross_down) + 4.0 * y * y * up * down
    return Response(not_win, tie_u, tie_y, uu, uy, yy, determinant)


@jit
def item_informations(segments: Any, gap: float, against_baseline: bool, sensitivity: float) -> Any:
    """Return the information about a gap from a judge with a = 1, for each segment. Its row is (m, s, delta, s)."""
    found = np.empty(len(segments))
    for j in range(len(segments)):
        middle = float(segments[j, 0]) if against_baseline else 0.0
        found[j] = response(gap - middle, 0.5 * exp(float(segments[j, 2])) / sensitivity).uu
    return found


@jit
def moderation(u: float, y: float, spread: float, alpha_s: float, delta_s: float) -> float:
    """Return the factor on u and y by which their uncertainty flattens the mean of a sigmoid (MacKay 1992).

    With it no outcome moves a value by more than about two of its own deviations.
    """
    return 1.0 / sqrt(1.0 + 0.125 * pi * (spread + u * u * alpha_s + y * y * delta_s))


@jit
def gap_information(t: float, spread: float, alpha: float, alpha_s: float, delta: float, delta_s: float) -> float:
    """Return the information of one comparison about the gap, with judge and segment integrated out."""
    a = exp(alpha)
    u, y = a * t, 0.5 * exp(delta)
    k = moderation(u, y, a * a * spread, alpha_s, delta_s)
    a, u, y = k * a, k * u, k * y
    r = response(u, y)
    c_u = a * a * spread + u * u * alpha_s
    scale = 1.0 + r.uu * c_u + r.yy * delta_s + r.determinant * c_u * delta_s
    return a * a * (r.uu + r.determinant * delta_s) / scale


@jit
def compare(systems: Any, judges: Any, segments: Any, i: int, j: int, k: int, s: int, order: int, held: bool) -> None:
    """Update the rows in place. order < 0: i is better, > 0: j is better, 0: a tie. A held j does not move.

    Rows are (mean, variance) of theta, of alpha, and of m and delta. With D the diagonal of variances, J the slopes of
    (u, log y), C = J D J' their covariance, F their Fisher information and g the outcome's gradient:
    mean += D J' (1 + F C)⁻¹ g, and the new variances are the diagonal of D - D J' (F⁻¹ + C)⁻¹ J D.
    """
    side = -1.0 if order > 0 else 1.0
    s_i = float(systems[i, 1])
    s_j = 0.0 if held else float(systems[j, 1])
    s_m = float(segments[s, 1]) if held else 0.0
    gap = float(systems[i, 0]) - float(systems[j, 0])
    if held:
        gap -= float(segments[s, 0])
    alpha, alpha_s = float(judges[k, 0]), float(judges[k, 1])
    delta, delta_s = float(segments[s, 2]), float(segments[s, 3])
    a = exp(alpha)
    u, y = side * a * gap, 0.5 * exp(delta)
    spread = s_i + s_j + s_m
    k_all = moderation(u, y, a * a * spread, alpha_s, delta_s)
    a, u, y = k_all * a, k_all * u, k_all * y
    r = response(u, y)
    g_u, g_y = (r.tie_u, r.tie_y) if order == 0 else (r.win_u, -y * r.win_u)
    c_u = a * a * spread + u * u * alpha_s
    scale = 1.0 + r.uu * c_u + r.yy * delta_s + r.determinant * c_u * delta_s
    v_u = ((1.0 + r.yy * delta_s) * g_u - r.uy * delta_s * g_y) / scale
    v_y = ((1.0 + r.uu * c_u) * g_y - r.uy * c_u * g_u) / scale
    m_u, m_y = (r.uu + r.determinant * delta_s) / scale, (r.yy + r.determinant * c_u) / scale
    step, known = side * a * v_u, a * a * m_u
    systems[i, 0] += s_i * step
    systems[i, 1] = s_i * (1.0 - s_i * known)
    if held:
        segments[s, 0] -= s_m * step
        segments[s, 1] = s_m * (1.0 - s_m * known)
    else:
        systems[j, 0] -= s_j * step
        systems[j, 1] = s_j * (1.0 - s_j * known)
    judges[k, 0] = min(max(alpha + alpha_s * u * v_u, -LIMIT), LIMIT)
    judges[k, 1] = alpha_s * (1.0 - alpha_s * u * u * m_u)
    segments[s, 2] = min(max(delta + delta_s * v_y, -LIMIT), LIMIT)
    segments[s, 3] = delta_s * (1.0 - delta_s * m_y)


@jit
def descent(
    row: Any, column: int, mean: float, variance: float, slope: float, prior: Any, rate: float, decay: float
) -> None:
    """Replace the new mean in a row by a gradient step from the old mean. The new variance is in the row already.

    The step is rate s0 (s / s0)^decay times the slope of the log posterior, with the prior's variance s0. The prior
    counts once over all comparisons, and this comparison has the share 1 - s / variance of it. No step is longer than
    the prior's deviation.
    """
    left, whole = float(row[column + 1]), float(prior[column + 1])
    slope -= (mean - float(prior[column])) / whole * (1.0 - left / variance)
    step = rate * whole * power(left / whole, decay) * slope
    longest = sqrt(whole)
    row[column] = mean + min(max(step, -longest), longest)


@jit
def descend(
    systems: Any,
    judges: Any,
    segments: Any,
    i: int,
    j: int,
    k: int,
    s: int,
    order: int,
    held: bool,
    priors: Any,
    rate: float,
    decay: float,
) -> None:
    """Update as `compare` does, but move each mean by a plain gradient step at the present values.

    The rows of `priors` are those of a new system, judge and segment. The variances are those of `compare`.
    """
    theta_i, s_i = float(systems[i, 0]), float(systems[i, 1])
    theta_j, s_j = float(systems[j, 0]), float(systems[j, 1])
    alpha, alpha_s = float(judges[k, 0]), float(judges[k, 1])
    m, s_m = float(segments[s, 0]), float(segments[s, 1])
    delta, delta_s = float(segments[s, 2]), float(segments[s, 3])
    side = -1.0 if order > 0 else 1.0
    a, y = exp(alpha), 0.5 * exp(delta)
    u = side * a * (theta_i - theta_j - (m if held else 0.0))
    r = response(u, y)
    g_u, g_y = (r.tie_u, r.tie_y) if order == 0 else (r.win_u, -y * r.win_u)
    compare(systems, judges, segments, i, j, k, s, order, held)
    slope = side * a * g_u
    descent(systems[i], 0, theta_i, s_i, slope, priors[0], rate, decay)
    if held:
        descent(segments[s], 0, m, s_m, -slope, priors[2], rate, decay)
    else:
        descent(systems[j], 0, theta_j, s_j, -slope, priors[0], rate, decay)
    descent(judges[k], 0, alpha, alpha_s, u * g_u, priors[1], rate, decay)
    descent(segments[s], 2, delta, delta_s, g_y, priors[2], rate, decay)
    judges[k, 0] = min(max(judges[k, 0], -LIMIT), LIMIT)
    segments[s, 2] = min(max(segments[s, 2], -LIMIT), LIMIT)


@jit
def rate_rankings(
    system_rows: Any,
    judge_rows: Any,
    segment_rows: Any,
    systems: Any,
    ranks: Any,
    starts: Any,
    judges: Any,
    segments: Any,
    baseline: int,
    priors: Any,
    rate: float,
    decay: float,
) -> None:
    """Apply the pairs of rankings in order. With a baseline (0 or above), apply only the pairs that contain it.

    With a rate above 0 the steps are plain gradient steps.
    """
    held = baseline >= 0
    for n in range(len(starts) - 1):
        for a in range(starts[n], starts[n + 1]):
            for b in range(a + 1, starts[n + 1]):
                i, j, order = systems[a], systems[b], ranks[a] - ranks[b]
                if i == baseline:
                    i, j, order = j, i, -order
                if held and j != baseline:
                    continue
                k, s = judges[n], segments[n]
                if rate > 0.0:
                    descend(system_rows, judge_rows, segment_rows, i, j, k, s, order, held, priors, rate, decay)
                else:
                    compare(system_rows, judge_rows, segment_rows, i, j, k, s, order, held)
