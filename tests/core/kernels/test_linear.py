"""Small linear equations are solved as LAPACK solves them."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core.kernels.linear import solve_positive


@pytest.mark.parametrize("size", [1, 2, 21])
def test_a_positive_definite_system_is_solved(size: int) -> None:
    random = np.random.default_rng(size)
    root, right = random.normal(size=(size, size)), random.normal(size=size)
    matrix = root @ root.T + 0.1 * np.eye(size)
    found = right.copy()
    solve_positive(np.triu(matrix), found)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-8)
