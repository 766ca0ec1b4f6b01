"""A campaign has a limited number of judges and segments. What is beyond the limits is rejected, or counted as one."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.names import OTHERS
from streams.core.campaign.options import CampaignOptions
from streams.reports.views import campaign_view, segment_views
from streams.wire import events
from streams.wire.events import CampaignSettings, Judgment
from tests.builders import NOON, crowd_log, judgment, stored_campaign

LIMITED = CampaignOptions(max_judges=3, max_segments=4)
GRM = CampaignSettings(model="grm", outstanding=0)
BASELINE = CampaignSettings(model="grm", baseline="system-0", outstanding=0)
SCORES = CampaignSettings(model="assessment", outstanding=0)


def arena(count: int, *, scores: bool = False) -> list[Judgment]:
    """Return a log in which every judgment has a segment of its own."""
    log = crowd_log(count, systems=4)
    if scores:
        return [
            judgment(k, systems=each.systems[:1], ranks=None, score=7.0 * k % 100, judge=each.judge, segment=f"new-{k}")
            for k, each in enumerate(log)
        ]
    return [
        judgment(k, systems=(*each.systems[:1], "system-0"), ranks=each.ranks, judge=each.judge, segment=f"new-{k}")
        for k, each in enumerate(log)
        if "system-0" not in each.systems[:1]
    ]


def rated(log: list[Judgment], settings: CampaignSettings, *, most: int | None, size: int = 7) -> Campaign:
    campaign = Campaign("c", settings, options=CampaignOptions(max_segments=most))
    for start in range(0, len(log), size):
        campaign.apply(range(start, min(start + size, len(log))), log[start : start + size])
    return campaign


def test_a_judgment_of_one_judge_too_many_is_rejected_and_the_known_judges_go_on() -> None:
    campaign = Campaign("c", options=LIMITED)
    log = [judgment(number, judge=f"judge-{number % 5}") for number in range(10)]
    result = campaign.apply(range(10), log)
    assert {offset: error.reason for offset, error in result.rejections.items()} == dict.fromkeys(
        (3, 4, 8, 9), "too_many_judges"
    )
    assert "`max_judges`" in str(result.rejections[3])
    assert campaign.tables.judges.names == ["judge-0", "judge-1", "judge-2"]
    assert (campaign.counts.judgments, campaign.counts.rejected) == (6, 4)


def test_segments_beyond_the_limit_are_counted_as_one() -> None:
    campaign = Campaign("c", options=LIMITED)
    result = campaign.apply(range(10), [judgment(number, segment=f"s-{number}") for number in range(10)])
    change = campaign.drain_changes(result, ())
    assert result.applied == campaign.counts.judgments == 10
    assert list(change.tables["segments"]) == ["s-0", "s-1", "s-2", "s-3", OTHERS]
    assert campaign.tables.segment_judgments[:5].tolist() == [1, 1, 1, 1, 6]
    assert campaign_view(campaign).segments == len(segment_views(campaign)) == 4


def test_a_raised_limit_keeps_segments_from_then_on_and_a_lowered_one_keeps_those_it_has() -> None:
    first = Campaign("c", options=LIMITED)
    log = [judgment(number, segment=f"s-{number}") for number in range(30)]
    stored = stored_campaign([first.drain_changes(first.apply(range(10), log[:10]), ())])
    raised = Campaign.restore("c", stored, options=replace(LIMITED, max_segments=6))
    raised.apply(range(10, 20), log[10:20])
    assert raised.tables.segments.names == ["s-0", "s-1", "s-2", "s-3", OTHERS, "s-10", "s-11"]
    lowered = Campaign.restore("c", stored, options=replace(LIMITED, max_segments=1))
    lowered.apply(range(10, 20), log[10:20])
    assert lowered.tables.segments.names == ["s-0", "s-1", "s-2", "s-3", OTHERS]
    assert int(lowered.tables.segment_judgments[4]) == 16


@pytest.mark.parametrize("settings", [CampaignSettings(outstanding=0), GRM, BASELINE], ids=["trueskill", "grm", "base"])
def test_an_arena_with_a_new_prompt_for_each_vote_is_rated_the_same_with_and_without_the_limit(
    settings: CampaignSettings,
) -> None:
    log = arena(200)
    free, limited, otherwise_split = (
        rated(log, settings, most=None),
        rated(log, settings, most=5),
        rated(log, settings, most=5, size=3),
    )
    assert free.ratings() == limited.ratings() == otherwise_split.ratings()
    assert free.leaderboard().rows == limited.leaderboard().rows == otherwise_split.leaderboard().rows
    assert limited.leaderboard() == otherwise_split.leaderboard()
    for judge in range(len(free.tables.judges)):
        assert free.model.dump_row("judges", judge) == limited.model.dump_row("judges", judge)
    assert len(limited.tables.segments) == 6


@pytest.mark.parametrize("scale", ["z", "raw"])
def test_scores_beyond_the_limit_count_as_scores_on_segments_of_their_own(scale: str) -> None:
    log = arena(200, scores=True)
    settings = CampaignSettings(model="assessment", parameters={"scale": scale}, outstanding=0)
    free, limited = rated(log, settings, most=None), rated(log, settings, most=5)
    for one, other in zip(free.model.scores(), limited.model.scores(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert free.model.score_information(0) == limited.model.score_information(0)


@pytest.mark.parametrize("settings", [GRM, BASELINE, SCORES], ids=["grm", "base", "assessment"])
def test_neither_batches_nor_restarts_matter_beyond_the_limit(settings: CampaignSettings) -> None:
    log, options = arena(60, scores=settings is SCORES), CampaignOptions(max_segments=5)
    whole = Campaign("c", settings, options=options)
    at_once = stored_campaign([whole.drain_changes(whole.apply(range(len(log)), log), ())])
    split, changes = Campaign("c", settings, options=options), []
    for start in range(0, len(log), 7):
        part = log[start : start + 7]
        changes.append(split.drain_changes(split.apply(range(start, start + len(part)), part), ()))
        split = Campaign.restore("c", stored_campaign(changes), options=options)
    assert at_once.tables == stored_campaign(changes).tables
    assert whole.leaderboard() == split.leaderboard()


@pytest.mark.parametrize(
    "settings",
    [
        CampaignSettings(model="grm", outstanding=40, segment_choice="least"),
        CampaignSettings(model="grm", outstanding=40, segment_choice="information"),
        CampaignSettings(model="assessment", outstanding=40, segments=("s-0",)),
    ],
    ids=["least", "information", "assessment"],
)
def test_no_match_is_requested_on_the_shared_segment(settings: CampaignSettings) -> None:
    """Although it was judged least."""
    campaign = Campaign("c", settings, options=LIMITED)
    ranks, score = (None, 3.0) if settings.model == "assessment" else ((1, 2), None)
    systems = ("a", "b") if score is None else ("a",)
    on = [*(f"s-{number % 4}" for number in range(120)), "s-9"]
    log = [judgment(k, systems=systems, ranks=ranks, score=score, segment=each) for k, each in enumerate(on)]
    result = campaign.apply(range(len(log)), log)
    assert campaign.tables.segments.names[-1] == OTHERS
    assert campaign.tables.segment_judgments[:5].argmin() == 4
    assert len(result.requests) == 40
    assert OTHERS not in {request.segment for request in result.requests}


def test_a_command_that_lists_too_many_segments_is_refused() -> None:
    campaign = Campaign("c", options=LIMITED)
    settings = CampaignSettings(systems=("a", "b"), segments=tuple(f"s-{number}" for number in range(5)))
    result = campaign.apply([0], [events.Create(id="1", campaign="c", at=NOON, settings=settings)])
    assert result.rejections[0].reason == "refused_command"
    assert "`max_segments`" in str(result.rejections[0])
    assert not campaign.exists


def test_segments_that_an_operator_lists_later_are_kept_one_by_one() -> None:
    campaign = Campaign("c", options=LIMITED)
    campaign.apply(range(10), [judgment(number, segment=f"s-{number}") for number in range(10)])
    listed = events.Change(id="1", campaign="c", at=NOON, settings={"segments": ["listed-1", "listed-2"]})
    assert not campaign.apply([10], [listed]).rejections
    campaign.apply([11], [judgment(11, segment="listed-2")])
    assert campaign.tables.segments.names[5:] == ["listed-1", "listed-2"]
    assert int(campaign.tables.segment_judgments[6]) == 1


def test_a_judge_is_forgotten_beyond_the_limit_too() -> None:
    campaign = Campaign("c", SCORES, options=LIMITED)
    log = [judgment(k, systems=("a",), ranks=None, score=float(k), judge="person", segment=f"s-{k}") for k in range(10)]
    first = campaign.drain_changes(campaign.apply(range(10), log), ())
    forget = events.ForgetJudge(id="1", campaign="c", at=NOON, judge="person")
    change = campaign.drain_changes(campaign.apply([10], [forget]), ())
    assert sorted(change.removed["cells"]) == sorted(first.tables["cells"])
    assert "person" not in str(change.tables)


def test_a_small_campaign_takes_little_memory() -> None:
    """Whoever may publish can begin thousands of campaigns."""

    def begin(number: int) -> Campaign:
        campaign = Campaign(f"c-{number}")
        campaign.drain_changes(campaign.apply([0], [judgment(number, campaign=campaign.name)]), ())
        return campaign

    begin(0)  # what all campaigns share
    tracemalloc.start()
    try:
        campaigns = [begin(number) for number in range(1, 21)]
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / len(campaigns) < 30_000
