"""A campaign may limit how fast one judge judges: to let it pass, to flag it, or to refuse it."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

import pytest

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.state import JudgeRow, decode_row
from streams.wire import events
from tests.builders import NOON, judgment, stored_campaign, unzip
from tests.core.campaign.test_campaign import numbered

Action = Literal["accept", "flag", "reject"]


def limited(too_fast: Action = "reject") -> events.CampaignSettings:
    return events.CampaignSettings(judge_per_minute=2, too_fast=too_fast)


def at_seconds(*seconds: int, judge: str = "judge") -> list[events.Judgment]:
    return [judgment(1000 + k, judge=judge, at=NOON + timedelta(seconds=s)) for k, s in enumerate(seconds)]


def rejected(seconds: list[int]) -> list[int]:
    return sorted(Campaign("c", limited()).apply(*unzip(numbered(at_seconds(*seconds)))).rejections)


def test_a_third_judgment_in_a_minute_is_refused_and_the_next_minute_is_new() -> None:
    assert rejected([0, 1, 2, 59, 60, 61, 62]) == [2, 3, 6]


def test_an_older_judgment_counts_in_the_newest_minute() -> None:
    assert rejected([0, 60, 1, 2]) == [3]


def test_judges_do_not_share_a_limit() -> None:
    campaign = Campaign("c", limited())
    log = [*at_seconds(0, 1), *(judgment(k, judge=f"other-{k}") for k in range(5))]
    assert campaign.apply(*unzip(numbered(log))).rejections == {}


def test_the_refusal_names_the_judge_and_the_setting() -> None:
    (error,) = Campaign("c", limited()).apply(*unzip(numbered(at_seconds(0, 1, 2)))).rejections.values()
    assert (error.reason, error.field) == ("judge_too_fast", "judge")
    assert "`judge_per_minute`" in error.message


@pytest.mark.parametrize(("too_fast", "flagged"), [("accept", 0), ("flag", 2)])
def test_by_setting_it_counts_and_is_flagged_or_not(too_fast: Action, flagged: int) -> None:
    campaign = Campaign("c", limited(too_fast))
    change = campaign.drain_changes(campaign.apply(*unzip(numbered(at_seconds(0, 1, 2, 3)))), ())
    assert campaign.counts.judgments == 4
    assert decode_row(change.tables["judges"]["judge"], JudgeRow).flagged == flagged


def test_neither_batches_nor_restarts_matter() -> None:
    log = numbered(at_seconds(0, 1, 2, 60, 61, 62, 0))
    whole = Campaign("c", limited())
    expected = sorted(whole.apply(*unzip(log)).rejections)
    split, changes = Campaign("c", limited()), []
    found: list[int] = []
    for entry in log:
        applied = split.apply(*unzip([entry]))
        found += applied.rejections
        changes.append(split.drain_changes(applied, ()))
        split = Campaign.restore("c", stored_campaign(changes))
    assert found == expected == [2, 5, 6]
