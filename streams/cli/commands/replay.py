"""`judgestream replay`: send a log to Kafka, or rate it in this process."""

from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from streams.cli.log_options import LogFile, log_argument
from streams.cli.option_types import Speed
from streams.cli.options import timeout_option, with_settings
from streams.cli.progress import Bar
from streams.cli.replay_log import read_new_names, read_rounds, rename_campaigns
from streams.cli.replay_schedule import ReplaySchedule
from streams.cli.terminal import INTERRUPTED
from streams.errors import FormatError, ParameterError, RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.cli.replay_log import Batches
    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.settings import Settings
    from streams.wire.events import CampaignSettings


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
@click.option("--direct", is_flag=True, help="Rate the log in this process, without servers. Nothing is kept.")
@click.option(
    "--speed",
    type=Speed(),
    default="max",
    show_default=True,
    help="Speed relative to the times of the judgments: 1x, 10x, or max.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Maximum judgments per second.  [default: no limit]",
)
@click.option("--loop", is_flag=True, help="Start again at the end, with new ids and times, until Ctrl-C.")
@click.option(
    "--campaign",
    "names",
    multiple=True,
    metavar="[OLD=]NEW",
    help="New name of the campaign, or of campaign OLD; may be repeated.",
)
@click.option(
    "--setting",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of new campaigns, as in `judgestream campaign create`; may be repeated.",
)
@click.option("--wait", is_flag=True, help="Wait until workers have applied all judgments, and print the leaderboards.")
@timeout_option(60.0, "Maximum seconds to wait for Kafka or for progress of a worker.")
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
    """Send a log of judgments to Kafka, or rate it directly.

    FILE is a log in any format of `judgestream convert`, or `-` for standard input. Judgments that are already in Kafka
    are not sent again, so you can run the same command again after an interruption. New campaigns get the settings of
    `judgestream rank`, so both give the same result.
    """
    from streams.offline.scores import choose_model

    if loop and not log.can_be_read_again:
        raise click.UsageError(f"--loop reads FILE again, but {log.file} can be read only once")
    if log.reading.selection and log.can_be_read_again:
        deque(log.judgments(), maxlen=0)  # so that nothing is sent if --only names a value that does not occur
    new_names, counts = read_new_names(log, names), ReplayCounts()
    rounds = read_rounds(lambda: _read(log, counts), loop=loop)
    schedule = ReplaySchedule(speed=speed, rate=rate)
    try:
        model, rounds = choose_model(rounds)
        scale = log.reading.summary.scale
        usual, opening = (_new_campaign_settings(texts, model, scale) for texts in ((), given))
        batches: Batches = (rename_campaigns(batch, new_names) for batch in rounds)
        if direct:
            campaigns = _rate_directly(batches, schedule, opening, counts, judge_key=settings.judge_key)
        else:
            campaigns = _send_to_kafka(
                batches, schedule, opening, counts, usual=usual, settings=settings, wait=wait, patience=timeout
            )
    except KeyboardInterrupt:
        click.echo(f"Stopped. {counts.after_interrupt(direct=direct)}", err=True)
        sys.exit(INTERRUPTED)
    _print_result(log.file, counts, campaigns, as_object=as_object)


@dataclass
class ReplayCounts:
    """The result of a replay. The last four are the counts of the campaigns, over all their records."""

    read: int = 0
    there: int = 0  # were in Kafka before
    sent: int = 0  # were acknowledged
    applied: int | None = None
    duplicate: int | None = None
    rejected: int | None = None
    held: int | None = None  # wait in the log, because their campaign is quarantined

    def update(self, campaigns: Iterable[ReadOnlyCampaign]) -> None:
        """Set the counts of the campaigns."""
        counts = [campaign.counts for campaign in campaigns]
        self.applied = sum(each.applied - each.commands for each in counts)
        self.duplicate = sum(each.duplicates for each in counts)
        self.rejected = sum(each.rejected for each in counts)
        self.held = sum(each.held for each in counts) or None

    def figures(self) -> dict[str, int]:
        """Return the counts that are known."""
        return {name: number for name, number in asdict(self).items() if number is not None}

    def after_interrupt(self, *, direct: bool) -> str:
        """Return a message on an interrupted replay."""
        if direct:
            return f"{self.read:,} judgments were read; nothing is kept."
        return f"{self.sent:,} judgments were sent and acknowledged; run the same command again to continue."

    def __str__(self) -> str:
        return ", ".join(f"{number:,} {name}" for name, number in self.figures().items())


def _read(log: LogFile, counts: ReplayCounts) -> Batches:
    """Read the file once, with the counts in the progress bar."""
    began, before = time.monotonic(), counts.read

    def describe(more: int) -> str:
        counts.read += more
        speed = (counts.read - before) / max(time.monotonic() - began, 1e-3)
        return f"{counts}, {speed:,.0f} per second"

    yield from log.read(describe)
    log.report_skipped()


def _rate_directly(
    batches: Batches, schedule: ReplaySchedule, opening: CampaignSettings, counts: ReplayCounts, *, judge_key: str
) -> list[ReadOnlyCampaign]:
    from streams.offline.rating import rate

    campaigns: dict[str, ReadOnlyCampaign] = {}

    def observe(campaign: ReadOnlyCampaign) -> None:
        campaigns[campaign.name] = campaign
        counts.update(campaigns.values())

    def due() -> Batches:
        for seconds, judgments in schedule.steps(batches):
            time.sleep(seconds)
            yield judgments

    rated = rate(due(), opening, observe=observe, judge_key=judge_key, remember=True)
    rated.check("the log")
    if rated.first_rejection:
        click.echo(f"{rated.rejections:,} judgments were rejected; the first: {rated.first_rejection}", err=True)
    return [campaigns[name] for name in sorted(campaigns) if name not in rated.unrated]


def _send_to_kafka(
    batches: Batches,
    schedule: ReplaySchedule,
    opening: CampaignSettings,
    counts: ReplayCounts,
    *,
    usual: CampaignSettings,
    settings: Settings,
    wait: bool,
    patience: float,
) -> list[ReadOnlyCampaign]:
    """Send the judgments that are not in Kafka yet. With `wait`, return the campaigns after all are applied.

    New campaigns get the settings `opening`. `usual` are those without --setting.
    """
    from streams.cli.judges import publishing_pseudonyms
    from streams.replay.published_log import read_published
    from streams.replay.publishing import SentRecords, publish_log
    from streams.replay.waiting import read_campaigns, wait_until_applied

    replace_judge = publishing_pseudonyms(settings)
    with Bar(total=None) as bar:
        bar.describe("reading the log in Kafka")
        found = read_published(settings, progress=bar.complete)
    sent, names, opened_before = SentRecords(), set[str](), frozenset(found.campaigns)

    def fresh() -> Batches:
        for judgments in batches:
            names.update(judgment.campaign for judgment in judgments)
            missing = found.missing(judgments)
            counts.there += len(judgments) - len(missing)
            counts.sent = sent.acknowledged
            yield [replace_judge(judgment) for judgment in missing]

    try:
        publish_log(settings, schedule.steps(fresh()), found, sent, opening=opening, patience=patience)
    finally:
        counts.sent = sent.acknowledged
    if opening != usual and (kept := names & opened_before):
        click.echo(f"{', '.join(sorted(kept))}: exists already and keeps its settings; --setting was ignored", err=True)
    if not wait:
        return []
    ends = {found.partition(name): found.ends[found.partition(name)] for name in names} | sent.ends
    with Bar(total=sum(ends.values())) as bar:
        bar.describe("waiting for the workers")
        wait_until_applied(settings, ends, patience=patience, progress=bar.complete)
    campaigns = read_campaigns(settings, names)
    counts.update(campaigns)
    reached = sum(campaign.counts.records - campaign.counts.commands for campaign in campaigns)
    all_of_it = counts.there + counts.sent
    if reached < all_of_it:  # a campaign may not be created
        click.echo(
            f"only {reached:,} of {all_of_it:,} judgments reached their campaigns; "
            "for the reasons run: judgestream rejected list",
            err=True,
        )
    if all_of_it and not counts.applied:
        raise FormatError(
            f"nothing was rated of {all_of_it:,} judgments; for the reasons run: judgestream rejected list"
        )
    return campaigns


def _new_campaign_settings(given: Sequence[str], model: str, scale: str | None) -> CampaignSettings:
    """Return the settings of new campaigns: those of `judgestream rank` for this model and scale, and --setting."""
    import msgspec

    from streams.cli.campaign_settings import parse_settings
    from streams.core.campaign.commands import apply_command
    from streams.offline.planning import plan_ranking
    from streams.offline.scores import with_scale
    from streams.wire import events
    from streams.wire.score_range import DEFAULT_SCORE_RANGE

    parsed = parse_settings(given, {})
    try:
        name = str(parsed.get("model", model))
        rank = plan_ranking(name, parameters=with_scale(name, {}, scale)).settings
        settings = msgspec.structs.replace(rank, **{"score_range": DEFAULT_SCORE_RANGE} | parsed)
        nothing = events.CampaignStatus(campaign="c", state="open", settings=settings, withdrawn=(), offset=-1)
        apply_command(nothing, events.Create(id="c", campaign="c", at=events.EPOCH, settings=settings))
    except (RecordError, ParameterError) as error:
        raise click.UsageError(f"--setting: {error}") from None
    return settings


def _print_result(file: str, counts: ReplayCounts, campaigns: Sequence[ReadOnlyCampaign], *, as_object: bool) -> None:
    import msgspec

    from streams.cli.ranking import print_leaderboards

    boards = [campaign.leaderboard() for campaign in campaigns]
    if as_object:
        click.echo(msgspec.json.encode({"campaigns": boards, "replay": counts.figures()}))
        return
    print_leaderboards(boards, as_object=False)
    click.echo(f"{file}: {counts}", err=bool(boards))
