"""A campaign is a function of its log: neither batches, nor restarts, nor names of indices show in it."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.core.campaign.result import BatchResult
from streams.core.campaign.retractions import Retractions
from streams.core.campaign.state import Counts
from streams.wire import events
from streams.wire.events import Judgment
from tests.builders import NOON, crowd_log, judgment, judgments, stored_campaign, unzip


def numbered(log: list[Judgment] | list[Judgment | events.Command]) -> list[tuple[int, Judgment | events.Command]]:
    return list(enumerate(log))


def picture(campaign: Campaign) -> object:
    """Give everything that the log decides, bit for bit."""
    rows = campaign.tables.system_rows(campaign.model, range(len(campaign.tables.systems)))
    return (
        campaign.leaderboard(),
        rows,
        campaign.counts,
        campaign.offset,
        campaign.clock,
        campaign.status,
        campaign.tables.judges.names,
        campaign.tables.segments.names,
        campaign.tables.wins.sum(),
    )


@given(st.lists(judgments(), max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_the_split_into_batches_does_not_matter(log: list[Judgment], cuts: list[int]) -> None:
    whole, split = Campaign("c"), Campaign("c")
    whole.apply(*unzip(numbered(log)))
    edges = sorted({0, len(log), *(min(cut, len(log)) for cut in cuts)})
    for start, end in pairwise(edges):
        split.apply(*unzip(numbered(log)[start:end]))
    assert picture(whole) == picture(split)


@given(
    st.lists(judgments(), min_size=1, max_size=60),
    st.integers(1, 10),
    st.builds(
        CampaignOptions,
        seen_ids=st.integers(3, 30),
        pseudonyms=st.just({f"judge-{k}": f"p-{k}" for k in range(4)}),
        max_judges=st.integers(1, 4) | st.none(),
        max_segments=st.integers(1, 6) | st.none(),
    ),
)
def test_judgments_taken_in_at_once_or_one_by_one_come_to_the_same(
    log: list[Judgment], size: int, options: CampaignOptions
) -> None:
    monkeypatch = pytest.MonkeyPatch()
    outcomes = []
    for at_once in (True, False):
        campaign, changes = Campaign("c", options=options), []
        campaign.retractions = Retractions(ids=("id-7",))
        if not at_once:
            monkeypatch.setattr(Campaign, "_admit_all", lambda *_: None)
        for start in range(0, len(log), size):
            batch = numbered(log)[start : start + size]
            changes.append(campaign.drain_changes(campaign.apply(*unzip(batch)), ()))
        stored = stored_campaign(changes)
        outcomes.append((picture(campaign), stored.tables, stored.seen, campaign.outstanding))
    monkeypatch.undo()
    assert outcomes[0] == outcomes[1]


class ExtendedJudgment(Judgment, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A judgment of a later version, with one more optional field."""

    colour: str | None = None


def test_a_new_optional_field_of_a_judgment_passes_through_the_quick_path(monkeypatch: pytest.MonkeyPatch) -> None:
    log = [judgment(number, judge=f"judge-{number % 3}", segment=f"s-{number % 5}") for number in range(40)]
    log[25] = msgspec.structs.replace(log[25], duration_ms=70, request="r")
    extended = [ExtendedJudgment(**msgspec.structs.asdict(each), colour="red") for each in log]
    plain, later = Campaign("c"), Campaign("c")
    for campaign, events_of in ((plain, log), (later, extended)):
        campaign.apply([0], events_of[:1])
    monkeypatch.setattr(Campaign, "_apply_each", lambda *_: pytest.fail("not the quick path"))
    plain.apply(range(1, 40), log[1:])
    monkeypatch.setattr("streams.core.campaign.bulk.Judgment", ExtendedJudgment)
    result = later.apply(range(1, 40), extended[1:])
    assert result.applied == 39
    assert picture(plain) == picture(later)
    assert plain.tables.judge_duration.sum() == later.tables.judge_duration.sum() == 70


@given(st.lists(judgments(), min_size=2, max_size=40), st.data())
def test_a_restart_in_the_middle_does_not_matter(log: list[Judgment], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(log) - 1))
    options = CampaignOptions(seen_ids=data.draw(st.integers(1, 20)))
    through, first = Campaign("c", options=options), Campaign("c", options=options)
    through.apply(*unzip(numbered(log)[:cut]))
    through.apply(*unzip(numbered(log)[cut:]))
    half = first.drain_changes(first.apply(*unzip(numbered(log)[:cut])), ())
    second = Campaign.restore("c", stored_campaign([half]), options=options)
    second.apply(*unzip(numbered(log)[cut:]))
    assert picture(through) == picture(second)
    assert through.outstanding == second.outstanding


@given(st.lists(judgments(), max_size=30), st.permutations(range(6)))
def test_other_names_give_the_same_ratings_under_those_names(log: list[Judgment], order: list[int]) -> None:
    renamed = [
        judgment(
            number,
            systems=tuple(f"other-{order[int(name[-1])]}" for name in entry.systems),
            ranks=entry.ranks,
        )
        for number, entry in enumerate(log)
    ]
    log = [judgment(number, systems=entry.systems, ranks=entry.ranks) for number, entry in enumerate(log)]
    one, other = Campaign("c"), Campaign("c")
    one.apply(*unzip(numbered(log)))
    other.apply(*unzip(numbered(renamed)))
    ratings = {f"other-{order[int(each.system[-1])]}": (each.mean, each.deviation) for each in one.ratings()}
    assert ratings == {each.system: (each.mean, each.deviation) for each in other.ratings()}
    scores = {f"other-{order[int(row.system[-1])]}": row.score for row in one.leaderboard().rows}
    assert scores == pytest.approx({row.system: row.score for row in other.leaderboard().rows}, abs=1e-9)


def test_a_change_holds_what_is_new_and_nothing_else() -> None:
    first = Campaign("c")
    half = first.drain_changes(
        first.apply(*unzip(numbered([judgment(1), judgment(2, systems=("x", "y"), judge="j2", segment="s2")]))), ()
    )
    for campaign in (first, Campaign.restore("c", stored_campaign([half]))):
        change = campaign.drain_changes(campaign.apply(*unzip([(2, judgment(3))])), ())
        assert {name: set(rows) for name, rows in change.tables.items()} == {
            "systems": {"a", "b"},
            "judges": {"judge"},
            "segments": set(),
            "segment_pages": {"0"},
            "pairs": {'["a","b"]'},
            "cells": set(),
            "replicas": set(),
            "votes": set(),
            "residuals": {"judge judge", "system a", "system b", "shared"},
            "categories": set(),
        }
        assert (change.before, change.after, change.seen.ids()) == (1, 2, ("id-3",))


def test_a_duplicate_judgment_changes_nothing_but_its_count() -> None:
    once, twice = Campaign("c"), Campaign("c")
    once.apply(*unzip(numbered([judgment(1)])))
    twice.apply(*unzip(numbered([judgment(1), judgment(1, ranks=(2, 1))])))
    assert once.leaderboard().rows == twice.leaderboard().rows
    assert (twice.counts.judgments, twice.counts.duplicates) == (1, 1)


def test_an_id_is_known_among_the_last_so_many_judgments_only() -> None:
    campaign = Campaign("c", options=CampaignOptions(seen_ids=3))
    campaign.apply(*unzip(numbered([judgment(number) for number in (1, 2, 3, 1, 4, 1)])))
    assert (campaign.counts.judgments, campaign.counts.duplicates) == (5, 1)


def test_a_record_that_was_applied_before_is_passed_over() -> None:
    campaign = Campaign("c")
    campaign.apply(*unzip([(7, judgment(1))]))
    before = picture(campaign)
    campaign.apply(*unzip([(6, judgment(2)), (7, judgment(3))]))
    assert picture(campaign) == before


def test_the_better_systems_come_first_and_far_ones_are_ruled_off() -> None:
    campaign = Campaign("campaign-0")
    campaign.apply(*unzip(numbered(crowd_log(4000, ways=5))))
    rows = campaign.leaderboard().rows
    assert [row.system for row in rows] == [f"system-{i}" for i in range(8)]
    assert rows[0].cluster == 1
    assert rows[-1].cluster > 1
    assert all(row.rank_low <= row.rank <= row.rank_high for row in rows)


def test_wins_ties_and_losses_are_counted_a_pair() -> None:
    campaign = Campaign("c")
    applied = campaign.apply(*unzip(numbered([judgment(1, systems=("a", "b", "x"), ranks=(1, 1, 2)), judgment(2)])))
    counts = {rating.system: (rating.wins, rating.ties, rating.losses, rating.judgments) for rating in applied.ratings}
    assert counts == {"a": (2, 1, 0, 2), "b": (1, 1, 1, 2), "x": (0, 0, 2, 1)}


def test_a_judge_is_compared_with_the_majority_of_those_before() -> None:
    campaign = Campaign("c")
    log = [
        judgment(1, judge="first"),  # nobody to agree with yet
        judgment(2, judge="with"),
        judgment(3, judge="against", ranks=(2, 1)),
        judgment(4, judge="undecided", ranks=(1, 1)),
        judgment(5, judge="with", systems=("b", "a"), ranks=(2, 1)),
    ]
    for start, end in ((0, 2), (2, 5)):
        campaign.apply(*unzip(numbered(log)[start:end]))
    names, tables = campaign.tables.judges.index, campaign.tables
    found = {name: (int(tables.judge_agreed[i]), int(tables.judge_compared[i])) for name, i in names.items()}
    assert found == {"first": (0, 0), "with": (2, 2), "against": (0, 1), "undecided": (0, 0)}


def test_judges_are_kept_under_their_pseudonyms_only() -> None:
    campaign = Campaign("c", options=CampaignOptions(pseudonyms={"judge": "p-1"}))
    change = campaign.drain_changes(campaign.apply(*unzip(numbered([judgment(1)]))), ())
    assert list(change.tables["judges"]) == ["p-1"]


def test_a_score_is_rejected_by_a_model_of_rankings() -> None:
    campaign = Campaign("c")
    applied = campaign.apply(*unzip(numbered([judgment(1, systems=("a",), ranks=None, score=50.0), judgment(2)])))
    assert [(offset, error.reason) for offset, error in applied.rejections.items()] == [(0, "unsuited_to_model")]
    assert campaign.counts.judgments == 1


def test_more_systems_than_fit_are_rejected() -> None:
    campaign = Campaign("c")
    log = [judgment(number, systems=(f"a{number}", f"b{number}")) for number in range(501)]
    applied = campaign.apply(*unzip(numbered(log)))
    assert [error.reason for error in applied.rejections.values()] == ["too_many_systems"]


class TestAssessments:
    settings = events.CampaignSettings(model="assessment")

    def log(self, count: int = 60) -> list[Judgment]:
        random = np.random.default_rng(5)
        return [
            judgment(
                number,
                systems=(f"system-{number % 4}",),
                ranks=None,
                score=float(random.integers(101)),
                judge=f"judge-{random.integers(3)}",
                segment=f"segment-{random.integers(6)}",
            )
            for number in range(count)
        ]

    def test_scores_are_rated_and_rankings_rejected(self) -> None:
        campaign = Campaign("c", self.settings)
        applied = campaign.apply(*unzip(numbered([*self.log(), judgment(99)])))
        assert [error.reason for error in applied.rejections.values()] == ["unsuited_to_model"]
        assert len(campaign.leaderboard().rows) == 4

    def test_neither_batches_nor_restarts_matter(self) -> None:
        log = numbered(self.log())
        whole = Campaign("c", self.settings)
        all_at_once = whole.drain_changes(whole.apply(*unzip(log)), ())
        split, changes = Campaign("c", self.settings), []
        for start in range(0, 60, 7):
            changes.append(split.drain_changes(split.apply(*unzip(log[start : start + 7])), ()))
            split = Campaign.restore("c", stored_campaign(changes))
        assert picture(whole) == picture(split)
        assert stored_campaign([all_at_once]).tables == stored_campaign(changes).tables


class TestRequests:
    def test_they_are_kept_at_the_number_asked_for(self) -> None:
        campaign = Campaign("c", events.CampaignSettings(outstanding=5))
        first = campaign.apply(*unzip(numbered([judgment(1)]))).requests
        assert len(first) == 5
        second = campaign.apply(*unzip([(1, judgment(2, request=first[0].id)), (2, judgment(3))])).requests
        assert len(second) == 1
        assert len(campaign.outstanding) == 5
        assert first[0].id not in campaign.outstanding

    def test_one_that_expired_is_asked_for_again(self) -> None:
        campaign = Campaign("c", events.CampaignSettings(outstanding=2, request_seconds=60))
        campaign.apply(*unzip(numbered([judgment(1)])))
        assert len(campaign.apply(*unzip([(1, judgment(2, at=NOON + timedelta(seconds=30)))])).requests) == 0
        assert len(campaign.apply(*unzip([(2, judgment(3, at=NOON + timedelta(seconds=90)))])).requests) == 2

    def test_they_stop_where_the_budget_ends(self) -> None:
        campaign = Campaign("c", events.CampaignSettings(outstanding=5, budget=4))
        assert len(campaign.apply(*unzip(numbered([judgment(1)]))).requests) == 3

    def test_they_stop_when_the_clusters_are_settled(self) -> None:
        one_sided = [judgment(number) for number in range(60)]
        for confidence, asked in ((None, 8), (0.95, 0)):
            campaign = Campaign("c", events.CampaignSettings(stop_confidence=confidence))
            assert len(campaign.apply(*unzip(numbered(one_sided))).requests) == asked
        ahead = campaign.leaderboard().outlook
        assert ahead is not None
        assert (ahead.state, campaign.meta.stop.met) == ("settled", True)

    def test_ids_come_from_the_place_in_the_log(self) -> None:
        campaign = Campaign("c", events.CampaignSettings(outstanding=1))
        assert (
            campaign.apply(*unzip([(9, judgment(1))]), origin="judgments.v1/3").requests[0].id == "judgments.v1/3/9/0"
        )

    def test_the_least_judged_segments_are_asked_for(self) -> None:
        campaign = Campaign("c", events.CampaignSettings(outstanding=2, segments=("fresh", "new")))
        requests = campaign.apply(*unzip(numbered([judgment(1, segment="old")]))).requests
        assert {request.segment for request in requests} == {"fresh", "new"}

    def test_they_are_of_as_many_systems_as_asked_for_and_as_there_are(self) -> None:
        campaign = Campaign("c", events.CampaignSettings(outstanding=3, ways=4))
        few = campaign.apply(*unzip(numbered([judgment(1, systems=("a", "b", "c"), ranks=(1, 2, 3))]))).requests
        assert [len(set(request.systems)) for request in few] == [3, 3, 3]
        answers = [judgment(2 + k, systems=("d", "e"), request=request.id) for k, request in enumerate(few)]
        many = campaign.apply(*unzip(numbered([judgment(1), *answers])[1:])).requests
        assert [len(set(request.systems)) for request in many] == [4, 4, 4]

    def test_by_information_the_segment_that_tells_most_is_asked_for(self) -> None:
        """On one segment judges always decide, on the other they always tie: a verdict there tells little."""
        settings = events.CampaignSettings(model="grm", segment_choice="information", outstanding=1, replicas=0)
        campaign = Campaign("c", settings)
        for k in range(300):
            ranks = (1, 2) if k % 3 else (2, 1)
            verdicts = [
                judgment(2 * k, segment="telling", ranks=ranks, judge=f"j{k % 5}"),
                judgment(2 * k + 1, segment="mute", ranks=(1, 1), judge=f"j{k % 5}"),
            ]
            campaign.apply(*unzip([(2 * k + i, verdict) for i, verdict in enumerate(verdicts)]))
        telling, mute = campaign.model.segment_information(0, 1)  # type: ignore[misc]
        assert telling > 2 * mute
        answer = judgment(9000, segment="telling", request=next(iter(campaign.outstanding)))
        (request,) = campaign.apply(*unzip([(9000, answer)])).requests
        assert request.segment == "telling"

    def test_by_default_a_baseline_campaign_chooses_segments_by_information_and_any_other_the_least_judged(
        self,
    ) -> None:
        """One segment is far too hard for every system, so a verdict on it tells nothing."""
        for baseline, expected in (("a", {"new"}), (None, {"hard", "new"})):
            settings = events.CampaignSettings(
                model="grm", baseline=baseline, systems=("a", "b"), segments=("hard", "new"), outstanding=2, replicas=0
            )
            campaign = Campaign("c", settings)
            campaign.model.load_row("segments", 0, (9.0, 0.01, 0.5, 0.01))
            event = judgment(1, segment="other", ranks=(1, 1))
            requests = campaign.apply(*unzip([(0, event)])).requests
            assert {request.segment for request in requests} == expected

    def test_a_model_without_segments_can_not_choose_them_by_information(self) -> None:
        settings = events.CampaignSettings(segment_choice="information")
        create = events.Create(id="1", campaign="c", at=NOON, settings=settings)
        (error,) = Campaign("c").apply(*unzip([(0, create)])).rejections.values()
        assert (error.reason, error.field) == ("refused_command", "settings.segment_choice")

    def test_one_for_what_a_retraction_removed_holds_nobody_up(self) -> None:
        campaign = Campaign("c", events.CampaignSettings(outstanding=3))
        log = numbered([judgment(1), judgment(2, systems=("a", "z"), segment="odd")])
        campaign.apply(*unzip(log))
        assert any("z" in request.systems for request in campaign.outstanding.values())
        assert any(request.segment == "odd" for request in campaign.outstanding.values())
        retract = events.Retract(id="r", campaign="c", at=NOON, judgments=("id-2",))
        campaign = rated([*log, (2, retract)], campaign)
        answer = judgment(3, request=next(iter(campaign.outstanding)))
        (request,) = campaign.apply(*unzip([(3, answer)])).requests
        assert set(request.systems) == {"a", "b"}

    def test_a_request_for_unknown_segments_leaves_the_choice_open(self) -> None:
        campaign = Campaign("c")
        create = events.Create(id="1", campaign="c", at=NOON, settings=events.CampaignSettings(systems=("a", "b")))
        assert {request.segment for request in campaign.apply(*unzip([(0, create)])).requests} == {None}


class TestCommands:
    settings = events.CampaignSettings(systems=("a", "b", "x"), outstanding=3)

    def opened(self) -> Campaign:
        campaign = Campaign("c")
        campaign.apply(*unzip([(0, events.Create(id="1", campaign="c", at=NOON, settings=self.settings))]))
        return campaign

    def refusal(self, campaign: Campaign, command: events.Command) -> str:
        before = campaign.status
        applied = campaign.apply(*unzip([(campaign.offset + 1, command)]))
        assert campaign.status == before
        (error,) = applied.rejections.values()
        return f"{error.reason}: {error.message}"

    def test_create_opens_a_campaign_with_requests_before_any_judgment(self) -> None:
        campaign = Campaign("c")
        applied = campaign.apply(*unzip([(0, events.Create(id="1", campaign="c", at=NOON, settings=self.settings))]))
        assert len(applied.statuses) == 1
        assert applied.statuses[0].settings == self.settings
        assert len(applied.requests) == 3
        assert [row.system for row in campaign.leaderboard().rows] == ["a", "b", "x"]

    def test_create_chooses_the_model_and_its_parameters(self) -> None:
        campaign = Campaign("c")
        settings = events.CampaignSettings(parameters={"deviation": 5.0}, systems=("a", "b"))
        campaign.apply(*unzip([(0, events.Create(id="1", campaign="c", at=NOON, settings=settings))]))
        assert [rating.deviation for rating in campaign.ratings()] == [5.0, 5.0]

    def test_a_listed_campaign_takes_no_other_system(self) -> None:
        applied = self.opened().apply(*unzip([(1, judgment(1, systems=("a", "bb")))]))
        assert [error.reason for error in applied.rejections.values()] == ["unknown_system"]

    def test_add_lets_a_system_in(self) -> None:
        campaign = self.opened()
        applied = campaign.apply(
            *unzip(
                [(1, events.AddSystem(id="2", campaign="c", at=NOON, system="y")), (2, judgment(1, systems=("a", "y")))]
            )
        )
        assert applied.rejections == {}
        assert "y" in {row.system for row in campaign.leaderboard().rows}

    def test_withdraw_takes_a_system_off_the_board_and_out_of_the_matches(self) -> None:
        campaign = Campaign("c")
        campaign.apply(
            *unzip(
                [
                    (0, events.Create(id="1", campaign="c", at=NOON, settings=self.settings)),
                    (1, events.WithdrawSystem(id="2", campaign="c", at=NOON, system="x")),
                ]
            )
        )
        assert {row.system for row in campaign.leaderboard().rows} == {"a", "b"}
        assert {name for request in campaign.outstanding.values() for name in request.systems} == {"a", "b"}

    def test_a_withdrawal_ends_the_requests_of_the_system_and_others_take_their_place(self) -> None:
        campaign = self.opened()
        before = campaign.outstanding.keys()
        kept = {key for key, request in campaign.outstanding.items() if "x" not in request.systems}
        assert len(kept) < 3
        applied = campaign.apply(*unzip([(1, events.WithdrawSystem(id="2", campaign="c", at=NOON, system="x"))]))
        assert {request.systems for request in applied.requests} <= {("a", "b"), ("b", "a")}
        assert {request.id for request in applied.cancelled} == before - kept
        assert all("x" in request.systems and request.cancelled for request in applied.cancelled)
        assert campaign.outstanding.keys() == kept | {request.id for request in applied.requests}
        assert len(campaign.outstanding) == 3

    def test_a_retraction_ends_the_requests_of_systems_that_it_removes(self) -> None:
        campaign = Campaign("c")
        log: list[tuple[int, events.Judgment | events.Command]] = [
            (0, events.Create(id="1", campaign="c", at=NOON)),
            (1, judgment(1, systems=("a", "b"), judge="j")),
        ]
        campaign.apply(*unzip(log))
        assert campaign.outstanding
        retract = (2, events.Retract(id="2", campaign="c", at=NOON, judge="j"))
        campaign = rated([*log, retract], campaign)
        assert campaign.outstanding == {}
        found = campaign.apply(*unzip([(3, judgment(3, systems=("x", "y"), judge="k"))]))
        assert {name for request in found.requests for name in request.systems} == {"x", "y"}

    def test_a_system_that_comes_back_has_a_score_in_the_store_again(self) -> None:
        campaign = self.opened()
        changes = []
        commands: tuple[events.Command, ...] = (
            events.WithdrawSystem(id="2", campaign="c", at=NOON, system="x"),
            events.AddSystem(id="3", campaign="c", at=NOON, system="x"),
        )
        for offset, command in enumerate(commands, start=1):
            result = campaign.apply([offset], [command])
            changes.append(campaign.drain_changes(result, ()))
        assert [(change.withdrawn, "x" in change.scores) for change in changes[1:]] == [((), True)]

    def test_pause_cancels_the_requests_and_resume_sends_others(self) -> None:
        campaign = self.opened()
        first, *others = campaign.outstanding.values()
        answer = judgment(1, request=first.id)
        paused = campaign.apply(*unzip([(1, events.Pause(id="2", campaign="c", at=NOON)), (2, answer)]))
        assert paused.requests == ()
        assert paused.cancelled == tuple(msgspec.structs.replace(request, cancelled=True) for request in others)
        assert campaign.outstanding == {}
        assert campaign.apply(*unzip([(3, judgment(2))])).cancelled == ()  # each is cancelled once
        assert len(campaign.apply(*unzip([(4, events.Resume(id="3", campaign="c", at=NOON))])).requests) == 3

    def test_close_takes_no_more_judgments(self) -> None:
        campaign = self.opened()
        applied = campaign.apply(*unzip([(1, events.Close(id="2", campaign="c", at=NOON)), (2, judgment(1))]))
        assert [error.reason for error in applied.rejections.values()] == ["campaign_closed"]
        assert len(applied.cancelled) == 3
        assert campaign.outstanding == {}
        assert "closed" in self.refusal(campaign, events.Resume(id="3", campaign="c", at=NOON))

    def test_a_request_that_expires_is_not_cancelled(self) -> None:
        campaign = self.opened()
        late = NOON + timedelta(hours=2)
        assert campaign.apply(*unzip([(1, judgment(1, at=late))])).cancelled == ()

    def test_a_demand_opens_more_requests_and_a_smaller_one_lets_them_run_out(self) -> None:
        campaign = self.opened()

        def demand(requests: int) -> BatchResult:
            name = f"demand-{campaign.offset}"
            return campaign.apply(
                [campaign.offset + 1], [events.Demand(id=name, campaign="c", at=NOON, requests=requests)]
            )

        raised = demand(16)
        assert raised.statuses[-1].demand == 16
        assert len(raised.requests) == 13
        lowered = demand(0)
        assert lowered.cancelled == lowered.requests == ()
        answered = list(campaign.outstanding)[:13]
        for key in answered:
            number = campaign.offset + 1
            assert campaign.apply([number], [judgment(number, request=key)]).requests == ()
        number, key = campaign.offset + 1, next(iter(campaign.outstanding))
        assert len(campaign.apply([number], [judgment(number, request=key)]).requests) == 1

    def test_a_demand_is_bounded_by_the_budget_and_ignored_where_no_requests_are_wanted(self) -> None:
        for settings, expected in (({"budget": 10}, 10), ({"outstanding": 0}, 0)):
            campaign = Campaign("c")
            given = msgspec.structs.replace(self.settings, **settings)
            create = events.Create(id="1", campaign="c", at=NOON, settings=given)
            demand = events.Demand(id="2", campaign="c", at=NOON, requests=100)
            campaign.apply([0, 1], [create, demand])
            assert len(campaign.outstanding) == expected

    @pytest.mark.long
    def test_a_batch_opens_few_requests_of_many_systems_and_the_next_ones_the_rest(self) -> None:
        """Each one compares all pairs of systems, so that a demand of 10,000 would take several seconds."""
        campaign = Campaign("c")
        settings = events.CampaignSettings(
            systems=tuple(f"system-{i}" for i in range(1000)), policy="uniform", replicas=0
        )
        create = events.Create(id="1", campaign="c", at=NOON, settings=settings)
        demand = events.Demand(id="2", campaign="c", at=NOON, requests=1000)
        batches = [
            campaign.apply([0, 1], [create, demand]),
            campaign.apply([2], [judgment(2, systems=("system-0", "system-1"))]),
            campaign.apply([3], [judgment(3, systems=("system-0", "system-1"))]),
        ]
        assert [len(batch.requests) for batch in batches] == [400, 400, 200]

    def test_change_sets_what_does_not_rate_again(self) -> None:
        campaign = self.opened()
        campaign.apply(
            *unzip([(1, judgment(1)), (2, events.Change(id="2", campaign="c", at=NOON, settings={"budget": 9}))])
        )
        assert campaign.status.settings.budget == 9
        assert campaign.leaderboard().rows[0].score > 0

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"model": "grm"}, "can't change"),
            ({"bugdet": 3}, "did you mean 'budget'"),
            ({"budget": 0}, ">= 1"),
            ({"policy": "varance"}, "did you mean 'variance'"),
        ],
    )
    def test_a_wrong_change_is_refused_and_explained(self, settings: dict[str, object], words: str) -> None:
        command = events.Change(id="2", campaign="c", at=NOON, settings=settings)
        assert words in self.refusal(self.opened(), command)

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            (events.CampaignSettings(model="truskill"), "did you mean 'trueskill'"),
            (events.CampaignSettings(parameters={"beta": -1}), "beta"),
            (events.CampaignSettings(systems=("a", "a")), "twice"),
        ],
    )
    def test_a_wrong_create_is_refused_and_explained(self, settings: events.CampaignSettings, words: str) -> None:
        command = events.Create(id="1", campaign="c", at=NOON, settings=settings)
        campaign = Campaign("c")
        assert words in self.refusal(campaign, command)
        assert not campaign.exists

    def test_a_second_create_is_refused(self) -> None:
        assert "exists" in self.refusal(self.opened(), events.Create(id="2", campaign="c", at=NOON))

    def test_a_repeated_command_is_a_duplicate(self) -> None:
        campaign = self.opened()
        campaign.apply(*unzip([(1, events.Create(id="1", campaign="c", at=NOON, settings=self.settings))]))
        assert (campaign.counts.commands, campaign.counts.duplicates, campaign.counts.rejected) == (1, 1, 0)

    def test_a_command_to_an_unknown_campaign_is_refused(self) -> None:
        assert "unknown_campaign" in self.refusal(Campaign("c"), events.Pause(id="1", campaign="c", at=NOON))

    def test_an_excluded_judge_is_heard_no_more_and_known_by_pseudonym(self) -> None:
        campaign = Campaign("c", options=CampaignOptions(pseudonyms={"judge": "p-1", "other": "p-2"}))
        campaign.apply(
            *unzip([(0, judgment(1)), (1, events.ExcludeJudge(id="2", campaign="c", at=NOON, judge="judge"))])
        )
        applied = campaign.apply(*unzip([(2, judgment(3)), (3, judgment(4, judge="other"))]))
        assert [(offset, error.reason) for offset, error in applied.rejections.items()] == [(2, "judge_excluded")]
        assert campaign.status.excluded == ("p-1",)
        assert campaign.counts.judgments == 2

    def test_a_command_between_judgments_acts_at_its_place_whatever_the_batches(self) -> None:
        log: list[tuple[int, Judgment | events.Command]] = [
            (0, judgment(0)),
            (1, events.Change(id="x", campaign="c", at=NOON, settings={"outstanding": 2})),
            (2, judgment(1)),
            (3, events.Close(id="y", campaign="c", at=NOON)),
            (4, judgment(2)),
        ]
        whole, single = Campaign("c"), Campaign("c")
        whole.apply(*unzip(log))
        for entry in log:
            single.apply(*unzip([entry]))
        assert picture(whole) == picture(single)


def rated(log: list[tuple[int, Judgment | events.Command]], old: Campaign | None = None) -> Campaign:
    """Rate a log, and rate it again at each retraction. The campaign keeps the requests of an old one."""
    campaign = Campaign("c")
    campaign.outstanding = dict(old.outstanding) if old else {}
    while (found := campaign.apply_records(*unzip(log), refusal=None).retraction) is not None:
        campaign = Campaign("c")
        campaign.retractions, campaign.outstanding = found.retractions, dict(old.outstanding) if old else {}
    campaign.complete(BatchResult(), origin="log", with_requests=True)
    return campaign


class TestRetractions:
    retract = events.Retract(id="r", campaign="c", at=NOON, judgments=("id-3", "id-5"))

    def entries(self) -> list[tuple[int, Judgment | events.Command]]:
        log = [msgspec.structs.replace(entry, campaign="c") for entry in crowd_log(40, ways=3)]
        return [*enumerate(log), (40, self.retract), (41, judgment(77)), (42, log[3])]

    def test_the_batch_ends_before_it_and_what_came_first_is_applied(self) -> None:
        log = [
            *self.entries()[:20],
            (20, judgment(1)),
            (21, judgment(500, systems=("a",), ranks=None, score=1.0)),
            (22, self.retract),
            (23, judgment(23)),
        ]
        whole, single = Campaign("c"), Campaign("c")
        result = whole.apply_records(*unzip(log), refusal=None)
        single.apply(*unzip(log[:22]))
        assert result.retraction is not None
        assert result.retraction.offset == 22
        assert result.retraction.retractions.ids == ("id-3", "id-5")
        assert (result.applied, result.duplicates, list(result.rejections)) == (20, 1, [21])
        assert picture(whole) == picture(single)

    def test_what_was_counted_before_it_is_counted_once(self) -> None:
        log = [
            *self.entries()[:20],
            (20, judgment(1)),
            (21, judgment(500, systems=("a",), ranks=None, score=1.0)),
            (22, self.retract),
        ]
        assert rated(log).counts == Counts(judgments=18, commands=1, duplicates=1, rejected=1, retracted=2)

    def test_the_campaign_is_what_it_would_have_been_without_them(self) -> None:
        entries = self.entries()
        retracted, never = rated(entries), Campaign("c")
        never.apply(*unzip([entry for entry in entries if entry[0] not in {3, 5, 40, 42}]))
        assert {row.system: row for row in retracted.leaderboard().rows} == {
            row.system: row for row in never.leaderboard().rows
        }
        assert retracted.counts.records == 43
        assert (retracted.counts.judgments, retracted.counts.retracted, retracted.counts.duplicates) == (39, 2, 1)

    def test_neither_batches_nor_restarts_matter(self) -> None:
        entries = self.entries()
        whole, split = rated(entries), Campaign("c")
        split.retractions = whole.retractions
        changes = [split.drain_changes(split.apply(*unzip(entries[:41])), ())]
        split = Campaign.restore("c", stored_campaign(changes))
        split.apply(*unzip(entries[41:]))
        assert picture(whole) == picture(split)

    def test_a_judge_s_judgments_so_far_can_be_retracted_together(self) -> None:
        log: list[tuple[int, Judgment | events.Command]] = [
            (0, judgment(0, judge="bad", ranks=(2, 1))),
            (1, judgment(1)),
            (2, judgment(2, judge="bad", ranks=(2, 1))),
            (3, events.Retract(id="r", campaign="c", at=NOON, judge="bad")),
            (4, judgment(4, judge="bad")),
        ]
        never = Campaign("c")
        never.apply(*unzip([log[1], log[4]]))
        assert rated(log).leaderboard().rows == never.leaderboard().rows

    def test_a_second_retraction_keeps_the_first(self) -> None:
        entries = self.entries()
        second = events.Retract(id="r2", campaign="c", at=NOON, judgments=("id-7",))
        campaign, never = rated([*entries, (43, second)]), Campaign("c")
        never.apply(*unzip([entry for entry in entries if entry[0] not in {3, 5, 7, 40, 42}]))
        assert sorted(campaign.leaderboard().rows, key=str) == sorted(never.leaderboard().rows, key=str)
        assert campaign.counts.retracted == 3

    def test_without_the_log_it_is_refused_and_nothing_changes(self) -> None:
        campaign = Campaign("c")
        campaign.apply(*unzip(self.entries()[:40]))
        before = campaign.leaderboard().rows
        applied = campaign.apply(*unzip([(40, self.retract)]))
        assert [error.reason for error in applied.rejections.values()] == ["refused_command"]
        assert campaign.leaderboard().rows == before

    def test_the_judgment_that_opened_the_campaign_can_be_retracted(self) -> None:
        log: list[tuple[int, Judgment | events.Command]] = [
            (0, judgment(1, judge="bert")),
            (1, events.ExcludeJudge(id="e", campaign="c", at=NOON, judge="anna")),
            (2, judgment(2, judge="anna")),
            (3, judgment(3, judge="carl")),
            (4, events.Retract(id="r", campaign="c", at=NOON, judgments=("id-1",))),
        ]
        assert rated(log).counts == Counts(judgments=1, commands=2, rejected=1, retracted=1)

    def test_a_judge_can_be_retracted_again_later(self) -> None:
        log: list[tuple[int, Judgment | events.Command]] = [
            (0, judgment(0)),
            (1, judgment(1, judge="bad")),
            (2, events.Retract(id="r1", campaign="c", at=NOON, judge="bad")),
            (3, judgment(3, judge="bad")),
            (4, events.Retract(id="r2", campaign="c", at=NOON, judge="bad")),
        ]
        assert rated(log).counts == Counts(judgments=1, commands=2, retracted=2)


def test_one_wrong_time_takes_the_clock_on_by_a_day_at_most() -> None:
    campaign = Campaign("c", events.CampaignSettings(outstanding=2, request_seconds=60))
    campaign.apply(*unzip(numbered([judgment(1)])))
    campaign.apply(*unzip([(1, judgment(2, at=NOON + timedelta(days=9000))), (2, judgment(3))]))
    assert campaign.clock == NOON + timedelta(days=1, seconds=1)
    later = [judgment(10 + k, at=NOON + timedelta(days=9, hours=k)) for k in range(20)]
    campaign.apply(*unzip(list(enumerate(later, start=3))))
    assert campaign.clock == later[-1].at
