"""`judgestream simulate`: simulated judges answer the match requests of a campaign on Kafka."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.options import timeout_option, with_settings
from streams.cli.progress import Bar
from streams.cli.terminal import INTERRUPTED, safe
from streams.errors import ParameterError, RecordError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from streams.crowd import Panel, Truth
    from streams.crowd.live import CrowdProgress
    from streams.settings import Settings
    from streams.wire.events import CampaignStatus

SHARE = click.FloatRange(0, 1)
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "simulate",
    epilog="""\b
Examples:
  judgestream simulate trial --create --setting stop_confidence=0.95
  judgestream simulate wmt13.fr-en --create --oracle wmt13.csv.gz --setting budget=5000
  judgestream simulate trial --systems 10 --careless 0.2 --adversarial 0.05 --rate 50""",
)
@click.argument("campaign")
@click.option("--oracle", type=FILE, metavar="FILE", help="Real log from which the answers are drawn.")
@click.option("--oracle-campaign", metavar="NAME", help="Campaign of that log.  [default: CAMPAIGN, or the only one]")
@click.option("--skills", type=FILE, metavar="FILE", help="CSV file of system,skill from which the answers are drawn.")
@click.option(
    "--systems",
    type=click.IntRange(2, 1000),
    metavar="N",
    help="Number of systems with random skills from which the answers are drawn.",
)
@click.option(
    "--judges", type=click.IntRange(1, 100_000), default=40, show_default=True, help="Number of simulated judges."
)
@click.option(
    "--careless", type=SHARE, default=0.0, show_default=True, help="Share of judges who answer at random, from 0 to 1."
)
@click.option("--slow", type=SHARE, default=0.0, show_default=True, help="Share of judges who take five times as long.")
@click.option(
    "--biased",
    type=SHARE,
    default=0.0,
    show_default=True,
    help="Share of judges who prefer the first output, or --favourite.",
)
@click.option(
    "--favourite",
    metavar="SYSTEM",
    help="System that biased judges prefer in half of their answers.  [default: the first output]",
)
@click.option(
    "--adversarial", type=SHARE, default=0.0, show_default=True, help="Share of judges who answer the opposite."
)
@click.option(
    "--judgments", type=click.IntRange(1), metavar="N", help="Maximum number of judgments.  [default: no limit]"
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Maximum judgments per second.  [default: no limit]",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Seed of the random number generator.",
)
@click.option("--create", is_flag=True, help="Create the campaign first.")
@click.option(
    "--setting",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of the created campaign, as in `judgestream campaign create`; may be repeated.",
)
@timeout_option(60.0, "Maximum seconds to wait for a worker.")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "namespace")
def command(
    settings: Settings,
    *,
    campaign: str,
    oracle: Path | None,
    oracle_campaign: str | None,
    skills: Path | None,
    systems: int | None,
    judges: int,
    careless: float,
    slow: float,
    biased: float,
    favourite: str | None,
    adversarial: float,
    judgments: int | None,
    rate: float | None,
    seed: int,
    create: bool,
    given: tuple[str, ...],
    timeout: float,
    as_object: bool,
) -> None:
    """Answer the match requests of a campaign until there are no more.

    A worker must be running. The answers are drawn from --oracle, --skills or --systems, by default from the published
    win rates of WMT13 French-English. Requests for unknown systems are counted and not answered.
    """
    import numpy as np

    from streams.crowd import Panel, recruit
    from streams.crowd.live import read_status

    if careless + slow + biased + adversarial > 1 + 1e-9:
        raise click.UsageError("--careless, --slow, --biased and --adversarial add up to more than 1")
    if given and not create:
        raise click.UsageError("--setting needs --create; to change a campaign use `judgestream campaign set`")
    random = np.random.default_rng(seed)
    truth = _truth(campaign, oracle=oracle, of=oracle_campaign, skills=skills, systems=systems, random=random)
    if favourite is not None and favourite not in truth.systems:
        raise click.UsageError(f"--favourite: no system {favourite!r}; {suggestion(favourite, truth.systems)}")
    crowd = recruit(
        judges, careless=careless, slow=slow, biased=biased, adversarial=adversarial, favourite=favourite, random=random
    )
    try:
        if create:
            status = _create(settings, campaign, given, truth, timeout=timeout)
        else:
            status = read_status(settings, campaign)
    except (ParameterError, RecordError) as error:
        raise click.ClickException(str(error)) from None
    panel = Panel(judges=crowd, truth=truth, seed=seed, score_range=status.settings.score_range)
    progress = _answer(settings, status, panel, most=judgments, rate=rate, patience=timeout)
    _show(progress, truth, as_object=as_object)


def _truth(
    campaign: str,
    *,
    oracle: Path | None,
    of: str | None,
    skills: Path | None,
    systems: int | None,
    random: np.random.Generator,
) -> Truth:
    """Return the source of the answers."""
    from streams.crowd import WMT13_FR_EN, Competition, Skills

    if sum(each is not None for each in (oracle, skills, systems)) > 1:
        raise click.UsageError("--oracle, --skills and --systems can't be combined; choose one")
    if of is not None and oracle is None:
        raise click.UsageError("--oracle-campaign needs --oracle")
    if oracle is not None:
        return _oracle(oracle, campaign, of)
    if skills is not None:
        return Skills.read(skills)
    return Competition.load(WMT13_FR_EN) if systems is None else Skills.draw(systems, random=random)


def _oracle(file: Path, campaign: str, of: str | None) -> Truth:
    from streams.cli.log_campaigns import rate_log
    from streams.cli.log_options import LogFile
    from streams.crowd import Oracle
    from streams.offline.planning import plan_ranking

    log = LogFile(file)
    rated = rate_log(log, plan_ranking().settings, only=[of] if of else [])
    found = rated.campaigns
    name = of or (campaign if campaign in found else min(found))
    if name not in (of, campaign) and len(found) > 1:
        known = ", ".join(sorted(found))
        raise click.UsageError(f"{file} has {len(found)} campaigns: {known}; choose one with --oracle-campaign")
    return Oracle(name, found[name].tables.pair_counts())


def _create(settings: Settings, campaign: str, given: Sequence[str], truth: Truth, *, timeout: float) -> CampaignStatus:
    """Create the campaign, by default with the systems that the judges know."""
    from datetime import UTC, datetime
    from uuid import uuid4

    from streams.cli.campaign_settings import parse_settings
    from streams.crowd.simulation import SEGMENTS
    from streams.kafka.commands import send_command
    from streams.wire.decoding import decode_command
    from streams.wire.events import CampaignSettings, Create, encode

    segments = tuple(f"segment-{number}" for number in range(1, SEGMENTS + 1))
    values = {"systems": truth.systems, "segments": segments} | parse_settings(given, {})
    wanted = Create(
        id=str(uuid4()),
        campaign=campaign,
        at=datetime.now(UTC),
        by="judgestream simulate",
        settings=CampaignSettings(**values),
    )
    try:
        decode_command(encode(wanted), max_bytes=settings.max_record_bytes)
    except RecordError as error:
        raise click.UsageError(str(error)) from None
    return send_command(settings, wanted, timeout=timeout)


def _answer(
    settings: Settings, status: CampaignStatus, panel: Panel, *, most: int | None, rate: float | None, patience: float
) -> CrowdProgress:
    """Answer the match requests, with a progress bar."""
    from streams.cli.judges import publishing_pseudonyms
    from streams.crowd.live import LiveCrowd, read_progress

    replace_judge = publishing_pseudonyms(settings)
    progress, began = read_progress(settings, status), time.monotonic()
    with Bar(total=most or status.settings.budget) as bar:

        def observe() -> None:
            speed = progress.judgments / (time.monotonic() - began)
            best = f", first: {progress.board.rows[0].system}" if progress.board and progress.board.rows else ""
            left_out = f", {progress.skipped:,} not answered" if progress.skipped else ""
            bar.describe(safe(f"{progress.judgments:,} judgments, {speed:,.0f} per second{left_out}{best}"))
            bar.complete(progress.judgments)

        crowd = LiveCrowd(
            settings,
            progress,
            lambda request, asked: replace_judge(panel.answer(request, asked=asked)),
            most=most,
            rate=rate,
            patience=patience,
            observe=observe,
        )
        try:
            crowd.run()
        except KeyboardInterrupt:
            words = (
                f"Stopped after {progress.judgments:,} judgments. Run the same command without --create to continue."
            )
            click.echo(words, err=True)
            sys.exit(INTERRUPTED)
    return progress


def _show(progress: CrowdProgress, truth: Truth, *, as_object: bool) -> None:
    import msgspec

    from streams.cli.ranking import print_leaderboards
    from streams.crowd import Oracle, order_tau

    assert progress.board is not None
    figures: dict[str, object] = {
        "judgments": progress.judgments,
        "not_answered": progress.skipped,
        "ended": progress.end_reason,
    }
    order = [row.system for row in progress.board.rows]
    if not isinstance(truth, Oracle) and len(order) > 1 and set(order) == set(truth.systems):
        figures["tau"] = order_tau(order, truth.systems)
    if progress.skipped:
        click.echo(
            f"{progress.skipped:,} requests were not answered; the first: {safe(progress.skip_reason)}", err=True
        )
    if as_object:
        click.echo(msgspec.json.encode({"campaigns": [progress.board], "simulation": figures}))
        return
    print_leaderboards([progress.board], as_object=False)
    tau = f"; Kendall tau with the true order {figures['tau']:.2f}" if "tau" in figures else ""
    click.echo(f"{progress.judgments:,} judgments; {progress.end_reason}{tau}")
