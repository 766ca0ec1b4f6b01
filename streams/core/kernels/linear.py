"""Linear equations of a few systems. LAPACK would spend more time on being called than on solving them."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit


@jit
def solve_positive(matrix: Any, vector: Any) -> None:
    """Solve with a positive definite matrix: the vector becomes the solution, and the matrix is used up.

    Only the upper triangle of the matrix is read.
    """
    size = len(vector)
    for k in range(size):
        for i in range(k + 1, size):
            factor = float(matrix[k, i]) / float(matrix[k, k])
            for j in range(i, size):
                matrix[i, j] -= factor * matrix[k, j]
            vector[i] -= factor * vector[k]
    for k in range(size - 1, -1, -1):
        total = float(vector[k])
        for j in range(k + 1, size):
            total -= matrix[k, j] * vector[j]
        vector[k] = total / float(matrix[k, k])
