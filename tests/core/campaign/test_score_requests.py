"""A campaign of direct assessment asks for scores: of one system, on a segment, within its budget and its range."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.state import decode_meta
from streams.core.ranking.assessment_board import settle_scores
from streams.core.ranking.line_forecast import LIKELY
from streams.wire import events
from streams.wire.events import CampaignSettings, Create
from tests.builders import NOON, judgment, stored_campaign, unzip

if TYPE_CHECKING:
    from streams.core.campaign.result import BatchResult
    from streams.core.campaign.state import CampaignChange
    from streams.wire.events import Command, Judgment, MatchRequest
    from streams.wire.leaderboard import BoardOutlook

SYSTEMS = ("a", "b", "c")
SEGMENTS = tuple(f"s{number}" for number in range(6))


def scores_campaign(**more: object) -> Campaign:
    values = {"model": "assessment", "systems": SYSTEMS, "segments": SEGMENTS, "outstanding": 4} | more
    campaign = Campaign("c")
    create = Create(id="create", campaign="c", at=NOON, settings=CampaignSettings(**values))  # type: ignore[arg-type]
    result = campaign.apply([0], [create])
    assert not result.rejections, result.rejections
    return campaign


def apply(campaign: Campaign, *records: Judgment | Command) -> BatchResult:
    start = campaign.offset + 1
    return campaign.apply(range(start, start + len(records)), records)


def answer(number: int, request: MatchRequest, score: float, judge: str = "j") -> Judgment:
    return judgment(
        number,
        systems=request.systems,
        ranks=None,
        score=score,
        segment=request.segment or f"own-{number}",
        judge=judge,
        request=request.id,
    )


def refusal(**more: object) -> tuple[str | None, str]:
    values = {"model": "assessment"} | more
    create = Create(id="create", campaign="c", at=NOON, settings=CampaignSettings(**values))  # type: ignore[arg-type]
    (error,) = Campaign("c").apply([0], [create]).rejections.values()
    assert error.reason == "refused_command"
    return error.field, error.message


def run(campaign: Campaign, count: int, *, seed: int = 1) -> list[MatchRequest]:
    """Answer requests one after the other, with scores around 40, 50 and 60. Return the requests that were answered."""
    random, answered = np.random.default_rng(seed), []
    for number in range(count):
        if not campaign.outstanding:
            break
        request = next(iter(campaign.outstanding.values()))
        score = float(np.clip(40 + 10 * SYSTEMS.index(request.systems[0]) + random.normal(0, 10), 0, 100))
        apply(campaign, answer(number, request, score, judge=f"judge-{random.integers(3)}"))
        answered.append(request)
    return answered


class TestRequests:
    def test_each_is_of_one_system_and_a_segment_before_any_score(self) -> None:
        requests = list(scores_campaign().outstanding.values())
        assert [(request.systems, request.segment) for request in requests] == [
            (("a",), "s0"),
            (("b",), "s0"),
            (("c",), "s0"),
            (("a",), "s1"),
        ]
        assert all(request.information == 1.0 for request in requests[:3])

    @pytest.mark.parametrize("policy", ["information", "variance", "uniform"])
    def test_every_system_and_segment_is_scored_about_equally_often(self, policy: str) -> None:
        answered = run(scores_campaign(policy=policy), 90)
        assert len(answered) == 90
        assert all(isfinite(request.information) and request.information > 0 for request in answered)
        outputs = Counter((request.systems[0], request.segment) for request in answered)
        systems = Counter(request.systems[0] for request in answered)
        assert min(systems.values()) >= 10
        for system in SYSTEMS:
            counts = [outputs[system, segment] for segment in SEGMENTS]
            assert max(counts) - min(counts) <= 2, (system, counts)

    def test_they_come_from_the_output_with_the_fewest_scores(self) -> None:
        """b and c have six segments each; a has two scores on s0 and on s2, and none on s1."""
        campaign = scores_campaign(outstanding=1, policy="variance")
        scored = [("a", "s0"), ("a", "s2"), ("a", "s2")] + [
            (system, segment) for system in "bc" for segment in SEGMENTS
        ]
        for number, (system, segment) in enumerate(scored):
            apply(campaign, judgment(number, systems=(system,), ranks=None, score=50.0, segment=segment))
        (first,) = campaign.outstanding.values()
        assert (first.systems, first.segment) == (("a",), "s0")
        (request,) = apply(campaign, answer(20, first, 50.0)).requests
        assert (request.systems, request.segment) == (("a",), "s1")

    def test_one_system_is_enough(self) -> None:
        assert {request.systems for request in scores_campaign(systems=("a",)).outstanding.values()} == {("a",)}

    def test_without_listed_segments_the_platform_chooses_new_ones(self) -> None:
        campaign = scores_campaign(segments=(), outstanding=3)
        assert {request.segment for request in campaign.outstanding.values()} == {None}
        first = next(iter(campaign.outstanding.values()))
        requests = apply(campaign, answer(1, first, 60.0)).requests
        assert [(request.systems, request.segment) for request in requests] == [(("a",), None)]
        answered = run(campaign, 30)
        assert len({request.segment for request in answered}) > 5

    def test_they_stop_where_the_budget_ends(self) -> None:
        campaign = scores_campaign(budget=10)
        assert len(run(campaign, 50)) == 10
        assert campaign.outstanding == {}

    def test_pause_withdraw_and_expiry_work_as_for_matches(self) -> None:
        campaign = scores_campaign(request_seconds=60)
        apply(campaign, events.WithdrawSystem(id="w", campaign="c", at=NOON, system="a"))
        later = events.Change(id="x", campaign="c", at=NOON + timedelta(seconds=90), settings={"budget": 50})
        requests = apply(campaign, later).requests
        assert len(requests) == 4
        assert {request.systems for request in requests} == {("b",), ("c",)}
        apply(campaign, events.Pause(id="p", campaign="c", at=NOON))
        assert apply(campaign, answer(1, requests[0], 50.0)).requests == ()
        assert len(apply(campaign, events.Resume(id="r", campaign="c", at=NOON)).requests) == 4

    def test_an_added_system_joins(self) -> None:
        campaign = scores_campaign()
        run(campaign, 30)
        request = next(iter(campaign.outstanding.values()))
        add = events.AddSystem(id="add", campaign="c", at=NOON, system="new")
        assert ("new",) in {each.systems for each in apply(campaign, add, answer(99, request, 50.0)).requests}


def outlook_of(campaign: Campaign) -> BoardOutlook:
    found = campaign.leaderboard().outlook
    assert found is not None
    return found


class TestStopRule:
    def test_it_ends_the_requests_when_the_order_is_certain(self) -> None:
        campaign = scores_campaign(stop_confidence=0.9, segments=tuple(f"s{number}" for number in range(400)))
        answered = run(campaign, 1000)
        assert len(answered) < 400
        assert outlook_of(campaign).message.startswith("Every line between two systems is drawn.")

    def test_the_forecast_follows_the_ranges_of_the_board(self) -> None:
        """After f times as many scores, a gap of r deviations is likely to be above q / sqrt(f) deviations."""
        campaign = scores_campaign(systems=("a", "b"), parameters={"scale": "raw"}, stop_confidence=0.95)
        log = [
            judgment(number, systems=(system,), ranks=None, score=base + spread, segment=f"x{number // 2}")
            for number, (system, base, spread) in enumerate(
                [("a", 54.0, 20.0), ("b", 48.0, -20.0), ("a", 54.0, -20.0), ("b", 48.0, 20.0)] * 25
            )
        ]
        apply(campaign, *log)
        cells = campaign.model.score_cells()
        assert cells is not None
        tables = campaign.tables
        board = settle_scores(cells, judges=tables.judges.names, segments=tables.segments.names)
        r = abs(board.score[0] - board.score[1]) / np.sqrt(board.by_segment.variance[0, 1])
        q, z = stats.norm.ppf([0.975, LIKELY])
        growth = optimize.brentq(lambda f: r - q / np.sqrt(f) - z * np.sqrt(1 - 1 / f), 1.0001, 1e6)
        ahead = outlook_of(campaign)
        assert ahead.state == "open"
        assert ahead.judgments is not None
        assert 100 * (growth - 1) <= ahead.judgments < 1.1 * 100 * (growth - 1)
        assert ahead.message == f"About {ahead.judgments:,} more judgments until the next line, between a and b."

    def test_nothing_is_given_up_before_any_score_and_the_budget_holds(self) -> None:
        campaign = scores_campaign(stop_confidence=0.95, budget=30)
        assert outlook_of(campaign).state == "open"
        assert len(run(campaign, 100)) <= 30


class TestRange:
    @pytest.mark.parametrize(
        ("score_range", "inside", "outside"),
        [
            ((0.0, 100.0), (0.0, 100.0), (-0.1, 100.1)),
            ((1.0, 7.0), (1.0, 7.0), (0.0, 8.0)),
            ((-5.0, -1.0), (-3.0,), (0.0,)),
        ],
    )
    def test_a_score_outside_is_rejected_with_value_and_range(
        self, score_range: tuple[float, float], inside: tuple[float, ...], outside: tuple[float, ...]
    ) -> None:
        campaign = scores_campaign(score_range=score_range)
        for number, score in enumerate((*inside, *outside)):
            result = apply(campaign, judgment(number, systems=("a",), ranks=None, score=score, segment="s0"))
            if score in inside:
                assert not result.rejections
                continue
            (error,) = result.rejections.values()
            assert (error.reason, error.field) == ("invalid_value", "score")
            assert f"`score` is {score:g}" in error.message
            assert f"from {score_range[0]:g} to {score_range[1]:g}" in error.message

    def test_z_scores_do_not_depend_on_it_and_the_raw_prior_follows_it(self) -> None:
        by_hundred, by_seven = scores_campaign(), scores_campaign(score_range=(1.0, 7.0))
        log = [(system, f"s{k}", 10.0 * k + 5 * SYSTEMS.index(system)) for system in SYSTEMS for k in range(5)]
        for number, (system, segment, score) in enumerate(log):
            for campaign, value in ((by_hundred, score), (by_seven, 1 + 0.06 * score)):
                apply(campaign, judgment(number, systems=(system,), ranks=None, score=value, segment=segment))
        np.testing.assert_allclose(by_hundred.model.scores(), by_seven.model.scores(), atol=1e-12)
        raw = scores_campaign(score_range=(1.0, 7.0), parameters={"scale": "raw"}).model.scores()
        np.testing.assert_allclose(raw, [[4.0] * 3, [2 * 6 / np.sqrt(12)] * 3])

    @pytest.mark.parametrize("score_range", [(7.0, 1.0), (3.0, 3.0), (0.0, 1e-9)])
    def test_the_low_end_is_below_the_high_end(self, score_range: tuple[float, float]) -> None:
        assert "`score_range` is" in refusal(score_range=score_range)[1]

    def test_it_is_only_for_scores_and_ways_only_for_rankings(self) -> None:
        assert refusal(model="trueskill", score_range=(1.0, 7.0))[0] == "settings.score_range"
        assert refusal(ways=3)[0] == "settings.ways"
        changed = apply(scores_campaign(), events.Change(id="x", campaign="c", at=NOON, settings={"ways": 3}))
        assert [error.field for error in changed.rejections.values()] == ["settings.ways"]
        changed = apply(
            scores_campaign(), events.Change(id="x", campaign="c", at=NOON, settings={"score_range": [1, 7]})
        )
        assert [error.field for error in changed.rejections.values()] == ["settings.score_range"]

    def test_the_margin_fits_into_it(self) -> None:
        raw = {"scale": "raw", "margin": 6.5}
        assert refusal(parameters=raw, score_range=(1.0, 7.0))[0] == "settings.parameters"
        assert scores_campaign(parameters=raw, score_range=(1.0, 17.0)).status.settings.parameters == raw

    def test_a_campaign_stored_before_there_was_a_range_has_the_usual_one(self) -> None:
        campaign = scores_campaign()
        change = campaign.drain_changes(campaign.apply([1], [events.Pause(id="p", campaign="c", at=NOON)]), ())
        stored = stored_campaign([change]).meta
        older = stored.replace(b',"score_range":[0.0,100.0]', b"")
        assert older != stored
        assert decode_meta("c", older).status.settings.score_range == (0.0, 100.0)


_scores = st.tuples(st.sampled_from(SYSTEMS), st.sampled_from(SEGMENTS), st.integers(0, 2), st.integers(1, 7))


@settings(max_examples=40)
@given(
    st.lists(_scores, max_size=25),
    st.lists(st.integers(1, 25), max_size=5),
    st.sampled_from(["variance", "information"]),
)
def test_neither_batches_nor_restarts_change_a_byte(
    log: list[tuple[str, str, int, int]], cuts: list[int], policy: str
) -> None:
    values = CampaignSettings(
        model="assessment", systems=SYSTEMS, outstanding=3, policy=policy, score_range=(1.0, 7.0), stop_confidence=0.8
    )
    records: list[Judgment | Command] = [Create(id="create", campaign="c", at=NOON, settings=values)]
    for number, (system, segment, judge, score) in enumerate(log):
        records.append(
            judgment(number, systems=(system,), ranks=None, score=score, segment=segment, judge=f"judge-{judge}")
        )
    edges = sorted({0, len(records), *(min(cut, len(records)) for cut in cuts)})
    whole, kept, restarted = Campaign("c"), Campaign("c"), Campaign("c")
    at_once = [whole.drain_changes(whole.apply(*unzip(enumerate(records))), ())]
    changes: tuple[list[CampaignChange], list[CampaignChange]] = ([], [])
    for start, stop in pairwise(edges):
        part = unzip(list(enumerate(records))[start:stop])
        results = kept.apply(*part), restarted.apply(*part)
        assert results[0].requests == results[1].requests
        changes[0].append(kept.drain_changes(results[0], ()))
        changes[1].append(restarted.drain_changes(results[1], ()))
        restarted = Campaign.restore("c", stored_campaign(changes[1]))
    # A campaign that was restored writes its status and its match requests once more.
    first, second = ([replace(each, status=None, requests={}) for each in part] for part in changes)
    assert first == second
    assert stored_campaign(changes[0]).meta == stored_campaign(changes[1]).meta
    assert stored_campaign(at_once).tables == stored_campaign(changes[0]).tables


def test_no_system_gets_all_requests_after_every_segment_was_scored() -> None:
    campaign = scores_campaign(policy="variance", parameters={"scale": "raw"}, segments=SEGMENTS[:2])
    means = {"a": (49.0, 51.0), "b": (20.0, 80.0), "c": (49.0, 51.0)}  # b differs most between the two segments
    asked: Counter[str] = Counter()
    for number in range(120):
        request = next(iter(campaign.outstanding.values()))
        (system,) = request.systems
        asked[system] += 1
        score = means[system][SEGMENTS.index(request.segment or "")]
        apply(campaign, answer(number, request, score, judge=f"j{number % 5}"))
    assert min(asked.values()) > 15, asked
