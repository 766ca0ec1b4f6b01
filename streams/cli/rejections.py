"""The records of `rejected.v1`, filtered by campaign, reason, time and id."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from streams.cli.progress import Bar
from streams.cli.terminal import safe
from streams.errors import suggestion
from streams.wire import events, topics
from streams.wire.reasons import REASONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from streams.kafka.reading import TopicRecord
    from streams.settings import Settings


class RejectedRecord(NamedTuple):
    """A rejection, with its time and with the key of the rejected record."""

    at: datetime
    key: bytes | None
    rejection: events.Rejection

    @property
    def campaign(self) -> str:
        """Return the campaign in the record or, if the record can't be read, in its key."""
        try:
            return msgspec.json.decode(self.rejection.original, type=_OnlyCampaign).campaign
        except (ValueError, RecursionError):
            return (self.key or b"").decode(errors="backslashreplace")

    @property
    def origin(self) -> tuple[str, int, int]:
        """Return topic, partition and offset of the rejected record."""
        return self.rejection.topic, self.rejection.partition, self.rejection.offset


class _OnlyCampaign(msgspec.Struct):
    campaign: str


def read_rejections(
    settings: Settings,
    *,
    campaign: str | None,
    reasons: Collection[str],
    since: datetime | None,
    ids: Collection[str] = (),
) -> Iterator[RejectedRecord]:
    """Read the rejections that pass all filters, each once."""
    from streams.kafka.reading import read_topic

    for reason in reasons:
        if reason not in REASONS:
            raise click.UsageError(f"no reason {reason!r}; {suggestion(reason, REASONS)}")
    seen: set[str] = set()
    campaigns: set[str] = set()
    found = False
    with read_topic(settings, topics.REJECTED, since=since) as records, Bar(total=records.total) as bar:
        bar.describe("reading")
        for record in records:
            bar.advance(1)
            each = _decode(record)
            if each is None or each.rejection.id in seen:
                continue
            seen.add(each.rejection.id)
            if (reasons and each.rejection.reason not in reasons) or (ids and each.rejection.id not in ids):
                continue
            if campaign is not None:
                campaigns.add(each.campaign)
            if campaign is None or each.campaign == campaign:
                found = True
                yield each
    if campaigns and not found:
        hint = safe(suggestion(campaign or "", campaigns))
        click.echo(f"no rejection of the campaign {campaign!r}; {hint}", err=True)


def _decode(record: TopicRecord) -> RejectedRecord | None:
    try:
        return RejectedRecord(record.at, record.key, msgspec.json.decode(record.value, type=events.Rejection))
    except ValueError as error:
        click.echo(f"{record.place} is skipped, because it can't be read: {safe(str(error))}", err=True)
        return None
