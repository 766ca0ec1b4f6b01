"""The delete-a-group jackknife: its two solvers agree, and its moves are those of fits without a group."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core.ranking import jackknife
from streams.core.ranking.fit import Fit, PairOutcomes, fit_pairs
from streams.core.ranking.jackknife import delete_groups
from tests.core.ranking.grouped import drawn


def inverted(fit: Fit) -> np.ndarray:
    return np.asarray(np.linalg.inv(fit.hessian), np.float64)


def prepared(systems: int, judgments: int) -> tuple[PairOutcomes, np.ndarray]:
    counts = drawn(systems, judgments)
    pairs = PairOutcomes(
        first=counts.first,
        second=counts.second,
        outcomes=counts.totals.astype(float),
        size=systems,
        precision=0.28,
    )
    return pairs, counts.by_judge


@pytest.mark.parametrize(("systems", "judgments"), [(2, 40), (12, 60), (12, 2000), (40, 300)])
def test_both_solvers_agree(systems: int, judgments: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, groups = prepared(systems, judgments)
    fit = fit_pairs(pairs)
    inverse = inverted(fit)
    direct = delete_groups(fit, pairs, groups, inverse)
    monkeypatch.setattr(jackknife, "MOST_SYSTEMS", 0)
    by_gradients = delete_groups(fit, pairs, groups, inverse)
    np.testing.assert_allclose(by_gradients.moves, direct.moves, atol=1e-6 * np.abs(direct.moves).max())


def test_both_solvers_agree_where_one_group_has_all_judgments_of_a_system(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, groups = prepared(12, 300)
    groups = groups.copy()
    own = (pairs.first == 3) | (pairs.second == 3)
    groups[own, 0] = groups[own].sum(axis=1)
    groups[own, 1:] = 0
    fit = fit_pairs(pairs)
    inverse = inverted(fit)
    direct = delete_groups(fit, pairs, groups, inverse)
    monkeypatch.setattr(jackknife, "MOST_SYSTEMS", 0)
    by_gradients = delete_groups(fit, pairs, groups, inverse)
    np.testing.assert_allclose(by_gradients.moves, direct.moves, atol=1e-6 * np.abs(direct.moves).max())


def test_a_move_is_nearly_that_of_a_fit_without_the_group() -> None:
    pairs, groups = prepared(6, 3000)
    fit = fit_pairs(pairs)
    found = delete_groups(fit, pairs, groups, inverted(fit))
    assert found.groups == groups.shape[1]
    for g in range(found.groups):
        rest = PairOutcomes(
            first=pairs.first,
            second=pairs.second,
            outcomes=pairs.outcomes - groups[:, g],
            size=pairs.size,
            precision=pairs.precision,
        )
        moved = fit.ability - fit_pairs(rest).ability
        np.testing.assert_allclose(found.moves[g], moved, atol=0.03 * np.abs(moved).max() + 1e-4)


def test_empty_groups_are_not_counted() -> None:
    pairs, groups = prepared(4, 5)
    fit = fit_pairs(pairs)
    found = delete_groups(fit, pairs, groups, inverted(fit))
    assert found.groups == 5


def test_one_group_tells_nothing() -> None:
    pairs, groups = prepared(4, 1)
    fit = fit_pairs(pairs)
    found = delete_groups(fit, pairs, groups, inverted(fit))
    assert found.groups == 1
    assert not found.covariance().any()
