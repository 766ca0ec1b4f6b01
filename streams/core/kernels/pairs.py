"""Pairwise outcomes: the closed form of TrueSkill for two systems, and the counts of wins and ties.

Values of arrays become `float`s at once: they have the same bits, and Python computes faster with them.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from streams.compiler import inlined, jit
from streams.core.kernels.elementary import exp, log2
from streams.core.kernels.normal import NORM, tie_moments, upper_tail, win_moments

SIGNATURES = {
    "rate_rankings": "d1 d1 d2 q1 q1 q1 q1 d",
    "judge_rankings": "q2 q2 q2 ?2 q1 q1 q1 q1 q1 q1",
    "measure_information": "d1 d1 q2 d d d1",
}

START_PAIRS = 20.0  # number of pairs of equal systems that the start of a margin counts as
BY_CHANCE = 1.0 / 3.0  # a judge who guesses chooses a win, a tie or a loss with equal probability


@jit
def pair_update(
    m_i: float, s_i: float, m_j: float, s_j: float, order: int, beta: float, margin: float
) -> tuple[float, float, float, float]:
    """Return mean and variance of i, then of j, after a match. order < 0: i is better, > 0: j is better, 0: a tie."""
    unit = 1.0 / sqrt(2.0 * beta * beta + (s_i + s_j))  # 1 / c, so that there is only one division
    t, e = (m_i - m_j) * unit, margin * unit
    sign = 1.0
    if order > 0 or (order == 0 and t < 0.0):
        t, sign = -t, -1.0
    v, w = win_moments(t - e) if order != 0 else tie_moments(t, e)
    v, w = sign * v * unit, w * unit * unit
    return m_i + s_i * v, s_i * (1.0 - s_i * w), m_j - s_j * v, s_j * (1.0 - s_j * w)


@jit
def rate_pair(mean: Any, variance: Any, i: int, j: int, order: int, beta: float, margin: float) -> None:
    """Update systems i and j in place. `order` is as in `pair_update`."""
    mean[i], variance[i], mean[j], variance[j] = pair_update(
        float(mean[i]), float(variance[i]), float(mean[j]), float(variance[j]), order, beta, margin
    )


@inlined
def move_margin(margins: Any, row: int, gap: float, unit: float, order: int, care: float) -> None:
    """Update the tie margin margins[row, 0] and its weight margins[row, 1] with a pair, at the ratings before it.

    The margin moves by the observed minus the expected ties, divided by the sum of the slopes of the expected ones.
    That is Newton's step towards the margin that expects as many ties as were seen. `gap` is the distance of the two
    means and `unit` is 1 / c. The judge answers with care with probability `care`, and by chance otherwise. The margin
    stays positive: the expected ties are below 0.8 margin / c, and the weight is above 0.8 / c from the start.
    """
    margin = float(margins[row, 0])
    low, high = (gap - margin) * unit, (gap + margin) * unit
    slope = care * unit * NORM * (exp(-0.5 * low * low) + exp(-0.5 * high * high))
    expected = care * (upper_tail(low) - upper_tail(high)) + (1.0 - care) * BY_CHANCE
    seen = 1.0 if order == 0 else 0.0
    weight = float(margins[row, 1]) + care * slope
    margins[row, 0], margins[row, 1] = margin + care * (seen - expected) / weight, weight


@inlined
def margin_row(margins: Any, judge: int, beta: float) -> int:
    """Return the row of a judge's margin, or 0 if margins are fixed. A new judge starts at the margin of all.

    Row 0 of `margins` is the margin of all judges and its weight, row k + 1 that of judge k. The weight of row 0 is
    infinite if margins are fixed. That of a judge without judgments is 0.
    """
    if margins[0, 1] == inf:
        return 0
    row: int = judge + 1
    if margins[row, 1] == 0.0:
        margins[row, 0], margins[row, 1] = margins[0, 0], start_weight(beta)
    return row


@jit
def start_weight(beta: float) -> float:
    """Return the weight of a margin that no pair has moved."""
    return START_PAIRS * 2.0 * NORM / (sqrt(2.0) * beta)


@inlined
def learn_margins(
    margins: Any, row: int, m_i: float, s_i: float, m_j: float, s_j: float, order: int, beta: float, care: float
) -> None:
    """Update the margin of all judges and that of one judge with a pair, unless the row is 0."""
    if row > 0:
        unit = 1.0 / sqrt(2.0 * beta * beta + (s_i + s_j))
        gap = abs(m_i - m_j)
        move_margin(margins, 0, gap, unit, order, care)
        move_margin(margins, row, gap, unit, order, care)


@jit
def rate_rankings(
    mean: Any, variance: Any, margins: Any, systems: Any, ranks: Any, starts: Any, judges: Any, beta: float
) -> None:
    """Apply rankings in order. A ranking of n systems counts as its n (n - 1) / 2 pairs.

    `margins` is as in `margin_row`. A pair is rated with the judge's margin as it was before the pair.
    """
    for k in range(len(starts) - 1):
        row = margin_row(margins, judges[k], beta)
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                i, j, order = systems[a], systems[b], ranks[a] - ranks[b]
                m_i, s_i, m_j, s_j = float(mean[i]), float(variance[i]), float(mean[j]), float(variance[j])
                margin = float(margins[row, 0])
                learn_margins(margins, row, m_i, s_i, m_j, s_j, order, beta, 1.0)
                # Not with rate_pair: passing the arrays takes a fifth of the time of an update.
                mean[i], variance[i], mean[j], variance[j] = pair_update(m_i, s_i, m_j, s_j, order, beta, margin)


@jit
def count_ranking(wins: Any, ties: Any, touched: Any, systems: Any, ranks: Any, first: int, last: int) -> None:
    """Count the pairs of one ranking: wins[i, j] of i over j, and ties on both sides. Set touched[lower, upper]."""
    for a in range(first, last):
        for b in range(a + 1, last):
            i, j = systems[a], systems[b]
            touched[min(i, j), max(i, j)] = True
            if ranks[a] < ranks[b]:
                wins[i, j] += 1
            elif ranks[a] > ranks[b]:
                wins[j, i] += 1
            else:
                ties[i, j] += 1
                ties[j, i] += 1


@jit
def count_rankings(wins: Any, ties: Any, touched: Any, systems: Any, ranks: Any, starts: Any) -> None:
    """Count the pairs of rankings."""
    for k in range(len(starts) - 1):
        count_ranking(wins, ties, touched, systems, ranks, starts[k], starts[k + 1])


@jit
def judge_rankings(
    wins: Any,
    ties: Any,
    outcomes: Any,
    touched: Any,
    agreed: Any,
    compared: Any,
    judges: Any,
    systems: Any,
    ranks: Any,
    starts: Any,
) -> None:
    """Count rankings, and how often the preferences of each judge agree with the majority of earlier rankings.

    A row of `outcomes` has the wins, ties and losses of a system.
    """
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                better = 0 if ranks[a] < ranks[b] else 1 if ranks[a] == ranks[b] else 2
                outcomes[systems[a], better] += 1
                outcomes[systems[b], 2 - better] += 1
                majority = wins[systems[a], systems[b]] - wins[systems[b], systems[a]]
                if majority != 0 and ranks[a] != ranks[b]:
                    compared[judges[k]] += 1
                    agreed[judges[k]] += int((majority > 0) == (ranks[a] < ranks[b]))
        count_ranking(wins, ties, touched, systems, ranks, starts[k], starts[k + 1])


@jit
def measure_information(mean: Any, variance: Any, pairs: Any, beta: float, margin: float, bits: Any) -> None:
    """Compute how far the posteriors of each pair would narrow, averaged over the outcomes, in bits."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        s_i, s_j, gap = float(variance[i]), float(variance[j]), float(mean[i]) - float(mean[j])
        c = sqrt(2.0 * beta * beta + (s_i + s_j))
        t, e = gap / c, margin / c
        win, loss = upper_tail((margin - gap) / c), upper_tail((margin + gap) / c)
        won, tied, lost = win_moments(t - e)[1], tie_moments(abs(t), e)[1], win_moments(-t - e)[1]
        bits[k] = narrowing(s_i / (c * c), s_j / (c * c), win, won)
        bits[k] += narrowing(s_i / (c * c), s_j / (c * c), max(0.0, 1.0 - win - loss), tied)
        bits[k] += narrowing(s_i / (c * c), s_j / (c * c), loss, lost)


@jit
def narrowing(one: float, other: float, probability: float, shrink: float) -> float:
    """Return the bits of an outcome that multiplies the variances by 1 - share shrink, times its probability."""
    return -0.5 * probability * (log2(1.0 - one * shrink) + log2(1.0 - other * shrink))
