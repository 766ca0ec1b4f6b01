"""The official WMT procedure, against the `trueskill` package and by its definition."""

from __future__ import annotations

from math import exp, modf
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest
import trueskill
from scipy import stats

from streams.core import kernels
from streams.core.methods.wmt import TIE, wmt_runs
from streams.core.ranking import PairCounts, rank_scores
from tests.builders import crowd_log, judgment

if TYPE_CHECKING:
    from streams.core.ranking.ranges import Floats, Ints

COUNTS = PairCounts.of(crowd_log(300, systems=6, ways=3))


@pytest.fixture(params=["plain", "compiled"])
def kernel(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = getattr(kernels, request.param)("wmt")
    return module


def by_the_package(counts: PairCounts, matches: int, beta: float, seed: list[int]) -> Floats:
    """Make the matches as the procedure is told, on the same random numbers."""
    state = np.array(seed)
    table = trueskill.TrueSkill(mu=0.0, sigma=0.5, beta=beta, tau=0.0, draw_probability=0.25)
    ratings = [table.create_rating() for _ in counts.systems]
    for _ in range(matches):
        # The package's variances differ in the last digits, so that equals are told by what they round to.
        first = max(range(len(ratings)), key=lambda i: (round(ratings[i].sigma, 11), i))
        others = [
            j for j in range(len(ratings)) if j != first and (counts.wins + counts.wins.T + counts.ties)[first, j]
        ]
        weights = np.array([exp(-abs(ratings[first].mu - ratings[j].mu)) for j in others])
        second = others[draw_by_weight(weights, state)]
        outcomes = (
            ["win"] * counts.wins[first, second]
            + ["tie"] * counts.ties[first, second]
            + ["loss"] * counts.wins[second, first]
        )
        outcome = outcomes[int(uniform(state) * len(outcomes))]
        winner, loser = (second, first) if outcome == "loss" else (first, second)
        ratings[winner], ratings[loser] = trueskill.rate_1vs1(
            ratings[winner], ratings[loser], drawn=outcome == "tie", env=table
        )
    return np.array([rating.mu for rating in ratings])


def uniform(state: Ints) -> float:
    drawn: int = kernels.plain("wmt").draw_word(state)
    return drawn / 2**32


def draw_by_weight(weights: Floats, state: Ints) -> int:
    """Propose one with equal probability and accept it with its weight. After eight tries, draw from the sum of all."""
    for _ in range(8):
        fraction, proposed = modf(uniform(state) * len(weights))
        if fraction < weights[int(proposed)]:
            return int(proposed)
    return int(np.searchsorted(np.cumsum(weights), uniform(state) * weights.sum(), side="right"))


def play(kernel: ModuleType, counts: PairCounts, matches: int, beta: float, seed: list[int]) -> tuple[Floats, Floats]:
    size = len(counts.systems)
    mean, variance = np.zeros(size), np.full(size, 0.25)
    meetings = counts.wins + counts.wins.T + counts.ties
    margin = TIE * np.sqrt(2) * beta
    known, opponents = np.empty((1, size)), np.empty((1, size, size + 1), np.int64)
    kernel.play_matches(
        mean[None],
        variance[None],
        counts.wins[None],
        meetings[None],
        matches,
        beta,
        margin,
        np.array([seed]),
        known,
        opponents,
    )
    return mean, variance


@pytest.mark.parametrize("beta", [0.1, 0.4, 3.0])
def test_a_run_equals_the_procedure_made_with_the_trueskill_package(kernel: ModuleType, beta: float) -> None:
    seed = [11, 22, 33, 44]
    mean, _ = play(kernel, COUNTS, 300, beta, seed)
    np.testing.assert_allclose(mean, by_the_package(COUNTS, 300, beta, seed), atol=1e-5)


def test_the_margin_is_that_of_one_draw_in_four() -> None:
    assert pytest.approx(stats.norm.ppf(0.625), abs=1e-15) == TIE


@pytest.mark.parametrize("beta", [0.05, 1.0])
def test_plain_and_compiled_runs_are_the_same_bits(beta: float) -> None:
    plain, compiled = (
        play(getattr(kernels, way)("wmt"), COUNTS, 800, beta, [5, 6, 7, 8]) for way in ("plain", "compiled")
    )
    for mine, its in zip(plain, compiled, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_random_numbers_are_those_of_other_implementations_of_sfc32(kernel: ModuleType) -> None:
    state = np.array([0, 12_345, 0, 1])  # the seed 12345, as others put it, who leave the first twelve out
    drawn = [kernel.draw_word(state) for _ in range(16)]
    assert drawn[12:] == [235_160_590, 2_967_261_163, 116_171_463, 2_882_324_903]


def test_random_numbers_are_uniform_and_independent_of_the_one_before() -> None:
    draw_word = kernels.compiled("wmt").draw_word
    state = np.random.default_rng(1).integers(2**32, size=4)
    drawn = np.array([draw_word(state) for _ in range(40_000)]) / 2**32
    assert drawn.min() >= 0
    assert drawn.max() < 1
    pairs, _, _ = np.histogram2d(drawn[:-1], drawn[1:], bins=16, range=[(0, 1), (0, 1)])
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-4
    assert np.all((state >= 0) & (state < 2**32))


def test_the_first_of_a_match_is_the_last_of_those_least_known(kernel: ModuleType) -> None:
    assert kernel.least_known(np.array([0.1, 0.3, 0.3, 0.2])) == 2
    assert kernel.least_known(np.array([0.1, -2.0, -2.0, 0.1])) == 3


@pytest.mark.parametrize(("tries", "nearest"), [(8, 0.1), (0, 0.1), (1, 800.0)])
def test_an_opponent_is_drawn_by_its_distance(monkeypatch: pytest.MonkeyPatch, tries: int, nearest: float) -> None:
    module = kernels.plain("wmt")
    monkeypatch.setattr(module, "TRIES", tries)
    # The worse one always wins, so that the variance of the opponent changes.
    log = [judgment(k, systems=("a", other), ranks=(1 + k % 2, 2 - k % 2)) for k, other in enumerate("bcde")]
    counts = PairCounts.of(log)
    further, runs = np.array([0.0, 0.6, 1.4, 2.9]), 3000
    mean = np.tile([0.0, *((nearest + further) * [1, -1, 1, -1])], (runs, 1))
    variance = np.tile([0.5, 0.25, 0.25, 0.25, 0.25], (runs, 1))
    wins = np.tile(counts.wins, (runs, 1, 1))
    state = np.random.default_rng(1).integers(2**32, size=(runs, 4))
    known, opponents = np.empty((runs, 5)), np.empty((runs, 5, 6), np.int64)
    module.play_matches(mean, variance, wins, wins + wins.transpose(0, 2, 1), 1, 3.0, 1.0, state, known, opponents)
    drawn = (variance[:, 1:] < 0.25).sum(axis=0)
    expected = np.exp(-further) / np.exp(-further).sum()
    assert stats.chisquare(drawn, runs * expected).pvalue > 1e-4


def test_systems_that_never_met_are_not_matched(kernel: ModuleType) -> None:
    log = [judgment(k, systems=pair, ranks=(1, 2)) for k in range(20) for pair in (("a", "b"), ("c", "d"))]
    counts = PairCounts.of([*log, judgment(99, systems=("e",), ranks=(1,))])
    mean, variance = play(kernel, counts, 200, 1.0, [1, 2, 3, 4])
    assert mean[0] > 0 > mean[1]
    assert mean[2] > 0 > mean[3]
    assert mean[0] == -mean[1]
    assert (mean[4], variance[4]) == (0.0, 0.25)


def test_a_system_far_off_everybody_ends_no_run_early(kernel: ModuleType) -> None:
    log = [judgment(k, systems=(one, "z"), ranks=(1, 2)) for k in range(40) for one in ("a", "b")]
    mean, _ = play(kernel, PairCounts.of(log), 2000, 0.05, [1, 2, 3, 4])
    assert np.all(np.isfinite(mean))
    assert mean[2] < min(mean[:2])


def test_a_run_is_as_long_and_as_noisy_as_the_procedure_says() -> None:
    seen: list[int] = []
    (mean,) = wmt_runs(COUNTS, runs=1, seed=4, resample=False, progress=seen.append)
    assert seen == [COUNTS.comparisons + 1]
    state = np.random.default_rng(np.random.SeedSequence(4, spawn_key=(0,))).integers(2**32, size=4)
    again, _ = play(kernels.plain("wmt"), COUNTS, COUNTS.comparisons + 1, 0.5 * COUNTS.comparisons / 40, state.tolist())
    np.testing.assert_array_equal(mean, again)


@pytest.mark.parametrize("resample", [True, False])
def test_neither_threads_nor_the_number_of_runs_change_a_run(resample: bool) -> None:
    alone = wmt_runs(COUNTS, runs=6, seed=3, resample=resample, threads=1)
    many = wmt_runs(COUNTS, runs=9, seed=3, resample=resample, threads=4)
    np.testing.assert_array_equal(alone, many[:6])
    assert len(np.unique(many[:, 0])) == 9


def test_resampling_adds_the_uncertainty_of_the_comparisons() -> None:
    deviations = [
        wmt_runs(COUNTS, runs=150, seed=1, resample=resample).std(axis=0).mean() for resample in (False, True)
    ]
    assert deviations[1] == pytest.approx(deviations[0] * np.sqrt(2), rel=0.2)


def test_systems_that_met_nobody_may_stand_anywhere_among_each_other() -> None:
    log = [judgment(k, systems=(name,), ranks=(1,)) for k, name in enumerate("abc")]
    counts = PairCounts.of(log)
    ranked = rank_scores("wmt", counts, runs=10)
    assert (ranked.best.tolist(), ranked.worst.tolist()) == ([1, 1, 1], [3, 3, 3])
    assert [row.cluster for row in ranked.rows(counts.systems, [1, 1, 1])] == [1, 1, 1]
