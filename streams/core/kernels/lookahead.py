"""The next match: a fit of the pair counts with an effect per pair, and what one more judgment of each pair is worth.

`room` is a stack of square layers, one row and column per system, in which everything is computed: code that is loaded
without numba can't allocate memory. A layer of pairs holds a < b only, unless it is a matrix. `docs/matching.md` has
the formulas.
"""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import exp
from streams.core.kernels.normal import tail_and_density

SIGNATURES = {
    "linearise": "q2 q2 q2 d d1 d3 d2",
    "solve": "d1 d3 d2 -> d",
    "foresee": "?1 d d1 d3 d2",
    "weigh": "?1 d1 d3 d2",
    "gain": "?1 d3",
    "fit_and_look_ahead": "q2 q2 q2 ?1 d q d1 d3 d2",
}

LAYERS, VECTORS = 8, 4
# Layers of the fit: the effect and the information of each pair, its working response, and the abilities' covariance.
EFFECT, INFORMATION, RESPONSE, COVARIANCE = 0, 1, 2, 3
# Layers of the look-ahead take the place of those that are no longer needed.
OWN, SHARE, GAIN, SLOPES, MOVES, SPREADS, BOTH = 0, 1, 2, 4, 5, 6, 7
ABILITY, RIGHT, SCORE, RESIDUAL = 0, 1, 2, 3  # vectors
PAIR, SPREAD, MARGIN, EXCESS, STEEPNESS = 0, 1, 2, 3, 4  # fitted: two variances and the margin, and its last step

FIRST_FIT = (0.03, 0.25, 0.367, 0.0, 0.0)  # where every fit begins
LEAST_PAIR = 1e-5
LEAST = 1e-12  # probability
FARTHEST = 2.0  # step of one pair: a pair with one outcome must not run away
PAIR_WEIGHT, MARGIN_WEIGHT = 125.0, 50.0  # of the first values
NEAR = 1e-2  # the fit ends when no ability moves further


@jit
def outcomes(x: float, e: float) -> tuple[float, float, float, float, float]:
    """Return the probabilities of win, tie and loss, and the densities at both edges of the tie."""
    win, upper = tail_and_density(e - x)
    loss, lower = tail_and_density(e + x)
    win, loss = max(win, LEAST), max(loss, LEAST)
    return win, max(1.0 - win - loss, LEAST), loss, upper, lower


@jit
def linearise(wins: Any, ties: Any, asked: Any, c: float, fitted: Any, room: Any, vectors: Any) -> None:
    """Linearise the likelihood of each pair that met, and write down the equations of the abilities.

    A request without an answer counts with the information of a judgment, and does not move anything.
    """
    effect, information, response, precision = room[EFFECT], room[INFORMATION], room[RESPONSE], room[COVARIANCE]
    ability, right = vectors[ABILITY], vectors[RIGHT]
    size, e, pair = len(ability), float(fitted[MARGIN]), float(fitted[PAIR])
    for a in range(size):
        right[a] = 0.0
        for b in range(size):
            precision[a, b] = 0.0
        precision[a, a] = 1.0 / fitted[SPREAD]
    excess, steepness = 0.0, 0.0
    for a in range(size):
        for b in range(a + 1, size):
            won, tied, lost = float(wins[a, b]), float(ties[a, b]), float(wins[b, a])
            times = won + tied + lost
            expected = times + float(asked[a, b])
            if expected == 0.0:
                information[a, b] = 0.0
                continue
            eta = float(ability[a]) - float(ability[b]) + float(effect[a, b])
            win, tie, loss, upper, lower = outcomes(eta / c, e)
            inward = lower - upper
            slope = (won * upper / win - lost * lower / loss + tied * inward / tie) / c
            curve = expected * (upper * upper / win + lower * lower / loss + inward * inward / tie) / (c * c)
            excess += tied - times * tie
            steepness += times * (upper + lower)
            aim = eta + min(max(slope / max(curve, LEAST), -FARTHEST), FARTHEST)
            information[a, b], response[a, b] = curve, aim
            weight = curve / (1.0 + curve * pair)
            precision[a, a] += weight
            precision[b, b] += weight
            precision[a, b] -= weight
            precision[b, a] -= weight
            right[a] += weight * aim
            right[b] -= weight * aim
    fitted[EXCESS], fitted[STEEPNESS] = excess, steepness


@jit
def invert(matrix: Any) -> None:
    """Invert a positive definite matrix in place."""
    size = len(matrix)
    for k in range(size):
        pivot = 1.0 / float(matrix[k, k])
        matrix[k, k] = 1.0
        for j in range(size):
            matrix[k, j] *= pivot
        for i in range(size):
            if i != k:
                factor = float(matrix[i, k])
                matrix[i, k] = 0.0
                for j in range(size):
                    matrix[i, j] -= factor * matrix[k, j]


@jit
def multiply(left: Any, right: Any, product: Any) -> None:
    """Compute product = left right."""
    size = len(left)
    for i in range(size):
        for j in range(size):
            product[i, j] = 0.0
        for k in range(size):
            factor = float(left[i, k])
            for j in range(size):
                product[i, j] += factor * right[k, j]


@jit
def multiply_transposed(left: Any, right: Any, product: Any) -> None:
    """Compute product = left' right."""
    size = len(left)
    for i in range(size):
        for j in range(size):
            product[i, j] = 0.0
    for k in range(size):
        for i in range(size):
            factor = float(left[k, i])
            for j in range(size):
                product[i, j] += factor * right[k, j]


@jit
def solve(fitted: Any, room: Any, vectors: Any) -> float:
    """Solve for the abilities and the pair effects, and take one step of both variances and of the margin.

    Return how far the farthest ability moved.
    """
    effect, information, response, covariance = room[EFFECT], room[INFORMATION], room[RESPONSE], room[COVARIANCE]
    ability, right = vectors[ABILITY], vectors[RIGHT]
    size, pair = len(ability), float(fitted[PAIR])
    farthest, squares, trace = 0.0, 0.0, 0.0
    for a in range(size):
        total = 0.0
        for b in range(size):
            total += float(covariance[a, b]) * float(right[b])
        farthest = max(farthest, abs(total - float(ability[a])))
        ability[a] = total
        squares += total * total
        trace += float(covariance[a, a])
    misfit, freedom, slope = 0.0, 0.0, 0.0
    for a in range(size):
        for b in range(a + 1, size):
            curve = float(information[a, b])
            if curve > 0.0:
                weight = curve / (1.0 + curve * pair)
                rest = float(response[a, b]) - (float(ability[a]) - float(ability[b]))
                effect[a, b] = pair * weight * rest
                misfit += weight * rest * rest
                freedom += 1.0 - weight * (covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b])
                slope += weight * weight * rest * rest
    drift = misfit - freedom + PAIR_WEIGHT * (FIRST_FIT[PAIR] - pair)
    fitted[PAIR] = max(LEAST_PAIR, pair + drift / (slope + PAIR_WEIGHT))
    fitted[SPREAD] = (squares + trace + 1.0) / (size + 4.0)
    fitted[MARGIN] = max(0.0, fitted[MARGIN] + fitted[EXCESS] / (fitted[STEEPNESS] + MARGIN_WEIGHT))
    return farthest


@jit
def fit(wins: Any, ties: Any, asked: Any, c: float, steps: int, fitted: Any, room: Any, vectors: Any) -> int:
    """Fit abilities, pair effects, their variances and the margin. Return the number of steps."""
    for step in range(steps):
        linearise(wins, ties, asked, c, fitted, room, vectors)
        invert(room[COVARIANCE])
        if solve(fitted, room, vectors) < NEAR:
            return step + 1
    return steps


@jit
def foresee(candidates: Any, c: float, fitted: Any, room: Any, vectors: Any) -> None:
    """Compute the candidates' scores, and how they follow the abilities and each pair's own effect.

    A score is the mean probability to beat another candidate, without ties. The layer GAIN becomes the variance of a
    pair's difference beside the abilities, plus that of one judgment.
    """
    slopes, own, share, noise = room[SLOPES], room[OWN], room[SHARE], room[GAIN]
    effect, information = room[EFFECT], room[INFORMATION]
    ability, score, residual = vectors[ABILITY], vectors[SCORE], vectors[RESIDUAL]
    size, pair, e, others = len(ability), float(fitted[PAIR]), float(fitted[MARGIN]), -1.0
    for a in range(size):
        others += 1.0 if candidates[a] else 0.0
        score[a], residual[a] = 0.0, 0.0
        for b in range(size):
            slopes[a, b] = 0.0
    for a in range(size):
        for b in range(a + 1, size):
            if not (candidates[a] and candidates[b]):
                continue
            eta = float(ability[a]) - float(ability[b]) + float(effect[a, b])
            win, tie, loss, upper, lower = outcomes(eta / c, e)
            inward, decided = lower - upper, win + loss
            one = (upper * upper / win + lower * lower / loss + inward * inward / tie) / (c * c)
            kept = 1.0 / (1.0 + float(information[a, b]) * pair)
            slope = (upper * loss + lower * win) / (c * decided * decided * others)
            variance = pair * kept
            score[a] += win / (decided * others)
            score[b] += loss / (decided * others)
            residual[a] += slope * slope * variance
            residual[b] += slope * slope * variance
            own[a, b], share[a, b], noise[a, b] = slope * variance, kept, variance + 1.0 / max(one, LEAST)
            slopes[a, b] = slopes[b, a] = -slope * kept
            slopes[a, a] += slope * kept
            slopes[b, b] += slope * kept


@jit
def weigh(candidates: Any, fitted: Any, room: Any, vectors: Any) -> None:
    """Replace the slopes by the weight of each two candidates' order, as a Laplacian."""
    weights, own, share, spreads = room[SLOPES], room[OWN], room[SHARE], room[SPREADS]
    score, residual = vectors[SCORE], vectors[RESIDUAL]
    size, pair = len(score), float(fitted[PAIR])
    for a in range(size):
        weights[a, a] = 0.0
    for a in range(size):
        for b in range(a + 1, size):
            if not (candidates[a] and candidates[b]):
                continue
            both = float(own[a, b]) * float(own[a, b]) / (pair * float(share[a, b]))
            variance = float(spreads[a, a]) + float(spreads[b, b]) - 2.0 * float(spreads[a, b])
            variance = max(variance + float(residual[a]) + float(residual[b]) + 2.0 * both, LEAST)
            gap = float(score[a]) - float(score[b])
            weight = exp(-gap * gap / variance) / variance
            weights[a, b] = weights[b, a] = -weight
            weights[a, a] += weight
            weights[b, b] += weight


@jit
def gain(candidates: Any, room: Any) -> None:
    """Compute what one judgment of each two candidates is worth, on both sides of the layer GAIN."""
    own, share, gains, covariance = room[OWN], room[SHARE], room[GAIN], room[COVARIANCE]
    weights, mixed, both = room[SLOPES], room[SPREADS], room[BOTH]
    size = len(own)
    for a in range(size):
        gains[a, a] = 0.0
        for b in range(a + 1, size):
            worth = 0.0
            if candidates[a] and candidates[b]:
                k, v = float(share[a, b]), float(own[a, b])
                known = both[a, a] + both[b, b] - both[a, b] - both[b, a]
                cross = mixed[a, a] + mixed[b, b] - mixed[a, b] - mixed[b, a]
                apart = weights[a, a] + weights[b, b] - 2.0 * weights[a, b]
                variance = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
                worth = (k * k * known + 2.0 * k * v * cross + v * v * apart) / (k * k * variance + gains[a, b])
            gains[a, b] = gains[b, a] = worth


@jit
def look_ahead(candidates: Any, c: float, fitted: Any, room: Any, vectors: Any) -> None:
    """Compute the layer GAIN from a fit."""
    foresee(candidates, c, fitted, room, vectors)
    multiply(room[SLOPES], room[COVARIANCE], room[MOVES])
    multiply(room[MOVES], room[SLOPES], room[SPREADS])
    weigh(candidates, fitted, room, vectors)
    multiply(room[SLOPES], room[MOVES], room[SPREADS])
    multiply_transposed(room[MOVES], room[SPREADS], room[BOTH])
    gain(candidates, room)


@jit
def fit_and_look_ahead(
    wins: Any, ties: Any, asked: Any, candidates: Any, c: float, steps: int, fitted: Any, room: Any, vectors: Any
) -> None:
    """Compute the layer GAIN from counts. `room` and `vectors` are zeros."""
    fit(wins, ties, asked, c, steps, fitted, room, vectors)
    look_ahead(candidates, c, fitted, room, vectors)
