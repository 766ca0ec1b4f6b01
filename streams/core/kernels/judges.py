"""The residuals of judges: their votes minus what the other judges predict, with the moments of these sums."""

from __future__ import annotations

from typing import Any

from streams.compiler import inlined, jit

SIGNATURES = {"sum_residuals": "q1 q2 d1 d2 d2 d1 d2 q1 d2 d2 d2 q1 d2 q1 -> q"}

# The rows of `votes`. The last one is the column of `values` with what is predicted for these two systems.
FIRST, SECOND, OUTCOME, SHOWN = range(4)
# The rows of `values`. The last three are gradients, for the outcomes -1, 0 and 1.
EXPECTED, SLOPE, VARIANCE, SKEW, TIE, TIE_SLOPE, INFORMATION, GRADIENTS = range(8)
JUDGE_SUMS, CELL_SUMS, VECTORS = 9, 7, 9
# The rows of the vectors with a number for each system. The first one becomes the shift.
PULL, BY_AGREEMENT, BY_POSITION, BY_TIE, TOTAL, SPREAD, THIRD, SHARED, UNITS = range(9)
RARE = 1e-12


@jit
def sum_residuals(
    begins: Any,
    votes: Any,
    weights: Any,
    values: Any,
    covariance: Any,
    share: Any,
    by_judge: Any,
    met: Any,
    cells: Any,
    matrix: Any,
    vectors: Any,
    place: Any,
    steep: Any,
    cell_ends: Any,
) -> int:
    """Fill the sums of judges, and of the systems that each of them met. Return the number of the latter.

    The votes of judge k are those from begins[2 k] to begins[2 k + 1], with the share share[k] of their weight in the
    fit. A row of `by_judge` has total, variance and third moment of agreement, position and ties. A row of `cells` has
    them for a system, then again without what the judge's agreement explains, and the weight of the votes. `met` has
    the systems of these rows, and `cell_ends` where those of each judge end. The arrays `matrix`, `vectors`, `place`
    and `steep` are work space. Each value of `place` is -1 before and after.
    """
    filled = 0
    for k in range(len(cell_ends)):
        begin, end = begins[2 * k], begins[2 * k + 1]
        size = number_systems(votes, begin, end, place, met, filled)
        take_out(
            begin, end, votes, weights, values, covariance, share[k], met, filled, size, matrix, vectors, place, steep
        )
        sum_votes(begin, end, votes, weights, values, by_judge, k, cells, filled, size, matrix, vectors, place, steep)
        for i in range(filled, filled + size):
            place[met[i]] = -1
        filled += size
        cell_ends[k] = filled
    return filled


@inlined
def number_systems(votes: Any, begin: int, end: int, place: Any, met: Any, filled: int) -> int:
    """Fill `place` and `met` with the systems of some votes, in order. Return their number."""
    for row in range(begin, end):
        place[votes[FIRST, row]] = place[votes[SECOND, row]] = 0
    size = 0
    for system in range(len(place)):
        if place[system] == 0:
            place[system], met[filled + size] = size, system
            size += 1
    return size


@inlined
def clear(matrix: Any, rows: int, columns: int) -> None:
    """Fill the upper left part of a matrix with zeros."""
    for i in range(rows):
        for j in range(columns):
            matrix[i, j] = 0.0


@inlined
def add_pair(matrix: Any, i: int, j: int, weight: float) -> None:
    """Add weight (x_i - x_j)² to a quadratic form."""
    matrix[i, i] += weight
    matrix[j, j] += weight
    matrix[i, j] -= weight
    matrix[j, i] -= weight


@inlined
def add_difference(vectors: Any, row: int, i: int, j: int, value: float) -> None:
    """Add a value to i, and subtract it from j, in a row of the vectors."""
    vectors[row, i] += value
    vectors[row, j] -= value


@inlined
def take_out(
    begin: int,
    end: int,
    votes: Any,
    weights: Any,
    values: Any,
    covariance: Any,
    share: float,
    met: Any,
    filled: int,
    size: int,
    matrix: Any,
    vectors: Any,
    place: Any,
    steep: Any,
) -> None:
    """Take a judge's own votes out of the fit by one Newton step.

    With the covariance C of the systems that they met, the information H and the gradient s of their votes, the
    abilities change by (I - C H)^-1 C s. The matrix gets (I - C H)^-1 C after its first columns, then this change.
    """
    clear(steep, size, size)
    clear(vectors, VECTORS, size)
    for row in range(begin, end):
        i, j, weight = place[votes[FIRST, row]], place[votes[SECOND, row]], share * weights[row]
        shown, outcome = votes[SHOWN, row], votes[OUTCOME, row]
        add_pair(steep, i, j, weight * values[INFORMATION, shown])
        add_difference(vectors, PULL, i, j, weight * values[GRADIENTS + 1 + outcome, shown])
    for i in range(size):
        of = met[filled + i]
        matrix[i, 2 * size] = 0.0
        for j in range(size):
            product = 0.0
            for k in range(size):
                product += covariance[of, met[filled + k]] * steep[k, j]
            matrix[i, j] = (1.0 if i == j else 0.0) - product
            matrix[i, size + j] = covariance[of, met[filled + j]]
            matrix[i, 2 * size] += matrix[i, size + j] * vectors[PULL, j]
    eliminate(matrix, size, 2 * size + 1)


@inlined
def eliminate(matrix: Any, size: int, width: int) -> None:
    """Solve the equations in the rows of a matrix, by elimination with pivots. The solutions are its last columns."""
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, width):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        scale = 1.0 / (matrix[k, k] if matrix[k, k] != 0.0 else RARE)
        for j in range(k, width):
            matrix[k, j] *= scale
        for i in range(size):
            factor = matrix[i, k]
            if i != k and factor != 0.0:
                for j in range(k, width):
                    matrix[i, j] -= factor * matrix[k, j]


@inlined
def sum_votes(
    begin: int,
    end: int,
    votes: Any,
    weights: Any,
    values: Any,
    by_judge: Any,
    judge: int,
    cells: Any,
    filled: int,
    size: int,
    matrix: Any,
    vectors: Any,
    place: Any,
    steep: Any,
) -> None:
    """Fill the sums of a judge, and of the systems that they met."""
    clear(steep, size, size)
    own = by_judge[judge]
    for k in range(JUDGE_SUMS):
        own[k] = 0.0
    for row in range(begin, end):
        i, j, weight = place[votes[FIRST, row]], place[votes[SECOND, row]], weights[row]
        moved = matrix[i, 2 * size] - matrix[j, 2 * size]
        shown, outcome = votes[SHOWN, row], votes[OUTCOME, row]
        slope, tie, tie_slope = values[SLOPE, shown], values[TIE, shown], values[TIE_SLOPE, shown]
        expected = min(max(values[EXPECTED, shown] - slope * moved, -1.0), 1.0)
        residual, variance, skew = weight * (outcome - expected), weight * values[VARIANCE, shown], values[SKEW, shown]
        skew *= weight
        own[0] += residual * expected
        own[1] += variance * expected * expected
        own[2] += skew * expected * expected * expected
        own[3] += residual
        own[4] += variance
        own[5] += skew
        own[6] += weight * ((1.0 if outcome == 0 else 0.0) - tie + tie_slope * moved)
        own[7] += weight * tie * (1.0 - tie)
        own[8] += weight * tie * (1.0 - tie) * (1.0 - 2.0 * tie)
        add_pair(steep, i, j, weight * slope)
        add_difference(vectors, BY_AGREEMENT, i, j, weight * slope * expected)
        add_difference(vectors, BY_POSITION, i, j, weight * slope)
        add_difference(vectors, BY_TIE, i, j, weight * tie_slope)
        add_difference(vectors, TOTAL, i, j, residual)
        add_difference(vectors, THIRD, i, j, skew)
        add_difference(vectors, SHARED, i, j, variance * expected)
        for system in (i, j):
            vectors[SPREAD, system] += variance
            vectors[UNITS, system] += weight
    agreement, spread = own[0], own[1]
    own[1] += doubt(vectors, BY_AGREEMENT, matrix, size)
    own[4] += doubt(vectors, BY_POSITION, matrix, size)
    own[7] += doubt(vectors, BY_TIE, matrix, size)
    for i in range(size):
        cell = cells[filled + i]
        doubts = doubt(steep, i, matrix, size)
        shared, total = vectors[SHARED, i] / max(spread, RARE), vectors[TOTAL, i]
        left = max(vectors[SPREAD, i] - shared * shared * spread, 0.1 * vectors[SPREAD, i])
        cell[0], cell[1], cell[2] = total, vectors[SPREAD, i] + doubts, vectors[THIRD, i]
        cell[3], cell[4], cell[5] = total - shared * agreement, left + doubts, vectors[THIRD, i]
        cell[6] = vectors[UNITS, i]


@jit
def doubt(changes: Any, row: int, matrix: Any, size: int) -> float:
    """Return the variance that comes from the prediction, for a sum that changes by a row with each ability."""
    found = 0.0
    for i in range(size):
        product = 0.0
        for j in range(size):
            product += matrix[i, size + j] * changes[row, j]
        found += changes[row, i] * product
    return found
