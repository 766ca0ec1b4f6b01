"""Defences by setting: what each one leaves out or rejects, and that batches and restarts do not show."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core.campaign.admission import StatusAdmission
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.core.campaign.request_ids import LATE, request_key
from streams.errors import RecordError
from streams.wire.events import CampaignSettings, Change, Create, Judgment
from tests.builders import NOON, crowd_log, judgment, judgments, stored_campaign, unzip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Leaderboard, MatchRequest

OPTIONS = CampaignOptions(request_key=request_key("secret"))


def rated(log: Sequence[Judgment], *, split: int | None = None, **settings: object) -> Campaign:
    """Rate a log, at once or in batches with a restart after each."""
    campaign, changes = Campaign("c", CampaignSettings(**settings), options=OPTIONS), []  # type: ignore[arg-type]
    for start in range(0, len(log), split or len(log) or 1):
        batch = list(enumerate(log))[start : start + (split or len(log))]
        changes.append(campaign.drain_changes(campaign.apply(*unzip(batch)), ()))
        if split is not None:
            campaign = Campaign.restore("c", stored_campaign(changes), options=OPTIONS)
    return campaign


def board(campaign: Campaign) -> Leaderboard:
    """Return the leaderboard without what counts records."""
    found = campaign.leaderboard()
    cautions = tuple(each for each in found.cautions if each.code != "left_out")
    return msgspec.structs.replace(found, sequence=0, offset=0, left_out={}, cautions=cautions)


# -- requests_only -------------------------------------------------------------------------------------


def asking() -> tuple[Campaign, MatchRequest]:
    """Return a campaign that accepts only answers, and one of its requests."""
    campaign = Campaign("c", options=OPTIONS)
    settings = CampaignSettings(systems=("a", "b", "c"), segments=("s",), requests_only=True)
    campaign.apply([0], [Create(id="create", campaign="c", at=NOON, settings=settings)])
    return campaign, next(iter(campaign.outstanding.values()))


def answer(request: MatchRequest, number: int = 1, /, **changes: object) -> Judgment:
    segment = request.segment or "any"
    made = judgment(number, systems=request.systems, segment=segment, request=request.id, at=NOON)
    return msgspec.structs.replace(made, **changes)


def test_an_answer_to_a_request_counts_in_any_order_of_its_systems() -> None:
    campaign, request = asking()
    result = campaign.apply([1], [answer(request, systems=request.systems[::-1])])
    assert (campaign.counts.judgments, result.rejections) == (1, {})
    assert request.id not in campaign.outstanding


def test_the_answer_to_a_request_can_be_changed_without_a_new_request() -> None:
    campaign, request = asking()
    other = next(each for each in campaign.outstanding.values() if each.id != request.id)
    campaign.apply([1], [answer(other, 9, judge="x", replaces="unknown")])  # from now on verdicts are remembered
    first = answer(request)
    changed = answer(request, 2, replaces=first.id, ranks=(2, 1), request=None)
    StatusAdmission(campaign.status, request_key=OPTIONS.request_key).check(changed, "judge")
    elsewhere = answer(request, 3, replaces=changed.id, segment="another", request=None)
    result = campaign.apply([2, 3, 4], [first, changed, elsewhere])
    assert {offset: error.reason for offset, error in result.rejections.items()} == {4: "unrequested"}
    assert (campaign.counts.judgments, campaign.counts.taken_back) == (2, 1)
    again = campaign.apply([5], [answer(request, 4)])
    assert again.rejections[5].reason == "unrequested"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"request": None}, "`request` is missing"),
        ({"request": "log/0/0"}, "is not a request for these systems"),
        ({"segment": "another"}, "is not a request for these systems and this segment"),
        ({"systems": ("a", "b", "c"), "ranks": (1, 2, 3)}, "is not a request for these systems"),
    ],
)
def test_anything_but_an_answer_is_rejected(changes: dict[str, object], said: str) -> None:
    campaign, request = asking()
    (error,) = campaign.apply([1], [answer(request, **changes)]).rejections.values()
    assert (error.reason, error.field) == ("unrequested", "request")
    assert said in error.message
    assert "requests_only" in error.message
    with pytest.raises(RecordError, match="requests_only"):
        StatusAdmission(campaign.status, request_key=OPTIONS.request_key).check(answer(request, **changes), "j")


def test_a_request_is_answered_once_also_by_another_judge_and_after_a_restart() -> None:
    campaign, request = asking()
    change = campaign.drain_changes(campaign.apply([1], [answer(request)]), ())
    again = Campaign.restore("c", stored_campaign([change]), options=OPTIONS)
    (error,) = again.apply([2], [answer(request, 2, judge="another")]).rejections.values()
    assert (error.reason, "answered by another" in error.message) == ("unrequested", True)


def test_a_request_with_a_key_of_somebody_else_is_rejected() -> None:
    _, request = asking()
    other = Campaign("c", options=CampaignOptions(request_key=request_key("another")))
    settings = CampaignSettings(systems=("a", "b", "c"), segments=("s",), requests_only=True)
    other.apply([0], [Create(id="create", campaign="c", at=NOON, settings=settings)])
    assert [error.reason for error in other.apply([1], [answer(request)]).rejections.values()] == ["unrequested"]


@pytest.mark.parametrize(("late", "rejected"), [(LATE - timedelta(minutes=1), 0), (LATE + timedelta(minutes=1), 1)])
def test_an_answer_may_be_a_day_late_by_the_clock_of_the_campaign(late: timedelta, rejected: int) -> None:
    campaign, request = asking()
    campaign.clock = request.expires_at + late
    assert len(campaign.apply([1], [answer(request)]).rejections) == rejected


def test_a_rerun_without_the_requests_accepts_the_same_answers() -> None:
    live, _ = asking()
    log: list[Judgment] = []
    for number in range(30):
        request = next(iter(live.outstanding.values()))
        log += [answer(request, 2 * number), answer(request, 2 * number + 1, request="made up")]
        live.apply([2 * number + 1, 2 * number + 2], log[-2:])
    again, _ = asking()
    again.outstanding.clear()
    result = again.apply_records(range(1, 61), log)
    assert again.counts == live.counts
    assert again.leaderboard() == live.leaderboard()
    assert len(result.rejections) == 30


def test_requests_from_before_the_setting_are_cancelled() -> None:
    campaign = Campaign("c", options=OPTIONS)
    settings = CampaignSettings(systems=("a", "b", "c"), segments=("s",))
    campaign.apply([0], [Create(id="create", campaign="c", at=NOON, settings=settings)])
    before = set(campaign.outstanding)
    result = campaign.apply([1], [Change(id="change", campaign="c", at=NOON, settings={"requests_only": True})])
    assert {request.id for request in result.cancelled} == before
    assert before.isdisjoint(campaign.outstanding)
    assert len(campaign.outstanding) == len(before)


def test_a_campaign_that_makes_no_requests_can_not_accept_only_answers() -> None:
    campaign = Campaign("c")
    settings = CampaignSettings(requests_only=True, outstanding=0)
    (error,) = campaign.apply([0], [Create(id="x", campaign="c", at=NOON, settings=settings)]).rejections.values()
    assert (error.reason, error.field) == ("refused_command", "settings.requests_only")


# -- repeat_votes ----------------------------------------------------------------------------------------


def distinct(log: Sequence[Judgment]) -> list[Judgment]:
    return [msgspec.structs.replace(each, id=f"id-{number}") for number, each in enumerate(log)]


def match_of(each: Judgment) -> tuple[str, str, frozenset[str]]:
    return each.judge, each.segment, frozenset(each.systems)


@given(st.lists(judgments(systems=3), max_size=40).map(distinct), st.integers(1, 7))
def test_the_first_vote_counts_as_if_the_others_were_not_there(log: list[Judgment], split: int) -> None:
    first = list({match_of(each): each for each in reversed(log)}.values())[::-1]
    kept = sorted(first, key=log.index)
    campaign = rated(log, repeat_votes="first")
    assert board(campaign) == board(rated(kept, repeat_votes="first")) == board(rated(kept))
    assert (campaign.counts.judgments, campaign.counts.repeated) == (len(kept), len(log) - len(kept))
    assert campaign.leaderboard() == rated(log, split=split, repeat_votes="first").leaderboard()


@given(st.lists(judgments(systems=3), max_size=40).map(distinct), st.integers(1, 7))
def test_the_last_vote_counts_as_if_the_others_were_not_there(log: list[Judgment], split: int) -> None:
    kept = sorted({match_of(each): each for each in log}.values(), key=log.index)
    campaign, without = rated(log, repeat_votes="last"), rated(kept)
    assert board(campaign) == board(without)
    assert counted(campaign) == counted(without)
    assert (campaign.counts.judgments, campaign.counts.repeated) == (len(kept), len(log) - len(kept))
    assert campaign.leaderboard() == rated(log, split=split, repeat_votes="last").leaderboard()


def test_votes_that_are_replaced_do_not_count_for_the_share_of_a_judge() -> None:
    log = distinct([judgment(k, judge="often", segment="s") for k in range(10)] + [judgment(k) for k in range(10, 13)])
    log = [msgspec.structs.replace(each, judge=f"judge-{k}") if k >= 10 else each for k, each in enumerate(log)]
    assert "one_judge" in {caution.code for caution in rated(log).leaderboard().cautions}
    assert "one_judge" not in {caution.code for caution in rated(log, repeat_votes="last").leaderboard().cautions}


def counted(campaign: Campaign) -> object:
    """Return all counts from which a board is made, by name."""
    tables = campaign.tables
    counts = tables.pair_counts()
    judges = {name: int(tables.judge_judgments[i]) for i, name in enumerate(tables.judges.names)}
    segments = {name: int(tables.segment_judgments[i]) for i, name in enumerate(tables.segments.names)}
    return counts.systems, counts.wins.tolist(), counts.ties.tolist(), counts.judgments.tolist(), judges, segments


def test_a_vote_that_left_the_window_is_not_remembered() -> None:
    others = [judgment(number, segment=f"s-{number}") for number in range(1, 4)]
    log = [judgment(0, segment="s-0"), *others, judgment(4, segment="s-0")]
    for window, repeated in ((3, 0), (4, 1)):
        assert rated(log, repeat_votes="first", repeat_window=window).counts.repeated == repeated
        assert rated(log, split=1, repeat_votes="first", repeat_window=window).counts.repeated == repeated


def test_what_is_kept_of_a_vote_takes_few_bytes() -> None:
    log = [judgment(number, segment=f"s-{number}") for number in range(1000)]
    for votes, most in (("first", 22), ("last", 42)):
        campaign = rated(log[:0], repeat_votes=votes)
        change = campaign.drain_changes(campaign.apply(*unzip(list(enumerate(log)))), ())
        assert sum(map(len, change.tables["votes"].values())) <= most * 1000


def test_a_model_that_can_not_take_back_refuses_the_last_vote() -> None:
    settings = CampaignSettings(model="grm", baseline="a", repeat_votes="last")
    (error,) = Campaign("c").apply([0], [Create(id="x", campaign="c", at=NOON, settings=settings)]).rejections.values()
    assert error.field == "settings.repeat_votes"


# -- judge_share -----------------------------------------------------------------------------------------


def test_one_judge_can_not_have_more_than_the_share() -> None:
    one = [judgment(number, judge="one") for number in range(500)]
    others = [judgment(1000 + number, judge=f"judge-{number % 20}") for number in range(500)]
    log = [each for pair in zip(one, others, strict=True) for each in pair]
    campaign = rated(log, judge_share=0.1)
    index = campaign.tables.judges.index["one"]
    assert campaign.tables.judge_judgments[index] <= 0.1 * campaign.counts.judgments
    assert campaign.counts.judgments + campaign.counts.over_share == 1000
    assert campaign.counts.over_share == 500 - campaign.tables.judge_judgments[index]
    assert campaign.leaderboard() == rated(log, split=7, judge_share=0.1).leaderboard()


def test_the_first_twenty_judgments_of_a_judge_always_count() -> None:
    campaign = rated([judgment(number) for number in range(30)], judge_share=0.01)
    assert (campaign.counts.judgments, campaign.counts.over_share) == (20, 10)


# -- what all have in common -----------------------------------------------------------------------------


def test_without_a_defence_a_batch_takes_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = rated(crowd_log(50))
    monkeypatch.setattr(Campaign, "_apply_each", lambda *_: pytest.fail("not the quick path"))
    log = [msgspec.structs.replace(each, id=f"new-{each.id}") for each in crowd_log(50)]
    campaign.apply(range(50, 100), log)


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"judge_share": 0.2, "pace_clock": "broker", "suspend_judges": "auto", "gold_rate": 0.1}, False),
        ({"repeat_votes": "first"}, True),
        ({"repeat_window": 5}, True),
    ],
)
def test_only_defences_that_rate_nothing_again_can_be_changed(settings: dict[str, object], refused: bool) -> None:
    campaign = rated([judgment(1)])
    result = campaign.apply([1], [Change(id="change", campaign="c", at=NOON, settings=settings)])
    assert bool(result.rejections) == refused
