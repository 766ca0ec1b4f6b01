"""What a batch writes: only what it changed, however large the campaign is."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.state import TABLES
from streams.stores.commit import Commit
from streams.stores.redis.keys import Keys
from streams.stores.redis.reading import LARGE
from streams.stores.redis.units import ALL_TABLES, CAMPAIGN_TABLES, campaign_unit, partition_unit
from streams.wire.events import CampaignSettings, Create, ExcludeJudge, WithdrawSystem
from tests.builders import NOON, judgment

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignChange
    from streams.wire.events import Command

BOUND = 10_000


def changed(campaign: Campaign, offset: int, *events: Command) -> CampaignChange:
    """Apply a judgment after some commands. Return the change of the judgment alone."""
    for command in events:
        campaign.drain_changes(campaign.apply([offset], [command]), ())
        offset += 1
    campaign.drain_changes(campaign.apply([offset], [judgment(1)]), ())
    return campaign.drain_changes(campaign.apply([offset + 1], [judgment(2)]), ())


def written(change: CampaignChange) -> int:
    """Return the number of bytes that go to Redis for a change, with the partition's own part."""
    commit = Commit(before=1, after=2, read=2, rejected=0, campaigns=(change,), outbox=())
    units = campaign_unit(Keys(""), change), partition_unit(Keys(""), "judgments.v1/0", commit)
    return sum(
        len(each if isinstance(each, bytes) else str(each).encode()) for unit in units for each in unit.arguments()
    )


def create(**settings: tuple[str, ...]) -> Create:
    return Create(id="create", campaign="c", at=NOON, settings=CampaignSettings(**settings))  # type: ignore[arg-type]


def test_a_judgment_writes_as_little_with_30_000_named_segments_as_with_ten() -> None:
    segments = tuple(f"segment-{number:05}-of-a-document" for number in range(30_000))
    many, few = (changed(Campaign("c"), 0, create(segments=segments[:count])) for count in (30_000, 10))
    assert written(many) < BOUND
    assert written(many) - written(few) < 10, "a few digits"


def test_what_commands_have_changed_is_not_written_with_every_judgment() -> None:
    names = tuple(f"with-a-name-of-some-length-{number}" for number in range(100))
    withdrawn = [WithdrawSystem(id=name, campaign="c", at=NOON, system=name) for name in names]
    excluded = [ExcludeJudge(id=f"x-{name}", campaign="c", at=NOON, judge=name) for name in names]
    change = changed(Campaign("c"), 0, create(systems=("a", "b", *names)), *withdrawn, *excluded)
    assert (change.status, change.withdrawn) == (None, ())
    assert written(change) < BOUND


def test_a_withdrawn_system_is_removed_from_the_scores_once_and_does_not_come_back() -> None:
    campaign = Campaign("c")
    changed(campaign, 0, create(systems=("a", "b", "x", "y")))
    gone = campaign.drain_changes(campaign.apply([5], [WithdrawSystem(id="w", campaign="c", at=NOON, system="x")]), ())
    assert (gone.withdrawn, "x" in gone.scores) == (("x",), False)
    later = campaign.drain_changes(campaign.apply([6], [judgment(3)]), ())
    assert (later.withdrawn, set(later.scores)) == ((), {"a", "b"})


def test_a_judgment_writes_as_little_with_200_outstanding_requests_as_with_three() -> None:
    sizes = []
    for outstanding in (200, 3):
        settings = CampaignSettings(systems=("a", "b", "c"), outstanding=outstanding)
        campaign = Campaign("c")
        changed(campaign, 0, Create(id="create", campaign="c", at=NOON, settings=settings))
        (request, *_), size = campaign.outstanding, len(campaign.outstanding)
        change = campaign.drain_changes(campaign.apply([9], [judgment(9, request=request)]), ())
        assert (size, len(change.requests), change.ended) == (outstanding, 1, (request,))
        sizes.append(written(change))
    assert sizes[0] - sizes[1] < 10, "a few digits"


def test_every_table_of_a_large_campaign_is_read() -> None:
    assert {*LARGE, "systems"} == {*TABLES}


def test_the_script_counts_all_tables_of_a_campaign() -> None:
    script = files("streams.stores.redis").joinpath("lua", "persist.lua").read_text()
    found = re.search(r"local TABLES = \{(.*?)\}", script, re.DOTALL)
    assert found is not None
    assert tuple(re.findall(r"'(\w+)'", found[1])) == CAMPAIGN_TABLES
    unit = campaign_unit(Keys(""), changed(Campaign("c"), 0))
    assert unit.tables == ALL_TABLES
    assert {unit.head.removesuffix("meta") + table for table in CAMPAIGN_TABLES} < {*unit.touched()}
