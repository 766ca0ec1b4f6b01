"""A campaign that compares every system with a baseline: its settings, requests, answers and outlook."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from streams.core.campaign.campaign import Campaign
from streams.core.matching import POLICIES
from streams.core.models import MODELS
from streams.core.ranking.board_outlook import FEWEST
from streams.errors import RecordError
from streams.reports.views import segment_views
from streams.wire import events
from streams.wire.leaderboard import BoardOutlook
from tests.builders import NOON, judgment, unzip

SYSTEMS = ("base", "good", "fair", "poor", "bad")


def opened(**settings: object) -> Campaign:
    """Return a campaign of five systems against `base`, created by a command."""
    given = {"model": "grm", "baseline": "base", "systems": SYSTEMS, "segments": ("s1", "s2", "s3"), **settings}
    campaign = Campaign("c")
    result = campaign.apply(*unzip([(0, create(**given))]))
    assert not result.rejections
    return campaign


def create(**settings: object) -> events.Create:
    return events.Create(id="1", campaign="c", at=NOON, settings=events.CampaignSettings(**settings))  # type: ignore[arg-type]


def refusal(command: events.Command, campaign: Campaign | None = None) -> RecordError:
    campaign = campaign or Campaign("c")
    (error,) = campaign.apply(*unzip([(campaign.offset + 1, command)])).rejections.values()
    return error


@dataclass
class Crowd:
    """Answers the requests of a campaign: a system is better, the earlier it comes in SYSTEMS after the baseline."""

    campaign: Campaign
    answered: int = 0

    def answer(self, count: int, *, ties_only: bool = False, seed: int = 0) -> list[events.MatchRequest]:
        random, done = np.random.default_rng(seed), []
        for _ in range(count):
            if not self.campaign.outstanding:
                break
            request = next(iter(self.campaign.outstanding.values()))
            quality = [(0.0, 1.5, 0.5, -0.5, -1.5, 2.5)[(*SYSTEMS, "new").index(name)] for name in request.systems]
            seen = np.round(random.normal(quality)) if not ties_only else np.zeros(len(quality))
            self.answered += 1
            ranks = tuple(int(rank) for rank in np.unique(-seen, return_inverse=True)[1] + 1)
            event = judgment(
                self.answered,
                systems=request.systems,
                ranks=ranks,
                judge=f"j{self.answered % 4}",
                segment=request.segment or "s1",
                request=request.id,
            )
            self.campaign.apply(*unzip([(self.campaign.offset + 1, event)]))
            done.append(request)
        return done


def outlook_of(crowd: Crowd) -> BoardOutlook:
    found = crowd.campaign.leaderboard().outlook
    assert found is not None
    return found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("ways", [2, 3, 20])
def test_every_request_contains_the_baseline_and_tells_something(policy: str, ways: int) -> None:
    crowd = Crowd(opened(policy=policy, ways=ways, outstanding=4))
    asked = crowd.answer(60)
    assert len(asked) == 60
    assert crowd.campaign.counts.judgments == 60
    assert {system for request in asked for system in request.systems} == set(SYSTEMS)
    for request in asked:
        assert "base" in request.systems
        assert len(set(request.systems)) == len(request.systems) == min(ways, 5)
        assert 0 < request.information < 100


def test_the_order_is_found_by_the_requests() -> None:
    crowd = Crowd(opened())
    crowd.answer(400)
    assert [row.system for row in crowd.campaign.leaderboard().rows] == ["good", "fair", "base", "poor", "bad"]


def test_a_campaign_stops_when_its_lines_are_certain() -> None:
    crowd = Crowd(opened(stop_confidence=0.6))
    assert 20 < len(crowd.answer(3000)) < 3000
    assert outlook_of(crowd).state == "settled"


def test_a_system_that_is_added_meets_the_baseline_next() -> None:
    crowd = Crowd(opened(outstanding=2))
    crowd.answer(60)
    add = events.AddSystem(id="2", campaign="c", at=NOON, system="new")
    crowd.campaign.apply(*unzip([(crowd.campaign.offset + 1, add)]))
    asked = crowd.answer(8)
    assert [request for request in asked[2:] if set(request.systems) == {"base", "new"}]
    crowd.answer(150)
    assert crowd.campaign.leaderboard().rows[0].system == "new"


def test_a_withdrawn_system_is_not_asked_for_and_the_last_two_still_are() -> None:
    crowd = Crowd(opened(outstanding=3))
    crowd.answer(10)
    for number, system in enumerate(("good", "fair", "poor")):
        command = events.WithdrawSystem(id=f"w{number}", campaign="c", at=NOON, system=system)
        crowd.campaign.apply(*unzip([(crowd.campaign.offset + 1, command)]))
    assert {tuple(sorted(request.systems)) for request in crowd.answer(10)[3:]} == {("bad", "base")}
    command = events.WithdrawSystem(id="w", campaign="c", at=NOON, system="bad")
    crowd.campaign.apply(*unzip([(crowd.campaign.offset + 1, command)]))
    crowd.answer(3)
    assert not crowd.campaign.outstanding
    assert outlook_of(crowd).message == "There are fewer than two systems to compare."


def test_the_baseline_can_not_be_withdrawn() -> None:
    error = refusal(events.WithdrawSystem(id="2", campaign="c", at=NOON, system="base"), opened())
    assert (error.reason, error.field) == ("refused_command", "system")
    assert "`create` a new campaign with another baseline" in error.message


@pytest.mark.parametrize("ties_only", [False, True])
@pytest.mark.parametrize("count", [0, 1, 5, 300])
def test_what_is_shown_is_finite_whatever_was_judged(count: int, ties_only: bool) -> None:
    crowd = Crowd(opened(stop_confidence=0.95, replicas=0))
    crowd.answer(count, ties_only=ties_only)
    ahead = outlook_of(crowd)
    assert ahead.state in {"settled", "open"}
    assert ahead.judgments is None or ahead.judgments >= FEWEST
    assert all(np.isfinite([row.score, row.deviation]).all() for row in crowd.campaign.leaderboard().rows)
    assert all(np.isfinite(row.information) for row in segment_views(crowd.campaign) if row.information is not None)
    assert len(segment_views(crowd.campaign)) == 3


def test_the_outlook_names_the_next_line_and_what_it_needs() -> None:
    crowd = Crowd(opened())
    crowd.answer(60)
    ahead = outlook_of(crowd)
    assert ahead.state == "open"
    order = [row.system for row in crowd.campaign.leaderboard().rows]
    assert order.index(ahead.above or "") < order.index(ahead.below or "")
    assert ahead.message.endswith(f"until the next line, between {ahead.above} and {ahead.below}.")


# -- answers -----------------------------------------------------------------------------------------------


def test_an_answer_without_the_baseline_is_rejected_with_the_reason_and_changes_nothing() -> None:
    campaign = opened()
    before = campaign.leaderboard().rows
    log = [judgment(1, systems=("good", "bad")), judgment(2, systems=("good", "base", "bad"), ranks=(1, 2, 3))]
    result = campaign.apply(*unzip([(1, log[0]), (2, log[1])]))
    (error,) = result.rejections.values()
    assert (error.reason, error.field) == ("without_baseline", "systems")
    assert "compares every system with its baseline 'base'" in error.message
    assert (campaign.counts.judgments, campaign.counts.rejected) == (1, 1)
    assert campaign.leaderboard().rows != before


def test_a_ranking_counts_its_pairs_with_the_baseline_only() -> None:
    three, two = opened(replicas=0), opened(replicas=0)
    three.apply(*unzip([(1, judgment(1, systems=("good", "base", "bad"), ranks=(1, 2, 3)))]))
    pairs = [judgment(1, systems=("good", "base")), judgment(2, systems=("base", "bad"))]
    two.apply(*unzip([(1, pairs[0]), (2, pairs[1])]))
    assert [row.score for row in three.leaderboard().rows] == [row.score for row in two.leaderboard().rows]


# -- settings ------------------------------------------------------------------------------------------------


def test_a_baseline_without_a_mode_means_the_baseline_mode() -> None:
    assert opened().model.required_system == 0
    assert opened(parameters={"mode": "baseline"}).model.required_system == 0
    assert opened(baseline=None).model.required_system is None


@pytest.mark.parametrize("model", [name for name, kind in MODELS.items() if not kind.takes_baseline])
def test_a_model_without_a_baseline_refuses_one(model: str) -> None:
    error = refusal(create(model=model, baseline="base", systems=SYSTEMS))
    assert (error.reason, error.field) == ("refused_command", "settings.baseline")
    assert f"{model!r} compares all systems and has no baseline, but `baseline` is 'base'" in error.message
    assert "leave it out, or choose a model that has one: grm" in error.message


@pytest.mark.parametrize(
    ("mode", "baseline", "way_out"),
    [
        ("pairwise", "base", "leave out the baseline, or the mode to compare every system with it"),
        ("baseline", None, "name one of the systems, or leave out the mode"),
    ],
)
def test_mode_and_baseline_may_not_contradict_each_other(mode: str, baseline: str | None, way_out: str) -> None:
    error = refusal(create(model="grm", parameters={"mode": mode}, baseline=baseline, systems=SYSTEMS))
    assert (error.reason, error.field) == ("refused_command", "settings.baseline")
    assert way_out in error.message


def test_the_baseline_can_not_change_while_the_campaign_runs() -> None:
    error = refusal(events.Change(id="2", campaign="c", at=NOON, settings={"baseline": "good"}), opened())
    assert (error.reason, error.field) == ("refused_command", "settings.baseline")
