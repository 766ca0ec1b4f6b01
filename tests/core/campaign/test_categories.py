"""Counts by category: hand-computed boards, any split into batches, restoring, taking back, and the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import streams
from streams.core.campaign import categories
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.group_counts import MAX_GROUP_CELLS, has_same_counts
from streams.core.campaign.options import CampaignOptions
from streams.core.ranking.grouped_counts import GroupedCounts
from streams.core.ranking.settled import settle
from streams.wire.events import CampaignSettings, Create, Delete, ForgetJudge, Judgment, WithdrawSystem, encode
from streams.wire.scanner import Scanner
from tests.builders import NOON, crowd_log, judgment, stored_campaign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.state import CampaignChange
    from streams.wire.events import Leaderboard

VALUES = ({"language": "de", "domain": "news"}, {"language": "fr"}, None, {"domain": "law"}, {"language": "de"})


def tagged_log(count: int, **options: Any) -> list[Judgment]:
    return [
        replace(each, campaign="c", tags=VALUES[place % len(VALUES)])
        for place, each in enumerate(crowd_log(count, **options))
    ]


def begin(campaign_options: CampaignOptions | None = None, **settings: Any) -> Campaign:
    campaign = Campaign("c", options=campaign_options)
    options: dict[str, Any] = {"boards": ("language", "domain"), "outstanding": 0} | settings
    chosen = CampaignSettings(**options)
    assert not campaign.apply([0], [Create(id="x", campaign="c", at=NOON, settings=chosen)]).rejections
    return campaign


def apply(campaign: Campaign, log: Sequence[Judgment], sizes: int | None = None) -> Campaign:
    for start in range(0, len(log), sizes or len(log)):
        part = log[start : start + (sizes or len(log))]
        first = campaign.offset + 1
        assert not campaign.apply(range(first, first + len(part)), part).rejections
    return campaign


def boards(campaign: Campaign) -> dict[tuple[str, str], Leaderboard]:
    found = campaign.category_leaderboards()
    return {(board.category.tag, board.category.value): board for board in found if board.category}


def part(log: Sequence[Judgment], tag: str, value: str) -> list[Judgment]:
    return [each for each in log if (each.tags or {}).get(tag) == value]


def test_each_board_is_that_of_its_judgments_alone() -> None:
    log = tagged_log(400, ways=3)
    campaign = apply(begin(), log)
    found = boards(campaign)
    assert list(found) == [("domain", "law"), ("domain", "news"), ("language", "de"), ("language", "fr")]
    for (tag, value), board in found.items():
        own = part(log, tag, value)
        # The counts one by one, and the settled board of them, are computed elsewhere.
        assert board.rows == settle(GroupedCounts.of(own)).rows()
        assert (board.judgments, board.judges) == (len(own), len({each.judge for each in own}))
        assert (board.campaign, board.offset) == ("c", campaign.offset)
    counts = campaign.categories
    assert counts is not None
    assert (counts.without, counts.other) == ([160, 240], [0, 0])


def test_a_board_by_hand() -> None:
    # German: a beats b twice, and b beats a once. French: b beats a. One judgment has no language.
    log = [
        replace(judgment(1, ranks=(1, 2)), tags={"language": "de"}),
        replace(judgment(2, ranks=(1, 2)), tags={"language": "de"}),
        replace(judgment(3, ranks=(2, 1)), tags={"language": "de"}),
        replace(judgment(4, ranks=(2, 1)), tags={"language": "fr"}),
        judgment(5),
    ]
    found = boards(apply(begin(), log))
    german, french = found["language", "de"], found["language", "fr"]
    assert [(row.system, row.judgments) for row in german.rows] == [("a", 3), ("b", 3)]
    assert [(row.system, row.rank_low, row.rank_high) for row in french.rows] == [("b", 1, 2), ("a", 1, 2)]
    assert german.rows[0].score == pytest.approx(-german.rows[1].score)
    assert (german.judgments, french.judgments) == (3, 1)


@pytest.mark.parametrize("sizes", [1, 7, 150])
def test_any_split_into_batches_gives_the_same_state(sizes: int) -> None:
    log = tagged_log(300)
    once, split = apply(begin(), log), apply(begin(), log, sizes)
    assert boards(once) == boards(split)
    assert stored_rows(once) == stored_rows(split)


def stored_rows(campaign: Campaign) -> dict[str, bytes]:
    """Return all rows of the categories, as a store has them."""
    return campaign._state.drain_changes(())["categories"]


def test_scanned_judgments_without_tags_are_counted_as_such() -> None:
    log = [replace(each, campaign="c") for each in crowd_log(200)]
    columns = Scanner().scan(b"".join(encode(each) + b"\n" for each in log))
    assert columns is not None
    campaign = begin(systems=tuple(sorted({system for each in log for system in each.systems})))
    campaign.apply(range(1, 201), columns)
    assert campaign.categories is not None
    assert (campaign.counts.judgments, campaign.categories.without, boards(campaign)) == (200, [200, 200], {})


@pytest.mark.parametrize("cells", [MAX_GROUP_CELLS, 4000])
def test_a_restored_campaign_goes_on_as_if_nothing_had_happened(cells: int) -> None:
    # With few cells, groups are merged when more pairs meet: from 32 to 16 with the third pair, then to 8.
    options = CampaignOptions(max_group_cells=cells)
    log = tagged_log(300, ways=3)
    whole = apply(begin(options), log)
    expected = stored_rows(whole)
    changes: list[CampaignChange] = []
    campaign = begin(options)
    for start in range(0, 300, 60):
        result = campaign.apply(range(start + 1, start + 61), log[start : start + 60])
        changes.append(campaign.drain_changes(result, ()))
        campaign = Campaign.restore("c", stored_campaign(changes), options=options)
    assert boards(campaign) == boards(whole)
    assert campaign.categories is not None
    assert whole.categories is not None
    assert campaign.categories.versions == whole.categories.versions
    rows = stored_campaign(changes).tables["categories"]
    assert rows.keys() == expected.keys()
    # Rows that were stored before groups were merged have more groups.
    assert all(rows[key] == row or has_same_counts(rows[key], row) for key, row in expected.items())


def test_a_vote_that_is_taken_back_leaves_its_category() -> None:
    first = replace(judgment(1, ranks=(1, 2)), tags={"language": "de"})
    other = replace(judgment(3, segment="t"), tags={"language": "fr"})
    again = replace(judgment(2, ranks=(2, 1)), tags={"language": "fr"})
    campaign = begin(repeat_votes="last")
    changes = [campaign.drain_changes(campaign.apply([1, 2], [first, other]), ())]
    campaign = Campaign.restore("c", stored_campaign(changes))  # the categories of a vote are stored too
    apply(campaign, [again])
    found = boards(campaign)
    assert (found["language", "de"].judgments, found["language", "de"].rows) == (0, ())
    assert found["language", "fr"].rows == boards(apply(begin(), [other, again]))["language", "fr"].rows


def test_values_beyond_the_bound_are_counted_as_other_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories, "MAX_VALUES", 2)
    log = [replace(judgment(k), tags={"language": value}) for k, value in enumerate("abcacb")]
    campaign = apply(begin(), log, 4)
    assert campaign.categories is not None
    assert (list(boards(campaign)), campaign.categories.other) == ([("language", "a"), ("language", "b")], [2, 0])


def test_a_forgotten_judge_leaves_the_rows_and_their_judgments_stay() -> None:
    campaign = begin()
    log = [replace(judgment(1), tags={"language": "de"}), replace(judgment(2, judge="k"), tags={"language": "de"})]
    changes = [campaign.drain_changes(campaign.apply([1, 2], log), ())]
    before = boards(campaign)["language", "de"]
    forget = ForgetJudge(id="f", campaign="c", at=NOON, judge="k")
    changes.append(campaign.drain_changes(campaign.apply([3], [forget]), ()))
    stored = stored_campaign(changes)
    assert [key for key in stored.tables["categories"] if key.endswith(" k")] == []
    found = boards(Campaign.restore("c", stored))["language", "de"]
    assert (found.rows, found.judges) == (before.rows, 2)


def test_a_withdrawn_system_is_on_no_board() -> None:
    campaign = apply(begin(), tagged_log(100))
    campaign.apply([101], [WithdrawSystem(id="w", campaign="c", at=NOON, system="system-1")])
    assert all(row.system != "system-1" for board in boards(campaign).values() for row in board.rows)


def test_a_deleted_campaign_names_the_categories_that_are_gone() -> None:
    campaign = apply(begin(), tagged_log(10))
    result = campaign.apply([11], [Delete(id="d", campaign="c", at=NOON)])
    assert {(each.tag, each.value) for each in result.removed_categories} == {
        ("language", "de"),
        ("language", "fr"),
        ("domain", "news"),
        ("domain", "law"),
    }
    assert campaign.categories is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"boards": ("a", "a")}, "names one twice"),
        ({"boards": ("a=b",)}, "can't have leaderboards"),
        ({"boards": ("a",), "model": "grm"}, "has no leaderboards by category"),
        ({"boards": ("a",), "model": "trueskill-judges"}, "has no leaderboards by category"),
        ({"boards": ("a",), "model": "assessment"}, "has no leaderboards by category"),
    ],
)
def test_boards_that_are_impossible_are_refused(settings: dict[str, Any], message: str) -> None:
    create = Create(id="x", campaign="c", at=NOON, settings=CampaignSettings(**settings))
    (error,) = Campaign("c").apply([0], [create]).rejections.values()
    assert (error.reason, error.field) == ("refused_command", "settings.boards")
    assert message in str(error)


def test_a_log_gives_the_boards_of_the_campaign() -> None:
    log = tagged_log(300)
    campaign = Campaign("c", CampaignSettings(boards=("language",), outstanding=0))
    campaign.apply(range(len(log)), log)
    ranking = streams.rank(log, by="language")
    found = {value: board.rows for (_, value), board in boards(campaign).items()}
    # Offline the groups of judges come from their pseudonyms, which matter only for the ranges of other judges.
    for (_, value), board in ranking.category_leaderboards.items():
        assert [(row.system, row.score, row.rank_low, row.rank_high) for row in board.rows] == [
            (row.system, row.score, row.rank_low, row.rank_high) for row in found[value]
        ]


def test_a_reader_may_miss_the_row_of_a_value_that_comes_while_it_reads() -> None:
    log = tagged_log(100)
    campaign = begin()
    stored = stored_campaign([campaign.drain_changes(campaign.apply(range(1, 101), log), ())])
    whole = boards(Campaign.restore("c", stored))
    del stored.tables["categories"]['value ["language","fr"]']  # the third value
    part = boards(Campaign.restore("c", stored))
    assert part == {key: board for key, board in whole.items() if key[1] in ("de", "news")}
