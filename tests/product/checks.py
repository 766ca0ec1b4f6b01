"""What must hold of every campaign, whatever its model and whatever happened to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from math import isfinite
from typing import Any

import msgspec
from jsonschema import Draft202012Validator

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.reports.views import campaign_view, judge_views, pair_views, segment_views
from streams.wire import schemas, topics
from streams.wire.events import Leaderboard, MatchRequest, Row
from tests.product.variants import Variant

OUTPUTS = (topics.CAMPAIGNS, topics.MATCH_REQUESTS, topics.LEADERBOARDS, topics.RATINGS, topics.REJECTED)
# A number that is none, as JSON, Python, JavaScript or a format string writes it.
NO_NUMBER = re.compile(rb"(?<![\w.-])[-+]?(nan|inf|infinity|undefined)(?![\w.-])", re.IGNORECASE)


def check_text(text: str | bytes) -> None:
    """Fail for NaN, an infinity or a traceback in what a program or a person reads."""
    raw = text.encode() if isinstance(text, str) else text
    found = NO_NUMBER.search(raw)
    assert not found, raw[max(0, found.start() - 200) : found.end() + 100]
    assert b"Traceback" not in raw, raw


def check_numbers(value: Any, place: str = "") -> None:
    """Fail for NaN or an infinity anywhere in a value. JSON would hide it as null."""
    if isinstance(value, float):
        assert isfinite(value), f"{place} is {value}"
    elif isinstance(value, dict):
        for name, each in value.items():
            check_numbers(each, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            check_numbers(each, f"{place}[{number}]")
    elif isinstance(value, msgspec.Struct):
        check_numbers(msgspec.structs.asdict(value), f"{place}{type(value).__name__}")


@cache
def _validator(event: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.schema(event))


def check_output(topic: topics.Topic, value: bytes, *, published: bool = False) -> Any:
    """Decode an event of an output topic, and check it; with `published`, also against the published schema."""
    (kind,) = topic.events
    event: Any = msgspec.json.decode(value, type=kind, strict=True)
    check_text(value)
    check_numbers(event)
    if isinstance(event, Leaderboard):
        check_board(event)
    if published:
        name = next(name for name, each in schemas.EVENTS.items() if each is kind)
        _validator(name).validate(msgspec.json.decode(value))
    return event


def check_board(board: Leaderboard) -> None:
    """Check ranks, rank ranges and clusters, island by island."""
    assert len({row.system for row in board.rows}) == len(board.rows)
    islands = [row.island for row in board.rows]
    assert islands == sorted(islands)
    for island in set(islands):
        check_island([row for row in board.rows if row.island == island])


def check_island(rows: Sequence[Row]) -> None:
    """Check the rows of systems that were compared."""
    assert [row.rank for row in rows] == list(range(1, len(rows) + 1))
    assert all(1 <= row.rank_low <= row.rank <= row.rank_high <= len(rows) for row in rows), rows
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    steps = [after.cluster - before.cluster for before, after in pairwise(rows)]
    assert set(steps) <= {0, 1}, rows
    assert not rows or rows[0].cluster == 1
    for place in (place for place, step in enumerate(steps, start=1) if step):
        assert all(row.rank_high <= place for row in rows[:place]), rows
        assert all(row.rank_low > place for row in rows[place:]), rows


def check_request(request: MatchRequest, campaign: Campaign, variant: Variant) -> None:
    """Check a match request that was just sent."""
    settings, names = campaign.status.settings, campaign.tables.systems.names
    active = {names[system] for system in campaign.active}
    assert set(request.systems) <= active, f"{request} is of systems that are not active"
    assert len(set(request.systems)) == len(request.systems), request
    ways = 1 if variant.model.kind == "scores" else min(settings.ways, len(active))
    assert len(request.systems) == ways, f"{request} has not {ways} systems"
    if variant.settings.baseline:
        assert settings.baseline in request.systems, f"{request} lacks the baseline"
    assert isfinite(request.information), request
    assert request.information > 0, f"{request} tells nothing"
    segments = campaign.tables.segments.names
    may_be_new = not segments or (variant.model.kind == "scores" and not settings.segments)
    assert request.segment in segments or (may_be_new and request.segment is None), request
    assert request.expires_at > campaign.clock


def missing_requests(campaign: Campaign, variant: Variant) -> int:
    """Return how many match requests the campaign should have out besides those that it has."""
    settings, names = campaign.status.settings, campaign.tables.systems.names
    active = {names[system] for system in campaign.active}
    needed = 1 if variant.model.kind == "scores" else 2
    if campaign.status.state != "open" or len(active) < needed:
        return 0
    if variant.settings.baseline and settings.baseline not in active:
        return 0
    if settings.stop_confidence is not None and campaign.meta.stop.met:
        return 0
    wanted = settings.outstanding
    if settings.budget is not None:
        wanted = min(wanted, max(0, settings.budget - campaign.counts.judgments))
    return wanted - len(campaign.outstanding)


def views(campaign: ReadOnlyCampaign) -> list[msgspec.Struct]:
    """Return all that is shown of a campaign."""
    return [
        campaign_view(campaign),
        campaign.leaderboard(),
        *campaign.ratings(),
        *judge_views(campaign),
        *segment_views(campaign),
        *pair_views(campaign),
        *campaign.outstanding.values(),
    ]


def check_restored(campaign: Campaign, stored: Any) -> None:
    """Check that a campaign out of the store is the one that was put in, and that all its numbers are numbers."""
    restored = Campaign.restore(campaign.name, stored, options=CampaignOptions())
    shown = views(campaign)
    check_numbers(shown)
    check_board(campaign.leaderboard())
    assert views(restored) == shown
    assert restored.status == campaign.status
    assert restored.counts == campaign.counts


def check_events(values: Iterable[tuple[topics.Topic, list[bytes]]], *, published: bool = False) -> list[Any]:
    """Check all events of output topics; with `published`, the last of each also against the published schema."""
    found = []
    for topic, records in values:
        found += [check_output(topic, value) for value in records]
        if published and records:
            check_output(topic, records[-1], published=True)
    return found
