"""`judgestream segments`: the segments of a running campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.stored_campaign import echo_rows, read_campaign, unknown_last, view_options
from streams.cli.terminal import format_number

if TYPE_CHECKING:
    from streams.settings import Settings


@click.command(
    "segments",
    epilog="""\b
Examples:
  judgestream segments wmt13.fr-en
  judgestream segments wmt13.fr-en --sort information --limit 20""",
)
@view_options
@click.option(
    "--sort",
    type=click.Choice(["judgments", "segment", "information"]),
    default="judgments",
    show_default=True,
    help="Column to sort by; numbers start with the highest.",
)
@click.option(
    "--limit", type=click.IntRange(1), help="Maximum number of segments.  [default: 50 in a table, all in JSON and CSV]"
)
def command(
    settings: Settings, *, campaign: str, as_object: bool, as_table: bool, sort: str, limit: int | None
) -> None:
    """List the segments of a running campaign, with their judgments.

    Information is how much a verdict on the segment is expected to tell about the two systems on which the next
    cluster depends. Only the model grm computes it.
    """
    from streams.cli.terminal import print_table
    from streams.reports.views import SegmentView, segment_views

    stored = read_campaign(settings, campaign, as_object=as_object, as_table=as_table)
    segments = segment_views(stored)
    total = len(segments)
    if sort == "segment":
        segments.sort(key=lambda each: each.segment)
    elif sort == "judgments":
        segments.sort(key=lambda each: (-each.judgments, each.segment))
    else:
        segments.sort(key=lambda each: unknown_last(None if each.information is None else -each.information))
    if as_object or as_table:
        echo_rows(campaign, "segments", segments[:limit], SegmentView, as_object=as_object)
        return
    segments = segments[: limit or 50]
    known = any(each.information is not None for each in segments)
    print_table(
        ("segment", "judgments", *(["information"] if known else [])),
        (
            (each.segment, f"{each.judgments:,}", *([format_number(each.information, ".4f")] if known else []))
            for each in segments
        ),
        wrapped=["segment"],
        right=["judgments", "information"],
    )
    more = f"; {total - len(segments):,} more with --limit {total}" if total > len(segments) else ""
    others = stored.tables.other_judgments
    more += f"; {others:,} judgments on other segments, beyond `max_segments`" if others else ""
    click.echo(f"\n{total:,} segment{'s' * (total != 1)}{more}")
