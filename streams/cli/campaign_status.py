"""`judgestream campaign show`: the status of campaigns, read from `campaigns.v1` and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from streams.cli.campaign_settings import format_value
from streams.cli.progress import Bar
from streams.cli.terminal import print_table, safe
from streams.wire import events, topics
from streams.wire.quarantine import describe_quarantine, quarantine_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.settings import Settings


def read_statuses(settings: Settings) -> dict[str, events.CampaignStatus]:
    """Read the latest status of each campaign, in order of name."""
    from streams.kafka.reading import read_topic

    found: dict[str, events.CampaignStatus] = {}
    with read_topic(settings, topics.CAMPAIGNS) as records, Bar(total=records.total) as bar:
        bar.describe("reading")
        for record in records:
            bar.advance(1)
            if not record.value:
                found.pop((record.key or b"").decode(errors="replace"), None)
                continue
            try:
                status = msgspec.json.decode(record.value, type=events.CampaignStatus)
            except ValueError as error:
                click.echo(f"{record.place} is skipped, because it can't be read: {safe(str(error))}", err=True)
                continue
            if status.campaign not in found or status.offset >= found[status.campaign].offset:
                found[status.campaign] = status
    return dict(sorted(found.items()))


def print_status(status: events.CampaignStatus) -> None:
    """Print one campaign with all its settings."""
    lines = {
        "state": _label(status),
        **msgspec.structs.asdict(status.settings),
        "gold": f"{status.gold_items:,} items" if status.gold_items else (),
        "withdrawn": status.withdrawn,
        "excluded": status.excluded,
        "suspended": status.suspended,
        "offset": status.offset,
    }
    click.echo(status.campaign)
    width = max(map(len, lines))
    for name, value in lines.items():
        click.echo(f"  {name:<{width}}  {format_value(value)}")
    if status.quarantine is not None:
        click.echo(safe(describe_quarantine(status.campaign, status.quarantine)), err=True)


def _label(status: events.CampaignStatus) -> str:
    return status.state if status.quarantine is None else quarantine_label(status.quarantine)


def print_statuses(statuses: Mapping[str, events.CampaignStatus]) -> None:
    """Print one line per campaign."""
    if not statuses:
        click.echo("There is no campaign yet. Create one with: judgestream campaign create NAME")
        return
    print_table(
        ("campaign", "state", "model", "policy", "budget", "systems", "withdrawn", "excluded"),
        (
            (
                name,
                _label(status),
                status.settings.model,
                status.settings.policy,
                format_value(status.settings.budget),
                str(len(status.settings.systems) or "all"),
                str(len(status.withdrawn)),
                str(len(status.excluded)),
            )
            for name, status in statuses.items()
        ),
        wrapped=["campaign"],
    )
