"""Changed verdicts in a campaign with boards by category: each board is that of the verdicts that are left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streams.core.campaign import categories
from streams.core.campaign.campaign import Campaign
from streams.wire.events import Judgment
from tests.builders import judgment
from tests.core.campaign.test_verdicts import CHANGES, changed, left, rated, rated_again, revoked, warm, with_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Command

BOARDS: Any = {"boards": ("language", "domain")}
TAGS = ({"language": "de", "domain": "news"}, {"language": "fr"}, None, {"language": "de"}, {"domain": "law"})


def tagged(log: Sequence[Judgment | Command]) -> list[Judgment | Command]:
    """Return a log with tags. A new verdict may have other tags than the one that it replaces."""
    return [
        replace(event, tags=TAGS[place % len(TAGS)]) if isinstance(event, Judgment) else event
        for place, event in enumerate(log)
    ]


def boards(campaign: Campaign) -> tuple[object, ...]:
    """Return the rows of each category, and the numbers of judgments that have none."""
    counts = campaign.categories
    assert counts is not None
    found = {(each.tag, each.value): number for number, each in enumerate(counts.names) if counts.rankings[number]}
    rows = {
        (board.category.tag, board.category.value): (board.rows, board.judgments, board.judges)
        for board in campaign.category_leaderboards()
        if board.category and (board.category.tag, board.category.value) in found
    }
    return rows, counts.without, counts.other


@given(CHANGES)
def test_each_board_is_that_of_the_verdicts_that_are_left(drawn: list[tuple[int, int, bool, list[int]]]) -> None:
    log = tagged([*warm(), *with_changes(drawn)])
    expected = rated([replace(each, replaces=None) for each in left(log)], **BOARDS)
    assert boards(rated_again(log, **BOARDS)) == boards(expected)


@given(CHANGES, st.integers(1, 20), st.sampled_from([5, 20_000]))
def test_batches_and_restarts_do_not_matter(
    drawn: list[tuple[int, int, bool, list[int]]], split: int, window: int
) -> None:
    log = tagged(with_changes(drawn))
    whole = rated(log, repeat_window=window, **BOARDS)
    assert boards(rated(log, split=split, repeat_window=window, **BOARDS)) == boards(whole)


@pytest.mark.parametrize("last", [revoked(1), changed(2, 1, judge="judge")])
def test_a_verdict_of_a_value_beyond_the_bound_is_taken_back(
    last: Judgment | Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(categories, "MAX_VALUES", 1)
    first = replace(judgment(0), tags={"language": "de"})
    log = [*warm(), first, replace(judgment(1), tags={"language": "fr"}), last]
    counts = rated(log, **BOARDS).categories
    assert counts is not None
    assert (counts.other, counts.rankings) == ([0, 0], [1])
