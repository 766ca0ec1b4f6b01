"""`judgestream rejected`: list rejected records, and send them again."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

import click
import msgspec

from streams.cli.groups import SuggestingGroup
from streams.cli.option_types import Moment
from streams.cli.options import with_settings
from streams.cli.rejections import read_rejections
from streams.cli.terminal import confirm, print_table, safe
from streams.wire import events, topics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from datetime import datetime

    from streams.cli.rejections import RejectedRecord
    from streams.settings import Settings

LONGEST_ORIGINAL = 80


@click.group(
    "rejected",
    cls=SuggestingGroup,
    epilog="""\b
Examples:
  judgestream rejected list --since 2h
  judgestream rejected retry --reason unknown_system --campaign wmt13.fr-en""",
)
def command() -> None:
    """List rejected records, and send them again after the cause is fixed."""


def _filter_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that filter rejections, and the settings of Kafka."""
    options = (
        click.option("--campaign", metavar="NAME", help="Campaign of the records.  [default: all]"),
        click.option(
            "--reason",
            "reasons",
            multiple=True,
            metavar="REASON",
            help="Reason of the rejection; may be repeated.  [default: all]",
        ),
        click.option(
            "--since",
            type=Moment(),
            help="Earliest time of the rejection: 2h, 7d, 2026-05-01 or 2026-05-01T12:00Z.  [default: all]",
        ),
        with_settings("kafka", "namespace"),
    )
    for option in reversed(options):
        function = option(function)
    return function


@command.command(
    "list",
    epilog="""\b
Examples:
  judgestream rejected list --campaign wmt13.fr-en --reason unknown_system
  judgestream rejected list --since 2h --json""",
)
@_filter_options
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Maximum number of records; the newest are shown.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(
    settings: Settings,
    *,
    campaign: str | None,
    reasons: Sequence[str],
    since: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """List rejected records, newest last.

    A record is printed as it was received, including the id of the judge.
    """
    causes: Counter[str] = Counter()
    chosen = _count_reasons(read_rejections(settings, campaign=campaign, reasons=reasons, since=since), causes)
    newest = heapq.nlargest(limit, chosen, key=lambda each: (each.at, each.origin))[::-1]
    if as_json:
        rows = [msgspec.to_builtins(each.rejection) | {"at": each.at} for each in newest]
        click.echo(events.encode({"total": causes.total(), "reasons": causes, "rejections": rows}))
    elif newest:
        _print(newest)
        click.echo(f"\nthe newest {len(newest):,} of {causes.total():,}: {_format_counts(causes)}", err=True)
    else:
        click.echo("Nothing was rejected." if not (campaign or reasons or since) else "No rejection matches.")


def _count_reasons(chosen: Iterable[RejectedRecord], causes: Counter[str]) -> Iterator[RejectedRecord]:
    for each in chosen:
        causes[each.rejection.reason] += 1
        yield each


def _format_counts(causes: Counter[str]) -> str:
    return ", ".join(f"{reason} {number:,}" for reason, number in causes.most_common())


@command.command(
    "retry",
    epilog="""\b
Examples:
  judgestream rejected retry --reason unknown_system --campaign wmt13.fr-en --dry-run
  judgestream rejected retry --id judgments.v1/3/1042 --yes""",
)
@_filter_options
@click.option(
    "--id",
    "ids",
    multiple=True,
    metavar="ID",
    help="Place of a record as in `list`, e.g. judgments.v1/3/1042; may be repeated.  [default: all]",
)
@click.option("--dry-run", is_flag=True, help="Print what would be sent, and send nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def retry(
    settings: Settings,
    *,
    campaign: str | None,
    reasons: Sequence[str],
    since: datetime | None,
    ids: Sequence[str],
    dry_run: bool,
    yes: bool,
) -> None:
    """Send rejected records again, unchanged, to the topic they came from.

    Fix the cause first: add the system, create the campaign or raise the limit. A judgment counts only once, so a
    second retry does no harm. A record that is still wrong is rejected again.
    """
    chosen = list(read_rejections(settings, campaign=campaign, reasons=reasons, since=since, ids=ids))
    if unknown := sorted(set(ids) - {each.rejection.id for each in chosen}):
        raise click.ClickException(
            f"no such rejection: {', '.join(map(safe, unknown))}; see: judgestream rejected list"
        )
    sources = {topic.within(settings.namespace): topic for topic in (topics.JUDGMENTS, topics.COMMANDS)}
    records = _distinct_records(chosen, sources)
    if not records:
        click.echo("Nothing to send again.")
        return
    what = f"{len(records):,} record{'s' * (len(records) != 1)}"
    why = _format_counts(Counter(each.rejection.reason for each in records.values()))
    if dry_run:
        click.echo(f"Would send {what} again: {why}.")
        return
    confirm(f"Send {what} again ({why})?", yes=yes)
    from streams.kafka.publishing import OutgoingRecord, publish_records

    publish_records(settings, [OutgoingRecord(sources[topic], key, original) for topic, key, original in records])
    click.echo(f"Sent {what} again. Judgments that are already counted change nothing.")


def _distinct_records(
    chosen: Iterable[RejectedRecord], sources: Collection[str]
) -> dict[tuple[str, bytes | None, bytes], RejectedRecord]:
    """Return each record once, in the order of the log. Report the records that can't be sent."""
    records = {}
    for each in sorted(chosen, key=lambda each: each.origin):
        rejection = each.rejection
        if rejection.original and rejection.topic in sources:
            records[rejection.topic, each.key, rejection.original] = each
        else:
            why = f"it came from {rejection.topic}" if rejection.original else "its original is empty"
            click.echo(safe(f"{rejection.id} is skipped: {why}"), err=True)
    return records


def _print(rejected: Iterable[RejectedRecord]) -> None:
    print_table(
        ("at", "place", "reason", "field", "message", "original"),
        (
            (
                f"{each.at:%m-%d %H:%M:%S}",
                each.rejection.id,
                each.rejection.reason,
                each.rejection.field or "-",
                each.rejection.message,
                shorten_record(each.rejection.original),
            )
            for each in rejected
        ),
        wrapped=["message", "original"],
    )


def shorten_record(original: bytes) -> str:
    r"""Return the beginning of a record as text that is safe on a terminal.

    >>> print(shorten_record(b"\x1b[2J\xff"), shorten_record(b""), len(shorten_record(b"a" * 100)))
    \x1b[2J\xff (empty) 80
    """
    text = safe(original[: 4 * LONGEST_ORIGINAL].decode(errors="backslashreplace")) or "(empty)"
    return text if len(text) <= LONGEST_ORIGINAL else f"{text[: LONGEST_ORIGINAL - 1]}…"
