"""Pair counts: by their definition, and as WMT13 published them."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core.ranking import PairCounts
from streams.crowd import WMT13_FR_EN, Competition
from tests.builders import crowd_log
from tests.data import WMT13_SYSTEMS, wmt13_counts


@pytest.mark.data
def test_wmt13_has_the_comparisons_that_were_published() -> None:
    counts = wmt13_counts()
    assert (counts.decided, counts.comparisons) == (80_741, 99_960)
    assert sorted(counts.systems) == sorted(WMT13_SYSTEMS)
    assert counts.judgments.sum() == 5 * 9996


@pytest.mark.data
def test_the_head_to_head_table_is_the_published_one() -> None:
    counts = wmt13_counts()
    order = [counts.systems.index(name) for name in WMT13_SYSTEMS]
    published = np.array(Competition.load(WMT13_FR_EN).win_rates, dtype=float)
    np.testing.assert_allclose(counts.head_to_head()[np.ix_(order, order)], published, atol=0.01)


def test_every_pair_of_a_ranking_counts_once() -> None:
    log = crowd_log(200, systems=6, ways=4)
    counts = PairCounts.of(log)
    for i, first in enumerate(counts.systems):
        assert counts.judgments[i] == sum(first in verdict.systems for verdict in log)
        for j, second in enumerate(counts.systems):
            met = [
                dict(zip(verdict.systems, verdict.ranks or (), strict=True))
                for verdict in log
                if i != j and {first, second} <= set(verdict.systems)
            ]
            assert counts.wins[i, j] == sum(ranks[first] < ranks[second] for ranks in met)
            assert counts.ties[i, j] == sum(ranks[first] == ranks[second] for ranks in met)
    assert counts.comparisons == 200 * 6


def test_the_order_of_a_log_does_not_matter() -> None:
    log = crowd_log(100, ways=3)
    forward, backward = PairCounts.of(log), PairCounts.of(reversed(log))
    assert forward.systems == backward.systems
    np.testing.assert_array_equal(forward.wins, backward.wins)
    np.testing.assert_array_equal(forward.ties, backward.ties)


def test_a_resample_has_as_many_comparisons_each_as_often_as_it_was_made_on_the_mean() -> None:
    counts = PairCounts.of(crowd_log(500, systems=5, ways=3))
    wins, ties = counts.resample(4000, np.random.default_rng(3))
    np.testing.assert_array_equal(wins.sum(axis=(1, 2)) + ties.sum(axis=(1, 2)) // 2, counts.comparisons)
    np.testing.assert_array_equal(ties, ties.transpose(0, 2, 1))
    for drawn, made in ((wins, counts.wins), (ties, counts.ties)):
        share = made / counts.comparisons
        deviation = np.sqrt(counts.comparisons * share * (1 - share))
        assert np.all(np.abs(drawn.mean(axis=0) - made) <= 5 * deviation / np.sqrt(4000))
        np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.1)


def test_resamples_do_not_depend_on_how_many_are_drawn_at_a_time() -> None:
    counts = PairCounts.of(crowd_log(100))
    random = np.random.default_rng(1)
    apart = np.concatenate([counts.resample(3, random)[0], counts.resample(4, random)[0]])
    np.testing.assert_array_equal(counts.resample(7, np.random.default_rng(1))[0], apart)


def test_no_judgments_give_no_counts() -> None:
    counts = PairCounts.of([])
    assert (counts.systems, counts.comparisons, counts.resample(2, np.random.default_rng(1))[0].shape) == (
        (),
        0,
        (2, 0, 0),
    )
