"""`judgestream rejected`: what was not applied, why, and another try for it."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from streams.cli.groups import SuggestingGroup
from streams.cli.options import with_settings
from streams.cli.terminal import confirm, print_table, safe
from streams.errors import suggestion
from streams.wire import events, topics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from streams.kafka.reading import TopicRecord
    from streams.settings import Settings

LONGEST_ORIGINAL = 80
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Rejected(NamedTuple):
    """A rejection, when it was made, and its record's key."""

    at: datetime
    key: bytes | None
    rejection: events.Rejection

    @property
    def campaign(self) -> str:
        """Name the campaign: as the record does, or where that can't be read as its key does."""
        try:
            return msgspec.json.decode(self.rejection.original, type=_Named).campaign
        except (ValueError, RecursionError):
            return (self.key or b"").decode(errors="backslashreplace")


class _Named(msgspec.Struct):
    campaign: str


class Moment(click.ParamType):
    """A time, or how long ago."""

    name = "time"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read 90m, 2h, 7d, or an ISO date or time; without a zone it is UTC.

        >>> Moment().convert("2026-05-01T12:00+02:00", None, None).isoformat()
        '2026-05-01T10:00:00+00:00'
        """
        try:
            if ago := re.fullmatch(r"(\d{1,6})([smhd])", value):
                return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time; write e.g. 2h, 7d, 2026-05-01 or 2026-05-01T12:00Z", param, ctx)


@click.group(
    "rejected",
    cls=SuggestingGroup,
    epilog="""\b
Examples:
  judgestream rejected list --since 2h
  judgestream rejected retry --reason unknown_system --campaign wmt13.fr-en""",
)
def command() -> None:
    """Look at the records that were not applied, and send them again once the cause is mended."""


def _choosing(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that choose rejections, and the settings."""
    options = (
        click.option("--campaign", metavar="NAME", help="Only of this campaign."),
        click.option("--reason", "reasons", multiple=True, metavar="REASON", help="Only for this reason; repeat it."),
        click.option("--since", type=Moment(), help="Only since then: 2h, 7d, 2026-05-01, 2026-05-01T12:00Z."),
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
@_choosing
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Show the newest so many.")
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
    """List the rejected records, newest last.

    The original is shown as it came, so with the judge's own id.
    """
    causes: Counter[str] = Counter()
    chosen = _counted(_read(settings, campaign=campaign, reasons=reasons, since=since), causes)
    newest = heapq.nlargest(limit, chosen, key=lambda each: (each.at, _origin(each)))[::-1]
    if as_json:
        rows = [msgspec.to_builtins(each.rejection) | {"at": each.at} for each in newest]
        click.echo(events.encode({"total": causes.total(), "reasons": causes, "rejections": rows}))
    elif newest:
        _print(newest)
        click.echo(f"\nthe newest {len(newest):,} of {causes.total():,}: {_listed(causes)}", err=True)
    else:
        click.echo("Nothing was rejected." if not (campaign or reasons or since) else "No such rejection.")


def _counted(chosen: Iterable[Rejected], causes: Counter[str]) -> Iterator[Rejected]:
    for each in chosen:
        causes[each.rejection.reason] += 1
        yield each


def _listed(causes: Counter[str]) -> str:
    return ", ".join(f"{reason} {number:,}" for reason, number in causes.most_common())


@command.command(
    "retry",
    epilog="""\b
Examples:
  judgestream rejected retry --reason unknown_system --campaign wmt13.fr-en --dry-run
  judgestream rejected retry --id judgments.v1/3/1042 --yes""",
)
@_choosing
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only this one, by its place in `list`; repeat it.")
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
@click.option("--yes", is_flag=True, help="Do not ask.")
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
    """Send rejected records again, as they came, to the topic that they came from.

    Mend the cause first: `campaign add` a system, `create` the campaign, raise a limit. A judgment counts once by its
    id, so a second retry changes nothing; what is still wrong is rejected again.
    """
    chosen = list(_read(settings, campaign=campaign, reasons=reasons, since=since, ids=ids))
    if unknown := sorted(set(ids) - {each.rejection.id for each in chosen}):
        raise click.ClickException(
            f"no such rejection: {', '.join(map(safe, unknown))}; see: judgestream rejected list"
        )
    sources = {topic.within(settings.namespace): topic for topic in (topics.JUDGMENTS, topics.COMMANDS)}
    records = _distinct(chosen, sources)
    if not records:
        click.echo("Nothing to send again.")
        return
    what = f"{len(records):,} record{'s' * (len(records) != 1)}"
    why = _listed(Counter(each.rejection.reason for each in records.values()))
    if dry_run:
        click.echo(f"Would send {what} again: {why}.")
        return
    confirm(f"Send {what} again ({why})?", yes=yes)
    from streams.kafka.publishing import OutgoingRecord, publish_records

    publish_records(settings, [OutgoingRecord(sources[topic], key, original) for topic, key, original in records])
    click.echo(f"Sent {what} again; judgments that count already change nothing.")


def _distinct(chosen: Iterable[Rejected], sources: Collection[str]) -> dict[tuple[str, bytes | None, bytes], Rejected]:
    """Take each record once, however often it was rejected, in the order of the log; name those that can't be sent."""
    records = {}
    for each in sorted(chosen, key=_origin):
        rejection = each.rejection
        if rejection.original and rejection.topic in sources:
            records[rejection.topic, each.key, rejection.original] = each
        else:
            why = f"it came from {rejection.topic}" if rejection.original else "its original is empty"
            click.echo(safe(f"{rejection.id} is left out: {why}"), err=True)
    return records


def _origin(each: Rejected) -> tuple[str, int, int]:
    return each.rejection.topic, each.rejection.partition, each.rejection.offset


def _read(
    settings: Settings,
    *,
    campaign: str | None,
    reasons: Collection[str],
    since: datetime | None,
    ids: Collection[str] = (),
) -> Iterator[Rejected]:
    """Read the rejections that are asked for, each once."""
    from streams.cli.progress import Bar
    from streams.kafka.reading import read_topic

    for reason in reasons:
        if reason not in events.REASONS:
            raise click.UsageError(f"no reason {reason!r}; {suggestion(reason, events.REASONS)}")
    seen: set[str] = set()
    campaigns: set[str] = set()
    found = False
    with read_topic(settings, topics.REJECTED, since=since) as records, Bar(total=records.total) as bar:
        bar.describe("reading")
        for record in records:
            bar.advance(1)
            each = _decoded(record)
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
        click.echo(f"none of the campaign {campaign!r}; {safe(suggestion(campaign or '', campaigns))}", err=True)


def _decoded(record: TopicRecord) -> Rejected | None:
    try:
        return Rejected(record.at, record.key, msgspec.json.decode(record.value, type=events.Rejection))
    except ValueError as error:
        click.echo(f"{record.place} is left out, it can't be read: {safe(str(error))}", err=True)
        return None


def _print(rejected: Iterable[Rejected]) -> None:
    print_table(
        ("at", "place", "reason", "field", "message", "original"),
        (
            (
                f"{at:%m-%d %H:%M:%S}",
                rejection.id,
                rejection.reason,
                rejection.field or "-",
                rejection.message,
                shortened(rejection.original),
            )
            for at, _, rejection in rejected
        ),
        wrapped=["message", "original"],
    )


def shortened(original: bytes) -> str:
    r"""Give the beginning of a record as text that a terminal can show.

    >>> print(shortened(b"\x1b[2J\xff"), shortened(b""), len(shortened(b"a" * 100)))
    \x1b[2J\xff (empty) 80
    """
    text = safe(original[: 4 * LONGEST_ORIGINAL].decode(errors="backslashreplace")) or "(empty)"
    return text if len(text) <= LONGEST_ORIGINAL else f"{text[: LONGEST_ORIGINAL - 1]}…"
