"""Gold items check judges: they are mixed into the requests, are never rated, and may exclude a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.gold import GoldItems, passes, wilson_interval
from streams.core.campaign.options import CampaignOptions
from streams.core.campaign.request_ids import request_key
from streams.pipeline.embedded import Embedded
from streams.reports.views import judge_views
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import CampaignSettings, Create, GoldItem, IncludeJudge, Judgment
from tests.builders import NOON, crowd_log, judgment, stored_campaign, unzip

if TYPE_CHECKING:
    from collections.abc import Sequence

GOLD = (
    GoldItem(segment="gold-1", systems=("good", "bad"), ranks=(1, 2)),
    GoldItem(segment="gold-2", systems=("a", "b", "c"), ranks=(1, 2, 2)),
)
OPTIONS = CampaignOptions(request_key=request_key("secret"))


def created(**settings: object) -> Create:
    chosen = CampaignSettings(gold=GOLD, systems=("a", "b", "c"), segments=("s", "t"), **settings)  # type: ignore[arg-type]
    return Create(id="create", campaign="c", at=NOON, settings=chosen)


def answered(number: int, *, passed: bool, judge: str = "judge") -> Judgment:
    ranks = (1, 2) if passed else (2, 1)
    return judgment(number, systems=("good", "bad"), ranks=ranks, segment="gold-1", judge=judge)


def campaign_of(log: Sequence[Judgment], **settings: object) -> Campaign:
    campaign = Campaign("c", options=OPTIONS)
    campaign.apply(*unzip(enumerate([created(**settings), *log])))
    return campaign


def test_a_judgment_of_a_gold_item_is_counted_and_leaves_the_rating_and_the_tables_alone() -> None:
    crowd = [judgment(number, systems=("a", "b"), segment="s") for number in range(20)]
    with_gold = [*crowd[:10], *(answered(100 + k, passed=True) for k in range(5)), *crowd[10:]]
    one, other = campaign_of(crowd), campaign_of(with_gold)
    assert one.ratings()[0].mean == other.ratings()[0].mean
    assert one.leaderboard().rows == other.leaderboard().rows
    assert (other.counts.judgments, other.counts.gold) == (20, 5)
    assert other.tables.systems.names == ["a", "b", "c"]
    assert other.tables.segments.names == ["s", "t"]
    assert other.counts.records == 26


def test_the_same_systems_on_another_segment_are_rated() -> None:
    campaign = campaign_of([judgment(1, systems=("a", "b", "c"), ranks=(1, 2, 3), segment="s")])
    assert (campaign.counts.judgments, campaign.counts.gold) == (1, 0)


@pytest.mark.parametrize(
    ("systems", "ranks", "passed"),
    [
        (("a", "b", "c"), (1, 2, 3), True),
        (("c", "a", "b"), (2, 1, 3), True),
        (("a", "b", "c"), (1, 1, 2), False),
        (("a", "b", "c"), (2, 1, 3), False),
    ],
)
def test_all_strict_preferences_of_the_answer_must_be_met(
    systems: tuple[str, ...], ranks: tuple[int, ...], passed: bool
) -> None:
    assert passes(judgment(1, systems=systems, ranks=ranks, segment="gold-2"), GOLD[1]) == passed


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_bounds_are_those_of_wilson(passed: int, failed: int) -> None:
    if passed + failed:
        expected = binomtest(passed, passed + failed).proportion_ci(0.95, "wilson")
        assert wilson_interval(passed, passed + failed) == pytest.approx((expected.low, expected.high))


def test_each_judge_has_a_pass_rate_with_bounds_also_after_a_restart() -> None:
    campaign = Campaign("c")
    log: list[Any] = [
        created(),
        *(answered(k, passed=k % 4 > 0) for k in range(20)),
        answered(90, passed=False, judge="other"),
    ]
    change = campaign.drain_changes(campaign.apply(*unzip(enumerate(log))), ())
    for each in (campaign, Campaign.restore("c", stored_campaign([change]))):
        found = {view.judge: view for view in judge_views(each)}
        assert (found["judge"].gold_passed, found["judge"].gold_failed) == (15, 5)
        assert (found["judge"].gold_low, found["judge"].gold_high) == wilson_interval(15, 20)
        assert (found["other"].gold_passed, found["other"].gold_failed) == (0, 1)


def test_a_judge_whose_pass_rate_is_surely_below_the_threshold_is_excluded() -> None:
    campaign = Campaign("c")
    log: list[Any] = [created(gold_threshold=0.5), *(answered(k, passed=False) for k in range(10))]
    result = campaign.apply(*unzip(enumerate(log)))
    first = next(k for k in range(1, 10) if wilson_interval(0, k)[1] < 0.5)
    assert campaign.counts.gold == first
    assert campaign.status.excluded == ("judge",)
    assert {error.reason for error in result.rejections.values()} == {"judge_excluded"}
    assert [(status.offset, status.command) for status in result.statuses[1:]] == [(first, None)]
    include = IncludeJudge(id="include", campaign="c", at=NOON, judge="judge")
    campaign.apply([20, 21], [include, answered(50, passed=True)])
    assert not campaign.status.excluded, "only a failed item excludes"


@pytest.mark.parametrize("requests_only", [False, True])
def test_gold_items_are_mixed_into_the_requests_at_the_rate_and_look_alike(requests_only: bool) -> None:
    items = tuple(GoldItem(segment=f"g-{k}", systems=("a", "b"), ranks=(1, 2)) for k in range(50))
    chosen = CampaignSettings(
        gold=items, gold_rate=0.25, systems=("a", "b", "c"), segments=("s",), requests_only=requests_only
    )
    campaign = Campaign("c", options=OPTIONS)
    campaign.apply([0], [Create(id="create", campaign="c", at=NOON, settings=chosen)])
    gold, asked = GoldItems(items), []
    texts: tuple[set[tuple[str, int]], set[tuple[str, int]]] = set(), set()
    for number in range(1, 400):
        assert len(campaign.outstanding) == 8
        request = next(iter(campaign.outstanding.values()))
        asked.append(gold.includes(request))
        texts[asked[-1]].add((request.why, len(request.id.split("/"))))
        answer = judgment(number, systems=request.systems, segment=request.segment or "s", request=request.id)
        campaign.apply([number], [msgspec.structs.replace(answer, at=NOON)])
    assert 0.18 < sum(asked) / len(asked) < 0.32
    assert texts[True] <= texts[False]
    assert campaign.counts.gold == sum(asked)
    assert campaign.counts.rejected == 0


def test_the_requests_depend_on_the_seed_and_the_log_alone() -> None:
    one, other = (campaign_of(crowd_log(0), gold_rate=0.5) for _ in range(2))
    assert one.outstanding == other.outstanding
    assert any(GoldItems(GOLD).includes(request) for request in one.outstanding.values())


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (GoldItem(segment="x", systems=("a", "b"), ranks=(1, 2, 3)), "2 systems and 3 ranks"),
        (GoldItem(segment="x", systems=("a", "a"), ranks=(1, 2)), "names a system twice"),
        (GoldItem(segment="x", systems=("a", "b"), ranks=(1, 1)), "prefers no system"),
        (GoldItem(segment="gold-1", systems=("bad", "good"), ranks=(1, 2)), "listed twice"),
    ],
)
def test_an_item_without_a_clear_answer_is_refused(item: GoldItem, said: str) -> None:
    create = Create(id="create", campaign="c", at=NOON, settings=CampaignSettings(gold=(*GOLD, item)))
    (error,) = Campaign("c").apply([0], [create]).rejections.values()
    assert (error.field, said in error.message) == ("settings.gold", True)


def test_the_answers_are_not_published_and_are_stored() -> None:
    stream = Embedded(Settings(judge_key="key"))
    stream.publish(created())
    stream.publish(answered(1, passed=True))
    stream.run()
    (record,) = stream.log.all(topics.CAMPAIGNS.name)
    assert b'"gold-1"' not in (record.value or b"")
    assert msgspec.json.decode(record.value or b"")["gold_items"] == 2
    meta = stream.store.read_meta("c")
    assert meta is not None
    assert meta.status.settings.gold == GOLD
