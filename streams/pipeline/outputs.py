"""The outputs of a campaign's part of a batch, ready to be emitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.result import BatchResult
from streams.wire import topics
from streams.wire.events import CampaignStatus, encode
from streams.wire.leaderboard import leaderboard_key
from streams.wire.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import msgspec

    from streams.core.campaign.quarantined import QuarantinedCampaign
    from streams.wire.events import Leaderboard
    from streams.wire.leaderboard import Category


def batch_outputs(campaign: str, result: BatchResult) -> Iterator[Output]:
    """Yield the ratings, match requests, cancelled ones first, and statuses of a batch. Tombstones come before them."""
    yield from (tombstone(topics.RATINGS, f"{campaign}/{system}") for system in result.removed)
    if any(status.state == "deleted" for status in result.statuses):
        yield tombstone(topics.LEADERBOARDS, campaign)
    yield from category_tombstones(campaign, result.removed_categories)
    yield from (make_output(topics.RATINGS, f"{campaign}/{rating.system}", rating) for rating in result.ratings)
    requests = (*result.cancelled, *result.requests)
    yield from (make_output(topics.MATCH_REQUESTS, campaign, request) for request in requests)
    yield from status_outputs(result)


def status_outputs(result: BatchResult) -> Iterator[Output]:
    """Yield the statuses of a batch, with a tombstone after that of a deleted campaign."""
    for status in result.statuses:
        yield make_output(topics.CAMPAIGNS, status.campaign, status)
        if status.state == "deleted":
            yield tombstone(topics.CAMPAIGNS, status.campaign)


def present_outputs(campaign: Campaign | QuarantinedCampaign | None, *, origin: str) -> Iterator[Output]:
    """Yield the present rating of every system, except in a quarantine, and the present status of a campaign."""
    if campaign is None or campaign.meta.status.offset < 0:
        return
    ratings = campaign.ratings(origin=origin) if isinstance(campaign, Campaign) else ()
    yield from batch_outputs(campaign.name, BatchResult(ratings=ratings, statuses=(campaign.meta.status,)))


def leaderboard_output(board: Leaderboard) -> Output:
    """Return a leaderboard as a record. Those of categories have keys of their own."""
    return make_output(topics.LEADERBOARDS, leaderboard_key(board.campaign, board.category), board)


def category_tombstones(campaign: str, categories: Iterable[Category]) -> Iterator[Output]:
    """Yield the records that remove the leaderboards of categories."""
    yield from (tombstone(topics.LEADERBOARDS, leaderboard_key(campaign, each)) for each in categories)


def tombstone(topic: topics.Topic, key: str) -> Output:
    """Return a record that removes a key from its topic."""
    return Output(topic.name, key.encode(), b"")


def make_output(topic: topics.Topic, key: str, event: msgspec.Struct) -> Output:
    """Return an event as a record of its topic. A status is published without gold items."""
    if isinstance(event, CampaignStatus):
        event = event.published()
    return Output(topic.name, key.encode(), encode(event))
