"""Segments are stored as a row per name, written once, and pages with what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.segment_pages import PAGE, SegmentRow, decode_segments, encode_names, encode_pages
from streams.core.campaign.state import encode_row
from streams.core.models import create
from tests.builders import judgment, stored_campaign, unzip

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignChange


def judged(campaign: Campaign, first: int, segments: list[int]) -> CampaignChange:
    log = [judgment(first + k, segment=f"s-{number}") for k, number in enumerate(segments)]
    return campaign.drain_changes(campaign.apply(*unzip(list(enumerate(log, first)))), ())


@given(st.lists(st.integers(0, 2**33), min_size=1, max_size=5 * PAGE))
def test_counts_of_any_size_come_back(counts: list[int]) -> None:
    names = [f"s-{number}" for number in range(len(counts))]
    pages = encode_pages(range(-(-len(counts) // PAGE)), np.array(counts, np.int64), create("trueskill", {}))
    found = decode_segments(encode_names(names, 0), pages)
    assert [found[name].judgments for name in names] == counts
    assert [found[name].index for name in names] == list(range(len(counts)))


def test_every_index_comes_back() -> None:
    names = [f"s-{number}" for number in range(70_000)]
    pages = encode_pages(range(-(-len(names) // PAGE)), np.zeros(len(names), np.int64), create("trueskill", {}))
    found = decode_segments(encode_names(names, 0), pages)
    assert [found[name].index for name in names] == list(range(len(names)))


def test_a_name_is_written_once_and_only_its_page_again() -> None:
    campaign = Campaign("c")
    first = judged(campaign, 0, list(range(2 * PAGE)))
    assert (len(first.tables["segments"]), [*first.tables["segment_pages"]]) == (2 * PAGE, ["0", "1"])
    second = judged(campaign, 2 * PAGE, [PAGE + 3])
    assert (second.tables["segments"], [*second.tables["segment_pages"]]) == ({}, ["1"])
    stored = stored_campaign([first, second])
    restored = Campaign.restore("c", stored)
    assert restored.tables.segments.names == campaign.tables.segments.names
    assert restored.tables.segment_judgments[: 2 * PAGE].tolist() == [1] * (PAGE + 3) + [2] + [1] * (PAGE - 4)
    assert judged(restored, 2 * PAGE + 1, [0, 999]).tables["segments"].keys() == {"s-999"}


@pytest.mark.parametrize("encoded", [encode_row, msgspec.json.encode])
def test_rows_of_an_earlier_layout_count_until_their_page_is_written(encoded: object) -> None:
    rows = [SegmentRow(index=number, judgments=7) for number in range(PAGE + 1)]
    old = {f"s-{row.index}": encoded(row) for row in rows}  # type: ignore[operator]
    if encoded is not encode_row:
        old = {name: b'{"index":%d,"judgments":7,"state":[]}' % int(name[2:]) for name in old}
    pages = encode_pages([1], np.full(PAGE + 1, 8), create("trueskill", {}))
    found = decode_segments(old, pages)
    assert [found[f"s-{number}"].judgments for number in (0, PAGE - 1, PAGE)] == [7, 7, 8]


def test_a_model_has_its_own_floats_in_the_pages() -> None:
    model = create("grm", {})
    model.grow(2, 1, PAGE + 2)
    state = (0.25, 1.5, -3.0, 4.0)
    model.load_row("segments", PAGE + 1, state)
    pages = encode_pages([0, 1], np.zeros(PAGE + 2, np.int64), model)
    found = decode_segments(encode_names([f"s-{number}" for number in range(PAGE + 2)], 0), pages)
    assert found[f"s-{PAGE + 1}"].state == state


@pytest.mark.parametrize("row", [b"", b"\x01", b"\x21\x01", b"\x02\x03abcdef", b"\x02\x01a"])
def test_a_page_that_cannot_be_read_is_an_error(row: bytes) -> None:
    with pytest.raises(ValueError, match=r"page|buffer|size"):
        decode_segments({"s": b"0"}, {"0": row})


def test_a_name_without_its_page_is_an_error() -> None:
    with pytest.raises(KeyError):
        decode_segments({"s": b"0"}, {})
