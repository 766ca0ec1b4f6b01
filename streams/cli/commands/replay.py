"""`judgestream replay`: a log goes into Kafka, or through the same code without servers, and comes out ranked."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import count
from math import inf
from typing import TYPE_CHECKING

import click

from streams.cli.log_options import LogFile, log_argument
from streams.cli.options import with_settings
from streams.cli.progress import Bar
from streams.errors import RecordError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from streams.core.campaign.campaign import Campaign
    from streams.settings import Settings
    from streams.wire.events import CampaignSettings, Judgment

    Batches = Iterator[Sequence[Judgment]]
    Steps = Iterator[tuple[float, Sequence[Judgment]]]  # seconds to wait, and what goes out then

INTERRUPTED = 130
BETWEEN_ROUNDS = timedelta(seconds=1)


class Speed(click.ParamType):
    """A multiple of the speed at which the judgments were made, or `max`."""

    name = "SPEED"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it; `max` is infinite."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)x", value)
        if value != "max" and (not found or not float(found[1])):
            self.fail(f"{value!r} is no speed; write e.g. 1x, 10x, 0.5x or max", param, ctx)
        return float(found[1]) if found else inf


@click.command(
    "replay",
    epilog="""\b
Examples:
  judgestream replay wmt13.csv.gz --wait
  judgestream replay wmt13.csv.gz --direct --json
  judgestream replay arena.jsonl --speed 10x --campaign arena-again --loop
  judgestream replay wmt15.csv.gz --campaign wmt15.de-en=trial --setting model=grm""",
)
@log_argument
@click.option("--direct", is_flag=True, help="Rate it in this process: no server is needed, and nothing stays.")
@click.option("--speed", type=Speed(), default="max", show_default=True, help="By the judgments' own times: 1x, 10x.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), metavar="N", help="At most so many a second.")
@click.option("--loop", is_flag=True, help="At the end begin again, with new ids and times, until interrupted.")
@click.option(
    "--campaign",
    "names",
    multiple=True,
    metavar="[OLD=]NEW",
    help="Rename the campaign; OLD says which, where there are several. May be given more than once.",
)
@click.option(
    "--setting",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of a campaign that it opens, as in `judgestream campaign create`; e.g. model=grm.",
)
@click.option("--wait", is_flag=True, help="Wait until a worker has applied it all, and show the leaderboards.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a broker that is away, or a worker that does not go on.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "redis", "namespace")
def command(
    settings: Settings,
    *,
    log: LogFile,
    direct: bool,
    speed: float,
    rate: float | None,
    loop: bool,
    names: tuple[str, ...],
    given: tuple[str, ...],
    wait: bool,
    timeout: float,
    as_object: bool,
) -> None:
    """Publish a log of judgments to Kafka, or rate it directly.

    FILE is a log in any format that `judgestream convert` reads, and `-` is standard input. What stands in Kafka
    already is not sent again: wherever it was interrupted, the same command goes on. A new campaign is opened with the
    settings by which `judgestream rank` rates, so that both give the same.
    """
    if loop and not log.file.is_file():
        raise click.UsageError(f"--loop reads FILE again, and {log.file} can be read only once")
    opening, new_names, account = _opening(given), _new_names(log, names), Account()

    def rounds() -> Batches:
        return (_renamed(batch, new_names) for batch in _rounds(lambda: _read(log, account), loop=loop))

    pace = Pace(speed=speed, rate=rate)
    try:
        if direct:
            campaigns = _directly(rounds(), pace, opening, account)
        else:
            campaigns = _through_kafka(rounds(), pace, opening, account, settings=settings, wait=wait, patience=timeout)
    except KeyboardInterrupt:
        click.echo(f"Stopped. {account.way_on(direct=direct)}", err=True)
        sys.exit(INTERRUPTED)
    _show(log.file, account, campaigns, as_object=as_object)


@dataclass
class Account:
    """What became of the judgments; the last three are what the campaigns count, of all their records."""

    read: int = 0
    there: int = 0  # in Kafka, before
    sent: int = 0  # and acknowledged
    applied: int | None = None
    duplicate: int | None = None
    rejected: int | None = None

    def take(self, campaigns: Iterable[Campaign]) -> None:
        """Take what campaigns count."""
        counts = [campaign.counts for campaign in campaigns]
        self.applied = sum(each.judgments + each.retracted for each in counts)
        self.duplicate = sum(each.duplicates for each in counts)
        self.rejected = sum(each.rejected for each in counts)

    def figures(self) -> dict[str, int]:
        """Give what is known."""
        return {name: number for name, number in asdict(self).items() if number is not None}

    def way_on(self, *, direct: bool) -> str:
        """Say what stays of a replay that was interrupted."""
        if direct:
            return f"{self.read:,} judgments were read; nothing stays of them."
        return f"{self.sent:,} judgments were sent and acknowledged; the same command goes on after them."

    def __str__(self) -> str:
        return ", ".join(f"{number:,} {name}" for name, number in self.figures().items())


# -- the log on its way ------------------------------------------------------------------------------------


def _read(log: LogFile, account: Account) -> Batches:
    """Read the file once, with a bar that says how it goes."""
    began, before = time.monotonic(), account.read

    def tell(more: int) -> str:
        account.read += more
        speed = (account.read - before) / max(time.monotonic() - began, 1e-3)
        return f"{account}, {speed:,.0f} a second"

    yield from log.read(tell)
    log.conclude()


def _rounds(read: Callable[[], Batches], *, loop: bool) -> Batches:
    """Read the log, and if it loops again and again: with ids id~2, id~3, and times that follow on the last round's."""
    from msgspec.structs import replace

    from streams.formats.names import shorten_name
    from streams.wire.events import LATEST

    first = last = None
    for judgments in read():
        if loop and judgments:
            times = [judgment.at for judgment in judgments]
            first = min(times) if first is None else min(first, *times)
            last = max(times) if last is None else max(last, *times)
        yield judgments
    if first is None or last is None:
        return
    span = last - first + BETWEEN_ROUNDS
    for number in count(2):
        shift = (number - 1) * span
        if LATEST - last <= shift:
            return  # no later time is accepted
        for judgments in read():
            yield [replace(each, id=shorten_name(f"{each.id}~{number}"), at=each.at + shift) for each in judgments]


def _renamed(judgments: Sequence[Judgment], names: Mapping[str, str]) -> Sequence[Judgment]:
    if not names:
        return judgments
    from msgspec.structs import replace

    return [replace(each, campaign=names.get(each.campaign, each.campaign)) for each in judgments]


@dataclass
class Pace:
    """When each judgment goes out: by the times that they name, and at most so many a second."""

    speed: float = inf
    rate: float | None = None
    clock: Callable[[], float] = time.monotonic
    _start: float | None = None
    _first: datetime | None = None
    _gone: int = 0

    def steps(self, batches: Iterable[Sequence[Judgment]]) -> Steps:
        """Give what goes out together, and the seconds until then; what is late goes at once.

        >>> from streams.wire.events import EPOCH, Judgment
        >>> log = [Judgment(id=name, campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
        ...        for name in "xyz"]
        >>> [(wait, [each.id for each in part]) for wait, part in Pace(rate=2.0, clock=lambda: 100.0).steps([log])]
        [(0.0, ['x']), (0.5, ['y']), (1.0, ['z'])]
        """
        for judgments in batches:
            if self.speed == inf and self.rate is None:
                yield 0.0, judgments
                continue
            start, due = 0, [self._due(judgment) for judgment in judgments]
            while start < len(due):
                now = max(self.clock(), due[start])
                end = next((k for k in range(start, len(due)) if due[k] > now), len(due))
                yield max(0.0, due[start] - self.clock()), judgments[start:end]
                start = end

    def _due(self, judgment: Judgment) -> float:
        if self._start is None or self._first is None:
            self._start, self._first = self.clock(), judgment.at
        due = self._start + (judgment.at - self._first).total_seconds() / self.speed
        if self.rate is not None:
            due = max(due, self._start + self._gone / self.rate)
            self._gone += 1
        return due


# -- the two ways ------------------------------------------------------------------------------------------


def _directly(batches: Batches, pace: Pace, opening: CampaignSettings, account: Account) -> list[Campaign]:
    from streams.offline.rating import rate

    campaigns: dict[str, Campaign] = {}

    def observe(campaign: Campaign) -> None:
        campaigns[campaign.name] = campaign
        account.take(campaigns.values())

    def due() -> Batches:
        for seconds, judgments in pace.steps(batches):
            time.sleep(seconds)
            yield judgments

    rated = rate(due(), opening, observe=observe)
    if rated.first_rejection:
        click.echo(f"{rated.rejections:,} rejected; the first: {rated.first_rejection}", err=True)
    return [campaigns[name] for name in sorted(campaigns)]


def _through_kafka(
    batches: Batches,
    pace: Pace,
    opening: CampaignSettings,
    account: Account,
    *,
    settings: Settings,
    wait: bool,
    patience: float,
) -> list[Campaign]:
    """Send what is not there yet; wait, if that is wanted, until it is applied, and give the campaigns then."""
    from streams.replay.published_log import read_published
    from streams.replay.publishing import SentRecords, publish_log
    from streams.replay.waiting import read_campaigns, wait_until_applied

    with Bar(total=None) as bar:
        bar.describe("looking at what stands in Kafka")
        found = read_published(settings, progress=bar.complete)
    sent, names, opened_before = SentRecords(), set[str](), frozenset(found.campaigns)

    def fresh() -> Batches:
        for judgments in batches:
            names.update(judgment.campaign for judgment in judgments)
            missing = found.missing(judgments)
            account.there += len(judgments) - len(missing)
            account.sent = sent.acknowledged
            yield missing

    try:
        publish_log(settings, pace.steps(fresh()), found, sent, opening=opening, patience=patience)
    finally:
        account.sent = sent.acknowledged
    if opening != _opening(()) and (kept := names & opened_before):
        click.echo(f"{', '.join(sorted(kept))}: open already, and keeps its settings; --setting changes none", err=True)
    if not wait:
        return []
    ends = {found.partition(name): found.ends[found.partition(name)] for name in names} | sent.ends
    with Bar(total=sum(ends.values())) as bar:
        bar.describe("waiting for a worker to apply it")
        wait_until_applied(settings, ends, patience=patience, progress=bar.complete)
    campaigns = read_campaigns(settings, names)
    account.take(campaigns)
    reached, all_of_it = sum(campaign.counts.records for campaign in campaigns), account.there + account.sent
    if reached < all_of_it:  # the campaign lives on another partition, or may not be opened
        counts = f"{reached:,} of {all_of_it:,} judgments"
        click.echo(f"only {counts} reached their campaigns; the reasons: judgestream rejected list", err=True)
    return campaigns


# -- what is asked for, and what is shown ------------------------------------------------------------------


def _opening(given: Sequence[str]) -> CampaignSettings:
    """Give the settings of a new campaign: those of `judgestream rank`, with what is given."""
    import msgspec

    from streams.cli.campaign_settings import settings_from
    from streams.core.campaign.commands import apply_command
    from streams.offline.rating import DEFAULT_MODEL, choose_engine, settings_for
    from streams.wire import events

    rank = settings_for(DEFAULT_MODEL, choose_engine(DEFAULT_MODEL))
    settings = msgspec.structs.replace(rank, **settings_from(given, {}))
    nothing = events.CampaignStatus(campaign="c", state="open", settings=settings, withdrawn=(), offset=-1)
    try:
        apply_command(nothing, events.Create(id="c", campaign="c", at=events.EPOCH, settings=settings))
    except RecordError as error:
        raise click.UsageError(f"--setting: {error}") from None
    return settings


def _new_names(log: LogFile, given: Sequence[str]) -> dict[str, str]:
    """Read `--campaign`; the file is looked through first, because nothing may go out under a wrong name."""
    if not given:
        return {}
    from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name

    if not log.file.is_file():
        raise click.UsageError(f"--campaign looks FILE through first, and {log.file} can be read only once")
    known = {judgment.campaign for batch in log.reading.batches() for judgment in batch.judgments}
    names: dict[str, str] = {}
    for text in given:
        old, equals, new = text.rpartition("=")
        if not equals and len(known) != 1:
            raise click.UsageError(f"--campaign {text}: {log.file} has {len(known)} campaigns; write OLD={text}")
        old = old if equals else min(known)
        if old not in known:
            raise click.UsageError(f"--campaign {text}: no campaign {old!r} in the log; {suggestion(old, known)}")
        if not is_campaign_name(new):
            raise click.UsageError(f"--campaign {text}: {CAMPAIGN_RULE}")
        names[old] = new
    if len({names.get(name, name) for name in known}) < len(known):
        raise click.UsageError("--campaign: two campaigns would have one name, and their ids might be the same")
    return names


def _show(file: Path, account: Account, campaigns: Sequence[Campaign], *, as_object: bool) -> None:
    import msgspec

    from streams.cli.commands.rank import show

    boards = [campaign.leaderboard() for campaign in campaigns]
    if as_object:
        click.echo(msgspec.json.encode({"campaigns": boards, "replay": account.figures()}))
        return
    show(boards, as_object=False)
    click.echo(f"{file}: {account}", err=bool(boards))
