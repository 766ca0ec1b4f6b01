"""The group counts of a campaign are those of its log, in any order, in any batches, and after a restart."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core import kernels
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.group_counts import GroupCounts, has_same_counts
from streams.core.campaign.options import CampaignOptions
from streams.core.ranking.grouped_counts import GroupedCounts
from streams.errors import StoreCorrupt, StoreOutdated
from streams.wire.events import CampaignSettings, Judgment
from tests.builders import crowd_log, judgment, judgments, stored_campaign

if TYPE_CHECKING:
    from collections.abc import Sequence

QUIET = CampaignSettings(outstanding=0)


def rated(log: Sequence[Judgment], *, size: int = 1000, options: CampaignOptions | None = None) -> Campaign:
    campaign = Campaign("c", QUIET, options=options)
    for first in range(0, len(log), size):
        campaign.apply(range(first, len(log))[:size], log[first : first + size])
    return campaign


def same(one: GroupedCounts, other: GroupedCounts) -> bool:
    return all(np.array_equal(value, getattr(other, name)) for name, value in vars(one).items())


@given(st.lists(judgments(), max_size=40, unique_by=lambda each: each.id), st.integers(1, 40))
def test_the_counts_are_those_of_the_log_one_by_one(log: list[Judgment], size: int) -> None:
    assert same(rated(log, size=size).tables.grouped_counts(), GroupedCounts.of(log))


@given(st.lists(judgments(), max_size=30, unique_by=lambda each: each.id), st.randoms(use_true_random=False))
def test_any_order_of_the_same_judgments_gives_the_same_board(log: list[Judgment], random: object) -> None:
    shuffled = list(log)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (rated(each, size=7).leaderboard() for each in (log, shuffled))
    assert msgspec.json.encode(one) == msgspec.json.encode(other)


def test_counts_in_fewer_groups_are_sums_of_neighbours_and_depend_on_the_pairs_alone() -> None:
    log = crowd_log(300, systems=7, ways=3)
    every = rated(log).tables
    assert (every.groups.groups, every.groups.pairs) == (32, 21)
    for groups, most in ((16, 21 * 6 * 16), (8, 21 * 6 * 8), (8, 1)):
        fewer = rated(log, size=9, options=CampaignOptions(max_group_cells=most)).tables
        assert fewer.groups.groups == groups
        assert same(fewer.grouped_counts(), GroupedCounts.of(log, groups=groups))


@pytest.mark.parametrize("size", [1, 13, 300])
def test_stored_rows_do_not_depend_on_the_batches_even_if_groups_were_merged(size: int) -> None:
    log, options = crowd_log(300, systems=7, ways=3), CampaignOptions(max_group_cells=12 * 6 * 32)
    campaign, changes = Campaign("c", QUIET, options=options), []
    for first in range(0, len(log), size):
        result = campaign.apply(range(first, len(log))[:size], log[first : first + size])
        changes.append(campaign.drain_changes(result, ()))
    whole = rated(log, options=options)
    tables = whole.drain_changes(whole.complete(whole.apply([], []), origin="", with_requests=False), ()).tables
    assert stored_campaign(changes).tables["pairs"] == tables["pairs"]
    restored = Campaign.restore("c", stored_campaign(changes), options=options)
    assert same(restored.tables.grouped_counts(), campaign.tables.grouped_counts())
    assert np.array_equal(restored.tables.wins[:7, :7], campaign.tables.wins[:7, :7])
    assert np.array_equal(restored.tables.ties[:7, :7], campaign.tables.ties[:7, :7])
    assert restored.leaderboard() == campaign.leaderboard()


@pytest.mark.parametrize("largest", [1, 255, 256, 65_535, 65_536, 2_000_000_000])
def test_a_packed_row_keeps_every_count(largest: int) -> None:
    counts = GroupCounts()
    counts._cells = np.zeros((1, 192), np.int32)
    counts._cells[0, [0, 5, 100, 191]] = largest, 1, 2, 3
    counts._slots[0, 1], counts.pairs = 0, 1
    pair = np.array([[0, 1]])
    (row,) = counts.dump_rows(pair)
    other = GroupCounts()
    other.load_rows(pair, [row])
    assert np.array_equal(other._cells, counts._cells)


def test_twenty_systems_that_all_met_take_at_most_150_kb_in_memory_and_in_redis() -> None:
    names = [f"system-{number:02}" for number in range(20)]
    log = [
        judgment(number, systems=pair, ranks=ranks, judge=f"judge-{number % 97}")
        for number, (pair, ranks) in enumerate(
            (pair, ranks) for _ in range(100) for ranks in ((1, 2), (1, 1), (2, 1)) for pair in combinations(names, 2)
        )
    ]
    campaign = Campaign("c", QUIET, options=CampaignOptions(seen_ids=10))
    change = campaign.drain_changes(campaign.apply(range(len(log)), log), ())
    assert campaign.tables.groups.pairs == 190
    assert campaign.tables.groups.nbytes <= 150_000
    assert sum(len(key) + len(row) for key, row in change.tables["pairs"].items()) <= 150_000


def test_a_batch_that_merges_groups_writes_only_the_pairs_that_it_names_and_a_restart_finds_the_same_counts() -> None:
    options = CampaignOptions(max_group_cells=10 * 6 * 32)  # ten pairs have 32 groups, and more have 16
    names = [f"system-{number}" for number in range(6)]
    log = [judgment(number, systems=pair) for number, pair in enumerate(combinations(names, 2))]
    campaign = Campaign("c", QUIET, options=options)
    changes = [campaign.drain_changes(campaign.apply([n], [each]), ()) for n, each in enumerate(log[:12])]
    assert campaign.tables.groups.groups == 16
    assert {len(change.tables["pairs"]) for change in changes} == {1}
    rows = stored_campaign(changes).tables["pairs"]
    assert {row[0] for row in rows.values()} == {32, 16}
    restored = Campaign.restore("c", stored_campaign(changes), options=options)
    assert same(restored.tables.grouped_counts(), campaign.tables.grouped_counts())
    at_once = Campaign("c", QUIET, options=options)
    whole = stored_campaign([at_once.drain_changes(at_once.apply(range(12), log[:12]), ())]).tables["pairs"]
    assert rows != whole
    assert all(has_same_counts(row, whole[pair]) for pair, row in rows.items())
    assert not has_same_counts(rows['["system-0","system-1"]'], rows['["system-0","system-2"]'])


def test_a_campaign_that_an_earlier_version_stored_without_groups_is_outdated() -> None:
    campaign = Campaign("c", QUIET)
    stored = stored_campaign([campaign.drain_changes(campaign.apply([0], [judgment()]), ())])
    old = {"pairs": {'["a","b"]': b'{"wins":1,"ties":0,"losses":0}'}}
    with pytest.raises(StoreOutdated, match="earlier version, without groups; a worker rates it again"):
        Campaign.restore("c", replace(stored, tables=stored.tables | old))
    for row in (b"", b"\x20", b"\x07\x01", b"\x20\x03" + bytes(24), b"\x20\x01" + bytes([128]) + bytes(23)):
        with pytest.raises(StoreCorrupt, match="a stored row is missing or can't be read") as error:
            Campaign.restore("c", replace(stored, tables=stored.tables | {"pairs": {'["a","b"]': row}}))
        assert not isinstance(error.value, StoreOutdated)


def test_plain_and_compiled_kernels_count_the_same() -> None:
    random = np.random.default_rng(3)
    systems = np.concatenate([random.choice(9, 3, replace=False) for _ in range(50)])
    ranks, starts = random.integers(1, 4, 150), np.arange(0, 151, 3)
    own, judge = random.integers(0, 32, (2, 50))
    found = []
    for functions in (kernels.plain("groups"), kernels.compiled("groups")):
        slots, cells = np.full((9, 9), -1, np.int32), np.zeros((36, 192), np.int32)
        pairs = functions.number_pairs(slots, systems, starts, 0)
        functions.count_groups(cells, slots, own, judge, systems, ranks, starts, 32)
        found.append((pairs, slots, cells))
    assert found[0][0] == found[1][0] == (found[0][1] >= 0).sum()
    assert np.array_equal(found[0][1], found[1][1])
    assert np.array_equal(found[0][2], found[1][2])
    assert found[0][2].sum() == 2 * 150


def test_a_vote_that_replaces_another_changes_the_board_and_leaves_no_trace_of_the_first() -> None:
    settings = CampaignSettings(outstanding=0, repeat_votes="last", systems=("a", "b", "c"))
    campaign = Campaign("c", settings)
    campaign.apply([0], [judgment(0, systems=("a", "b"), ranks=(1, 2))])
    assert campaign.leaderboard().rows[0].system == "a"
    campaign.apply([1], [judgment(1, systems=("a", "b"), ranks=(2, 1))])
    board = campaign.leaderboard()
    assert (board.judgments, board.rows[0].system) == (1, "b")
    assert same(
        campaign.tables.grouped_counts(),
        replace(
            GroupedCounts.of([judgment(1, systems=("a", "b"), ranks=(2, 1))]),
            systems=("a", "b", "c"),
            judgments=np.array([1, 1, 0]),
        ),
    )


def test_a_pair_whose_only_vote_was_taken_back_has_not_met() -> None:
    campaign = rated([judgment(0), judgment(1, systems=("b", "x"))])
    counts = campaign.tables.groups
    counts._cells[counts._slots[0, 1]] = 0
    assert campaign.tables.grouped_counts().first.tolist() == [1]
