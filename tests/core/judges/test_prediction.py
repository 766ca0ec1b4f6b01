"""The fit with weights by judge, against scipy, and residuals against a fit without the judge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from benchmarks.judge_attacks import simulate
from streams.core import kernels
from streams.core.judges.prediction import PRIOR, Predictor, capped_shares
from streams.core.judges.residuals import residuals


def test_the_probabilities_are_those_of_scipy_and_compiled_they_have_the_same_bits() -> None:
    gaps = np.linspace(-9.0, 9.0, 41)
    found, compiled = np.empty((41, 4)), np.empty((41, 4))
    kernels.plain("outcomes").predict(gaps, 0.4, found)
    kernels.by_numba("outcomes").predict(gaps, 0.4, compiled)
    assert np.allclose(found[:, 0], stats.norm.sf(0.4 - gaps), rtol=1e-13, atol=0)
    assert np.allclose(found[:, 1], stats.norm.sf(0.4 + gaps), rtol=1e-13, atol=0)
    assert np.allclose(found[:, 2:], stats.norm.pdf(np.stack([0.4 - gaps, 0.4 + gaps], axis=1)), rtol=1e-13, atol=0)
    assert found.tobytes() == compiled.tobytes()


def test_the_fit_is_the_mode_of_the_weighted_likelihood() -> None:
    votes = simulate("none", 0.0, 1, systems=5, judges=6, judgments=400).votes
    share = np.array([1.0, 0.5, 0.0, 0.25, 1.0, 0.1])
    fitted = Predictor(votes).fit(share)
    weight = votes.weight * share[votes.judge]

    def loss(ability: np.ndarray) -> float:
        gap = ability[votes.first] - ability[votes.second]
        win, lost = stats.norm.sf(fitted.margin - gap), stats.norm.sf(fitted.margin + gap)
        chance = np.choose(votes.outcome + 1, [lost, 1.0 - win - lost, win])
        return float(-(weight @ np.log(chance)) + 0.5 * (ability @ ability) / PRIOR**2)

    best = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).x
    assert fitted.ability == pytest.approx(best, abs=1e-5)
    assert weight @ fitted.tie == pytest.approx(weight @ (votes.outcome == 0) + 0.5, rel=0.01)


@pytest.mark.parametrize("units", [[500.0, *[1.0] * 99], [9.0, 8.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0], [3.0]])
def test_no_judge_has_more_than_their_share_of_the_fit(units: list[float]) -> None:
    weight = np.array(units) * capped_shares(np.array(units))
    largest = max(0.02, 2 / len(units))
    assert weight.max() <= largest * weight.sum() * (1 + 1e-9) or len(units) < 2
    assert (weight <= np.array(units)).all()
    if max(units) > largest * sum(units):
        assert weight.max() == pytest.approx(largest * weight.sum())


def test_the_residuals_are_those_of_a_fit_without_the_judge() -> None:
    votes = simulate("chosen", 0.2, 3, systems=5, judges=20, judgments=1500).votes
    share = capped_shares(votes.units)
    together = residuals(votes, Predictor(votes).fit(share), share, np.arange(20))
    for judge in range(4):
        others = np.where(np.arange(20) == judge, 0.0, share)
        alone = residuals(votes, Predictor(votes).fit(others), others, np.array([judge]))
        cells = together.cell_judge == judge
        assert together.favour.z[cells] == pytest.approx(alone.favour.z, rel=0.1, abs=0.3)
        assert together.position.z[judge] == pytest.approx(alone.position.z[0], rel=0.1, abs=0.3)
        assert together.agreement.z[judge] == pytest.approx(alone.agreement.z[0], rel=0.1, abs=0.3)


def test_the_residuals_of_honest_judges_are_standard_normal() -> None:
    votes = simulate("none", 0.0, 5, systems=6, judges=300, judgments=9000).votes
    share = capped_shares(votes.units)
    found = residuals(votes, Predictor(votes).fit(share), share, np.arange(300))
    for sums in (found.agreement, found.position, found.ties, found.favour, found.own_favour):
        assert np.mean(sums.z) == pytest.approx(0.0, abs=0.2)
        assert np.std(sums.z) == pytest.approx(1.0, abs=0.1)


def test_a_few_votes_against_a_heavy_favourite_are_not_as_rare_as_the_normal_distribution_says() -> None:
    votes = simulate("none", 0.0, 6, systems=4, judges=400, judgments=8000, spread=4.0).votes
    share = capped_shares(votes.units)
    found = residuals(votes, Predictor(votes).fit(share), share, np.arange(400)).agreement
    assert (found.z < -3.5).mean() > 0.002
    assert (found.excess(-1) > 3.5).mean() < 0.002
