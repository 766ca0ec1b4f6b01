"""What is held out stays out, and what is drawn is what was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core.methods.rankings import Rankings
from streams.errors import ParameterError
from streams.formats import read
from streams.lab.protocols.drawing import (
    add_noise,
    draw_pairs,
    draw_rankings,
    find_judges,
    split_segments,
)
from tests.builders import judgment
from tests.data import real_log
from tests.lab.logs import rankings


def count_repeated(test: Rankings, training: Rankings) -> int:
    """Return how many rankings of a test set are also in the training set: same segment, judge, systems and ranks.

    The test file in some public copies of the WMT13 data is a part of its training file.
    """

    def keys(rankings: Rankings) -> list[tuple[object, ...]]:
        return [
            (
                rankings.segments[rankings.segment[k]],
                rankings.judges[rankings.judge[k]],
                frozenset(
                    zip(
                        (rankings.systems[i] for i in rankings.system[start:stop]),
                        rankings.rank[start:stop].tolist(),
                        strict=True,
                    )
                ),
            )
            for k, (start, stop) in enumerate(
                zip(rankings.starts[:-1].tolist(), rankings.starts[1:].tolist(), strict=True)
            )
        ]

    known = set(keys(training))
    return sum(one in known for one in keys(test))


def test_no_segment_is_on_two_sides_of_a_split() -> None:
    data = Rankings.of(rankings(400))
    testers = find_judges(data, "researcher*")
    split = split_segments(data, testers, np.random.default_rng(1), pairs=100)
    parts = [set(data.segment[rows].tolist()) for rows in (split.training, split.development, split.test)]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert set(data.judge[split.test].tolist()) | set(data.judge[split.development].tolist()) <= set(testers.tolist())
    assert set(data.judge[split.training].tolist()) - set(testers.tolist())
    for part in (split.test, split.development):
        assert 100 <= len(data.pairs_of(part)) < 200


def test_a_small_log_keeps_most_of_it_for_training() -> None:
    data = Rankings.of(rankings(60))
    split = split_segments(data, np.arange(len(data.judges)), np.random.default_rng(1))
    assert len(split.training) > len(data) / 2
    assert len(split.test) > 0 < len(split.development)


def test_a_log_that_leaves_nothing_to_test_on_is_refused() -> None:
    with pytest.raises(ParameterError, match="too few for a test set"):
        split_segments(Rankings.of([judgment()]), np.array([0]), np.random.default_rng(1))


def test_a_test_set_inside_the_training_set_is_found() -> None:
    log = rankings(50)
    turned = [
        judgment(
            900 + k, systems=one.systems[::-1], ranks=(one.ranks or ())[::-1], judge=one.judge, segment=one.segment
        )
        for k, one in enumerate(log[:7])
    ]
    other = [judgment(990, systems=log[9].systems, ranks=(1, 1, 1, 1), judge=log[9].judge, segment=log[9].segment)]
    assert count_repeated(Rankings.of(turned + other), Rankings.of(log)) == 7
    assert count_repeated(Rankings.of(log), Rankings.of(rankings(50, seed=1))) == 0


@pytest.mark.data
def test_rows_that_stand_twice_in_the_wmt13_log_do_not_leak_into_the_test_set() -> None:
    log = [entry.judgment for entry in read(real_log("wmt13_fr-en_rank.csv.gz"))]
    data = Rankings.of(log)
    split = split_segments(data, find_judges(data, "researcher*"), np.random.default_rng(3))
    test, training = (Rankings.of([log[k] for k in rows]) for rows in (split.test, split.training))
    assert 2000 <= len(test.pairs) < 2150
    assert count_repeated(test, training) == 0
    # By rankings alone they do: the log has rows twice.
    halves = np.random.default_rng(3).permutation(len(log))
    one, two = (Rankings.of([log[k] for k in rows]) for rows in np.array_split(halves, 2))
    assert count_repeated(one, two) > 10


def test_pairs_are_drawn_without_repeats() -> None:
    pairs = Rankings.of(rankings(30)).pairs
    all_of_them = draw_pairs(pairs, len(pairs), np.random.default_rng(1))
    assert sorted(all_of_them.segment.tolist()) == sorted(pairs.segment.tolist())
    with pytest.raises(ParameterError, match="181 pairs can't be drawn from 180"):
        draw_pairs(pairs, 181, np.random.default_rng(1))


def test_whole_rankings_are_drawn_whole() -> None:
    data = Rankings.of(rankings(30))
    some = draw_rankings(data.pairs, data.number, 14, np.random.default_rng(1))
    key = some.segment * 1000 + some.judge
    assert len(some) == 14
    assert len(np.unique(key)) <= 3


def test_a_share_of_the_judges_answers_at_random() -> None:
    pairs = Rankings.of(rankings(3000, noise=0.0)).pairs
    noisy = add_noise(pairs, 0.5, np.random.default_rng(1))
    changed = {judge for judge in range(9) if (noisy.outcome != pairs.outcome)[pairs.judge == judge].any()}
    assert len(changed) == 4
    rows = np.isin(pairs.judge, list(changed))
    np.testing.assert_allclose(np.bincount(noisy.outcome[rows]) / rows.sum(), 1 / 3, atol=0.02)
    np.testing.assert_array_equal(add_noise(pairs, 0.0, np.random.default_rng(1)).outcome, pairs.outcome)


def test_a_match_of_some_of_a_ranking_keeps_their_ranks() -> None:
    data = Rankings.of(rankings(20))
    batch = data.to_batch(np.array([3, 1]), ways=2, random=np.random.default_rng(1))
    assert batch.starts.tolist() == [0, 2, 4]
    for k, row in enumerate((3, 1)):
        ranks = dict(zip(data.system[4 * row : 4 * row + 4], data.rank[4 * row : 4 * row + 4], strict=True))
        for place in (2 * k, 2 * k + 1):
            assert ranks[batch.systems[place]] == batch.ranks[place]
    whole = data.to_batch(np.array([5]))
    assert whole.systems.tolist() == data.system[20:24].tolist()
