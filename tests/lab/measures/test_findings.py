"""The measures of the WMT13 findings, against their definitions counted out and against Table 9."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from streams.errors import ParameterError
from streams.lab.measures.delta_avg import delta_avg, delta_avg_of
from streams.lab.measures.rates import rates
from streams.lab.measures.segment_tau import SegmentTau, segment_tau
from tests.core.methods.outcomes import drawn

# Table 9: observations with their bound, percent understandable with its bound, best and worst rank.
TABLE_9 = (
    (274, 31, 80.3, 4.8, 1, 1),
    (348, 34, 51.7, 5.1, 2, 6),
    (332, 33, 51.5, 5.4, 2, 6),
    (337, 34, 50.7, 5.3, 2, 6),
    (341, 35, 50.7, 5.2, 2, 6),
    (350, 34, 48.0, 5.3, 2, 7),
    (358, 36, 43.6, 5.2, 6, 10),
    (316, 34, 41.5, 5.5, 6, 11),
    (338, 34, 39.4, 5.2, 7, 12),
    (346, 36, 38.4, 5.2, 8, 12),
    (394, 40, 38.1, 4.8, 8, 12),
    (348, 32, 34.2, 5.1, 10, 12),
)


def counted_out(values: list[float]) -> float:
    """Work DeltaAvg out as the findings define it, with the quantiles as lists."""
    whole, found = sum(values) / len(values), []
    for n in range(2, len(values) // 2 + 1):
        size = len(values) // n
        quantiles = [values[k * size : (k + 1) * size] for k in range(n - 1)] + [values[(n - 1) * size :]]
        heads = [[value for quantile in quantiles[:k] for value in quantile] for k in range(1, n)]
        found.append(sum(sum(head) / len(head) for head in heads) / (n - 1) - whole)
    return sum(found) / len(found)


@given(st.lists(st.integers(0, 100), min_size=4, max_size=30), st.randoms())
def test_delta_avg_is_what_its_definition_counts_out(values: list[int], random: object) -> None:
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    hypothesis = np.empty(len(values))
    hypothesis[order] = np.arange(len(values), 0, -1)
    found = delta_avg(hypothesis, np.array(values, np.float64))
    assert found == pytest.approx(counted_out([float(values[k]) for k in order]), abs=1e-9)


def test_delta_avg_is_worked_out_by_hand() -> None:
    # Halves: 9 against a mean of 5. Thirds: 9 and 7.5. The last quantile of 7 entries takes the rest.
    values = np.array([10.0, 8.0, 7.0, 5.0, 2.0, -2.0])
    assert delta_avg_of(values, 2) == pytest.approx(25 / 3 - 5)
    assert delta_avg_of(values, 3) == pytest.approx((9 + 7.5) / 2 - 5)
    assert delta_avg(values, values) == pytest.approx((25 / 3 + 8.25) / 2 - 5)
    assert delta_avg_of(np.append(values, 5.0), 3) == pytest.approx((9 + 7.5) / 2 - 5)


def test_delta_avg_of_no_ranking_is_zero_and_of_the_best_one_is_the_most() -> None:
    values = np.random.default_rng(0).normal(size=40)
    assert delta_avg(values, np.ones(40)) == pytest.approx(0.0)
    assert delta_avg(values, values) > delta_avg(np.arange(40.0), values) > delta_avg(-values, values)


@pytest.mark.parametrize("count", [0, 3])
def test_delta_avg_needs_two_quantiles_of_two(count: int) -> None:
    with pytest.raises(ParameterError, match="four or more"):
        delta_avg(np.ones(count), np.ones(count))
    with pytest.raises(ParameterError, match="`quantiles` is 9"):
        delta_avg_of(np.ones(4), 9)


@pytest.mark.parametrize("seed", range(3))
def test_the_tau_of_segments_is_counted_out(seed: int) -> None:
    pairs = drawn(400, seed=seed, segments=9)
    scores = np.random.default_rng(seed).integers(0, 4, size=(9, 5)).astype(float)
    concordant = discordant = tied = 0
    for a, b, outcome, segment in zip(pairs.a, pairs.b, pairs.outcome, pairs.segment, strict=True):
        if outcome == 1:
            continue
        better, worse = (a, b) if outcome == 0 else (b, a)
        gap = scores[segment, better] - scores[segment, worse]
        concordant, discordant, tied = concordant + (gap > 0), discordant + (gap < 0), tied + (gap == 0)
    found = segment_tau(scores, pairs)
    assert (found.concordant, found.discordant, found.tied) == (concordant, discordant, tied)
    assert found.penalised == pytest.approx((concordant - discordant - tied) / (concordant + discordant + tied))
    assert found.ignored == pytest.approx((concordant - discordant) / (concordant + discordant))


def test_without_ties_both_taus_are_kendall_s_own() -> None:
    human, scores = np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.array([0.3, 0.2, 0.1, 0.4, 0.9])
    counts = [np.sign((human[i] - human[j]) * (scores[i] - scores[j])) for i, j in combinations(range(5), 2)]
    found = SegmentTau(concordant=counts.count(1), discordant=counts.count(-1), tied=0)
    assert found.penalised == found.ignored == pytest.approx(stats.kendalltau(human, scores).statistic)


def test_to_propose_ties_alone_is_as_bad_as_can_be_or_nothing() -> None:
    found = segment_tau(np.zeros((60, 5)), drawn(100))
    assert found.penalised == -1.0
    assert np.isnan(found.ignored)
    assert found.decisions == 0


def table_9() -> tuple[np.ndarray, np.ndarray]:
    counts = np.array([row[0] for row in TABLE_9])
    good = [np.arange(count) < round(count * row[2] / 100) for count, row in zip(counts, TABLE_9, strict=True)]
    return np.repeat(np.arange(12), counts), np.concatenate(good).astype(np.int64)


def test_the_bounds_and_rank_ranges_of_table_9_come_out() -> None:
    system, good = table_9()
    found = rates(system, good, systems=12, runs=20_000)  # enough for any random stream
    assert len(system) == 4082
    assert 100 * found.overall == pytest.approx(46.7, abs=0.1)
    assert 100 * found.overall_bound == pytest.approx(1.6, abs=0.15)
    for k, (count, count_bound, rate, bound, best, worst) in enumerate(TABLE_9):
        assert found.counted[k] == count
        assert found.counted_bound[k] == pytest.approx(count_bound, abs=4)
        assert 100 * found.rate[k] == pytest.approx(rate, abs=0.15)
        assert 100 * found.bound[k] == pytest.approx(bound, abs=0.4)
        assert abs(found.best[k] - best) <= 1
        assert abs(found.worst[k] - worst) <= 1


def test_a_resample_of_counts_is_a_resample_of_rows() -> None:
    system, good = table_9()
    random = np.random.default_rng(5)
    shares = []
    for _ in range(400):
        rows = random.integers(len(system), size=len(system))
        shares.append(np.bincount(system[rows], good[rows], 12) / np.bincount(system[rows], minlength=12))
    low, high = np.percentile(shares, [2.5, 97.5], axis=0)
    np.testing.assert_allclose(rates(system, good, systems=12, runs=4000).bound, (high - low) / 2, atol=0.008)


def test_rates_of_a_system_without_observations_are_refused() -> None:
    with pytest.raises(ParameterError, match="no observation"):
        rates(np.array([0, 2]), np.array([1, 1]), systems=3)
    with pytest.raises(ParameterError, match="must be from 0 to 1"):
        rates(np.array([0, 2]), np.array([1, 1]), systems=2)
    with pytest.raises(ParameterError, match="one of each"):
        rates(np.array([0, 2]), np.array([1]), systems=3)
