"""The engines of rank ranges: what each ranks from, and that it does."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core.methods.base import Fitted
from streams.core.methods.elo import Elo
from streams.core.methods.pairs import Pairs
from streams.core.methods.rankings import Rankings
from streams.core.methods.win_shares import Bojar
from streams.core.ranking import ENGINES, GROUPS, PairCounts, PosteriorScores, engines, rank_rankings, rank_scores
from streams.errors import ParameterError
from tests.builders import crowd_log, judgment
from tests.data import WMT13_SYSTEMS, wmt13_counts

RATINGS = PosteriorScores(np.array([0.0, 1.0, 0.9, -3.0]), np.array([0.1, 0.1, 0.1, 0.1]))
COUNTS = PairCounts.of(crowd_log(600, systems=6))
SCORED = [name for name in ENGINES if name != GROUPS]  # by `rank_scores`


@pytest.mark.data
def test_the_bootstrap_of_wmt13_gives_the_published_ranges_up_to_one() -> None:
    counts = wmt13_counts()
    ranked = rank_scores("bootstrap", counts)
    rows = {row.system: row for row in ranked.rows(counts.systems, counts.judgments.tolist())}
    low = [1, 2, 2, 4, 4, 5, 7, 8, 9, 9, 10, 12, 13]
    high = [1, 3, 3, 5, 5, 6, 7, 8, 10, 11, 11, 12, 13]
    assert [row.system for row in rows.values()] == list(WMT13_SYSTEMS)
    for name, best, worst in zip(WMT13_SYSTEMS, low, high, strict=True):
        assert abs(rows[name].rank_low - best) <= 1
        assert abs(rows[name].rank_high - worst) <= 1


def test_posterior_ranges_are_those_of_the_exact_posterior() -> None:
    # b passes a with probability Phi(-gap / sqrt(2)): above 2.5 % the ranges overlap, below they do not.
    for gap, overlap in ((2.4, True), (3.2, False)):
        ranked = rank_scores("posterior", PosteriorScores(np.array([gap, 0.0]), np.ones(2)), runs=20_000)
        assert (ranked.best.tolist(), ranked.worst.tolist()) == (([1, 1], [2, 2]) if overlap else ([1, 2], [1, 2]))


def test_the_posterior_s_scores_are_the_model_s() -> None:
    ranked = rank_scores("posterior", RATINGS)
    assert ranked.score is RATINGS.mean
    assert ranked.deviation is RATINGS.deviation
    assert ranked.best.tolist() == [3, 1, 1, 4]


def test_a_bootstrap_s_deviation_is_the_score_s_standard_error() -> None:
    # One pair: Expected Wins is a share, whose standard error is sqrt(p (1 - p) / n).
    counts = PairCounts(
        systems=("a", "b"),
        wins=np.array([[0, 300], [100, 0]]),
        ties=np.zeros((2, 2), int),
        judgments=np.array([400] * 2),
    )
    ranked = rank_scores("bootstrap", counts, runs=4000)
    assert ranked.score.tolist() == [0.75, 0.25]
    assert ranked.deviation[0] == pytest.approx(np.sqrt(0.75 * 0.25 / 400), rel=0.05)


def test_a_bootstrap_in_small_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rank_scores("bootstrap", COUNTS, runs=50)
    monkeypatch.setattr(engines, "BLOCK", 36 * 7)
    blocks = rank_scores("bootstrap", COUNTS, runs=50)
    np.testing.assert_array_equal(whole.deviation, blocks.deviation)
    np.testing.assert_array_equal(whole.worst, blocks.worst)


@pytest.mark.parametrize("engine", [name for name in SCORED if name != "closed"])
def test_the_seed_decides(engine: str) -> None:
    evidence = RATINGS if ENGINES[engine] == "ratings" else COUNTS
    first, again, other = (rank_scores(engine, evidence, runs=8, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.best, again.best)
    np.testing.assert_array_equal(first.deviation, again.deviation)
    assert engine == "posterior" or not np.array_equal(first.deviation, other.deviation)


@pytest.mark.parametrize("engine", SCORED)
def test_every_engine_finds_systems_that_are_far_apart(engine: str) -> None:
    evidence = PosteriorScores(np.array([3.0, 2.0, 1.0]), np.full(3, 0.1))
    counts = PairCounts(
        systems=("a", "b", "c"),
        wins=np.array([[0, 300, 380], [100, 0, 300], [20, 100, 0]]),
        ties=np.zeros((3, 3), int),
        judgments=np.array([800] * 3),
    )
    ranked = rank_scores(engine, evidence if ENGINES[engine] == "ratings" else counts, runs=100)
    assert [row.cluster for row in ranked.rows(("a", "b", "c"), [1, 1, 1])] == [1, 2, 3]
    assert ranked.best.tolist() == ranked.worst.tolist() == [1, 2, 3]


def test_an_unknown_engine_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(ParameterError, match=r"no ranges 'bootstap'; did you mean 'bootstrap'\?"):
        rank_scores("bootstap", COUNTS)


@pytest.mark.parametrize("engine", SCORED)
def test_an_engine_says_what_it_ranks_from(engine: str) -> None:
    with pytest.raises(ParameterError, match=f"ranges '{engine}' are computed from {ENGINES[engine]}"):
        rank_scores(engine, COUNTS if ENGINES[engine] == "ratings" else RATINGS)


def test_a_bootstrap_of_rankings_spreads_like_one_of_pair_counts() -> None:
    log = crowd_log(600, systems=4)
    rankings, counts = Rankings.of(log), PairCounts.of(log)
    whole = rank_rankings(Bojar(), rankings, engine="bootstrap", runs=300)
    counted = rank_scores("bootstrap", counts, method=Bojar(), runs=300)
    np.testing.assert_array_equal(whole.score, counted.score)
    np.testing.assert_allclose(whole.deviation, counted.deviation, rtol=0.25)
    np.testing.assert_allclose(whole.best, counted.best, atol=1)


def test_a_bootstrap_of_rankings_keeps_the_order_of_the_log() -> None:
    # Each segment is one place in the log; a method that saw them out of order would see falling numbers.
    seen: list[bool] = []

    class Watching(Elo, frozen=True):
        def fit(self, training: Pairs) -> Fitted:
            seen.append(bool((np.diff(training.segment) >= 0).all()))
            return super().fit(training)

    log = [judgment(k, segment=f"{k:04}", ranks=(1 + k % 2, 2 - k % 2)) for k in range(50)]
    rank_rankings(Watching(), Rankings.of(log), engine="bootstrap", runs=5)
    assert seen == [True] * 6


def test_a_ranking_may_be_selected_twice() -> None:
    rankings = Rankings.of(crowd_log(20, systems=5, ways=3))
    twice = rankings.select(np.array([4, 4, 2]))
    assert len(twice) == 3
    assert twice.pairs.a.tolist() == np.concatenate([rankings.pairs_of(np.array([k])).a for k in (4, 4, 2)]).tolist()


def test_progress_counts_every_run() -> None:
    done: list[int] = []
    rank_scores("bootstrap", COUNTS, runs=50, progress=done.append)
    assert sum(done) == 50
    assert len(done) >= 10
