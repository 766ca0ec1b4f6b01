"""What a comparison of a stored campaign with its log counts as a difference, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.judge_residuals import join_pages
from streams.core.campaign.state import StoredCampaign
from streams.rebuild.differences import ValueDifference, compare, compare_heads
from tests.builders import crowd_log, stored_campaign


def stored() -> StoredCampaign:
    campaign, log = Campaign("c"), crowd_log(30)
    return stored_campaign([campaign.drain_changes(campaign.apply(range(len(log)), log), ())])


def test_rows_of_judges_that_are_not_divided_into_pages_are_no_difference() -> None:
    campaign, log = Campaign("c"), crowd_log(300, systems=90)
    divided = stored_campaign([campaign.drain_changes(campaign.apply(range(len(log)), log), ())])
    joined = join_pages(divided.tables["residuals"])
    rows = {key: msgspec.msgpack.encode(row) if isinstance(row, list) else row for key, row in joined.items()}
    earlier = replace(divided, tables=divided.tables | {"residuals": rows})
    assert compare("c", earlier, divided) is None
    rows["judge judge-1"] = rows["judge judge-2"]
    found = compare("c", earlier, divided)
    assert found is not None
    assert found.tables["residuals"].different == 1


def test_a_row_of_a_judge_with_widths_that_do_not_exist_is_a_difference() -> None:
    campaign = stored()
    rows = campaign.tables["residuals"]
    damaged = {**rows, "judge judge-1": b"\1\3" + rows["judge judge-1"][2:]}
    found = compare("c", replace(campaign, tables=campaign.tables | {"residuals": damaged}), campaign)
    assert found is not None
    assert found.tables["residuals"].different > 0


def with_meta(campaign: StoredCampaign, **fields: object) -> StoredCampaign:
    return replace(campaign, meta=msgspec.json.encode(msgspec.json.decode(campaign.meta) | fields))


def test_an_earlier_layout_and_other_requests_are_no_difference() -> None:
    campaign = stored()
    assert compare("c", campaign, campaign) is None
    assert compare("c", with_meta(campaign, layout=1, outstanding=[]), campaign) is None


def test_an_offset_a_row_and_a_score_are_differences() -> None:
    campaign = stored()
    found = compare("c", with_meta(campaign, offset=7), campaign)
    assert found is not None
    assert (found.fields, found.tables) == ({"offset": ValueDifference(7, 29)}, {})
    rows = campaign.tables | {"judges": {}}
    found = compare("c", replace(campaign, tables=rows, scores={}), campaign)
    assert found is not None
    assert {name: table.missing for name, table in found.tables.items()} == {"judges": 7, "leaderboard": 8}


def test_a_record_that_was_rejected_and_would_be_forwarded_now_is_no_difference() -> None:
    head = {"offset": "9", "read": "9", "rejected": "3", "mark": "m"}
    assert compare_heads(head, head | {"rejected": "1", "forwarded": "2"}) == {}
    found = compare_heads(head, head | {"rejected": "1", "forwarded": "1"})
    assert {name: (each.stored, each.log) for name, each in found.items()} == {
        "rejected": ("3", "1"),
        "forwarded": ("0", "1"),
    }
