"""`judgestream campaign`: an operator's commands, each sent into the log and waited for."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import uuid4

import click
import msgspec

from streams.cli.campaign_settings import TYPES, about, pairs_of, scalar, settings_from, shown
from streams.cli.groups import SuggestingGroup
from streams.cli.options import with_settings
from streams.cli.terminal import confirm, print_table, safe
from streams.errors import RecordError, suggestion
from streams.wire import events

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.settings import Settings

    Sender = Callable[..., events.Command]
    Decorator = Callable[[Callable[..., None]], Callable[..., None]]


class SettingsCommand(click.Command):
    """A command whose help lists the settings of a campaign."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, then the settings."""
        super().format_options(ctx, formatter)
        with formatter.section("Settings"):
            formatter.write_dl([(name, about(name)) for name in TYPES])


@click.group(
    "campaign",
    cls=SuggestingGroup,
    epilog="""\b
Examples:
  judgestream campaign create wmt13.fr-en --system online-B --system uedin --budget 2000
  judgestream campaign show wmt13.fr-en
  judgestream campaign pause wmt13.fr-en""",
)
def command() -> None:
    """Open, change, watch over and close campaigns.

    A command goes to Kafka, a worker puts it into the campaign's log, and there it takes effect: at one place among the
    judgments, so that a replay gives the same. The answer is waited for; a refused command is exit code 1.
    """


class Stamp(TypedDict):
    """What all commands have."""

    id: str
    campaign: str
    at: datetime
    by: str | None


def _sends(
    name: str, *own: Decorator, example: str, asks: str = "", cls: type[click.Command] = click.Command
) -> Callable[[Sender], click.Command]:
    """Make a subcommand of a function that gives the command to send; one that `asks` is confirmed first."""

    def decorate(function: Sender) -> click.Command:
        @wraps(function)
        def run(
            settings: Settings,
            *,
            campaign: str,
            by: str | None,
            timeout: float,
            no_wait: bool,
            as_json: bool,
            yes: bool = True,
            **chosen: Any,
        ) -> None:
            stamp = Stamp(id=str(uuid4()), campaign=campaign, at=datetime.now(UTC), by=by)
            wanted = _checked(function(stamp, **chosen), settings)
            confirm(f"{campaign}: {asks}", yes=yes)
            _send(settings, wanted, timeout=None if no_wait else timeout, as_json=as_json)

        decorated: Callable[..., None] = run
        options: tuple[Decorator, ...] = (_CAMPAIGN, *own, *([_YES] if asks else []), *_SENDING)
        for option in reversed(options):
            decorated = option(decorated)
        return command.command(name, cls=cls, epilog=f"\b\nExample:\n  {example}")(decorated)

    return decorate


def _setting_options(*names: str) -> list[Decorator]:
    """Make `--setting`, and flags for some of the settings."""
    return [
        *(click.option(f"--{name.replace('_', '-')}", name, metavar="VALUE", help=about(name)) for name in names),
        click.option(
            "--setting",
            "given",
            multiple=True,
            metavar="NAME=VALUE",
            help="Any of the settings below: a list with commas, or as @FILE with one a line; null for none.",
        ),
    ]


_CAMPAIGN = click.argument("campaign")
_SYSTEM = click.argument("system")
_YES = click.option("--yes", is_flag=True, help="Do not ask.")
_SENDING: tuple[Decorator, ...] = (
    click.option("--by", metavar="NAME", help="Who asks; it is kept in the log."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=30.0,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for the answer.",
    ),
    click.option("--no-wait", is_flag=True, help="Only send; a worker answers on campaigns.v1 or rejected.v1."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object: what is in force now."),
    with_settings("kafka", "namespace"),
)


@_sends(
    "create",
    click.option("--system", "systems", multiple=True, metavar="NAME", help="A system that takes part; repeat it."),
    click.option(
        "--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the model; repeat it."
    ),
    *_setting_options("model", "baseline", "budget", "policy", "stop_confidence"),
    example="judgestream campaign create wmt13.fr-en --system online-B --system uedin --setting segments=@segments.txt",
    cls=SettingsCommand,
)
def create(
    stamp: Stamp, *, given: Sequence[str], systems: Sequence[str], parameters: Sequence[str], **flags: str | None
) -> events.Command:
    """Open a campaign.

    Without --system every system that is judged takes part.
    """
    values = settings_from(given, flags)
    tuned = {name: scalar(text) for name, text in pairs_of(parameters, option="--parameter")}
    for name, value in (("systems", systems), ("parameters", tuned)):
        if value and name in values:
            raise click.UsageError(f"{name} is given twice")
        if value:
            values[name] = value
    return events.Create(**stamp, settings=events.CampaignSettings(**values))


@_sends(
    "set",
    *_setting_options("budget", "policy", "stop_confidence"),
    example="judgestream campaign set wmt13.fr-en --budget 3000 --setting outstanding=20",
    cls=SettingsCommand,
)
def change(stamp: Stamp, *, given: Sequence[str], **flags: str | None) -> events.Command:
    """Change settings of a running campaign.

    What would rate its judgments again, such as the model, is refused.
    """
    values = settings_from(given, flags)
    if not values:
        raise click.UsageError("nothing to set; name a setting, e.g. --budget 3000")
    return events.Change(**stamp, settings=values)


@_sends("add", _SYSTEM, example="judgestream campaign add wmt13.fr-en uedin")
def add(stamp: Stamp, *, system: str) -> events.Command:
    """Let one more system in, or one that was withdrawn back in."""
    return events.AddSystem(**stamp, system=system)


@_sends("withdraw", _SYSTEM, example="judgestream campaign withdraw wmt13.fr-en uedin")
def withdraw(stamp: Stamp, *, system: str) -> events.Command:
    """Take a system out of the leaderboard and of the matches.

    Its judgments stay in the log; `add` brings it back.
    """
    return events.WithdrawSystem(**stamp, system=system)


@_sends("pause", example="judgestream campaign pause wmt13.fr-en")
def pause(stamp: Stamp) -> events.Command:
    """Send no match requests until `resume`; judgments that arrive still count."""
    return events.Pause(**stamp)


@_sends("resume", example="judgestream campaign resume wmt13.fr-en")
def resume(stamp: Stamp) -> events.Command:
    """Send match requests again."""
    return events.Resume(**stamp)


@_sends("exclude", click.argument("judge"), example="judgestream campaign exclude wmt13.fr-en judge-17")
def exclude(stamp: Stamp, *, judge: str) -> events.Command:
    """Accept no more judgments of a judge.

    JUDGE is the id that the judgments carry; what is shown afterwards is the pseudonym. What the judge has said so
    far still counts; `retract` takes it back.
    """
    return events.ExcludeJudge(**stamp, judge=judge)


@_sends(
    "retract",
    click.option("--judgment", "judgments", multiple=True, metavar="ID", help="A judgment to take back; repeat it."),
    click.option("--judge", metavar="NAME", help="Take back all of this judge so far, by the id that judgments carry."),
    example="judgestream campaign retract wmt13.fr-en --judge judge-17 --judgment 7c1f --yes",
    asks="rate it again as if these judgments had never been made? This can't be undone.",
)
def retract(stamp: Stamp, *, judgments: Sequence[str], judge: str | None) -> events.Command:
    """Rate the campaign again from its log, as if some judgments had never been made."""
    if not judgments and judge is None:
        raise click.UsageError("nothing to retract; name judgments with --judgment, a judge with --judge, or both")
    return events.Retract(**stamp, judgments=tuple(judgments), judge=judge)


@_sends(
    "close",
    example="judgestream campaign close wmt13.fr-en --yes",
    asks="accept no more judgments? This can't be undone.",
)
def close(stamp: Stamp) -> events.Command:
    """Accept no more judgments, for ever."""
    return events.Close(**stamp)


def _checked(wanted: events.Command, settings: Settings) -> events.Command:
    """Look at a command as a worker will, before it is sent."""
    from streams.wire.decoding import decode_command

    try:
        return decode_command(events.encode(wanted), max_bytes=settings.max_record_bytes)
    except (RecordError, UnicodeEncodeError) as error:
        raise click.UsageError(str(error)) from None


def _send(settings: Settings, wanted: events.Command, *, timeout: float | None, as_json: bool) -> None:
    from rich.console import Console

    from streams.kafka.commands import command_record, send_command
    from streams.kafka.publishing import publish_records

    if timeout is None:
        publish_records(settings, [command_record(wanted)])
        click.echo(events.encode({"command": wanted.id}) if as_json else f"sent, not waited for: command {wanted.id}")
        return
    try:
        with Console(stderr=True).status("waiting for a worker to answer"):
            now = send_command(settings, wanted, timeout=timeout)
    except RecordError as error:
        place = f"{error.reason}, {error.field}" if error.field else error.reason
        raise click.ClickException(safe(f"refused ({place}): {error.message}")) from None
    if as_json:
        click.echo(events.encode(now))
        return
    tag = type(wanted).__struct_config__.tag
    click.echo(f"✓ {tag} {now.campaign}: it is {now.state}, at offset {now.offset} of its log")
    if isinstance(wanted, events.ExcludeJudge):
        click.echo(f"  the judge is shown as {now.excluded[-1]}")


@command.command(
    "show", epilog="\b\nExamples:\n  judgestream campaign show\n  judgestream campaign show wmt13.fr-en --json"
)
@click.argument("campaign", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "namespace")
def show(settings: Settings, *, campaign: str | None, as_json: bool) -> None:
    """Show the settings in force of a campaign, or of all."""
    statuses = _statuses(settings)
    if campaign is not None:
        if campaign not in statuses:
            hint = suggestion(campaign, statuses) if statuses else "there is none yet"
            raise click.ClickException(f"no campaign {campaign!r}; {hint}")
        statuses = {campaign: statuses[campaign]}
    if as_json:
        click.echo(events.encode({"campaigns": list(statuses.values())}))
        return
    if campaign is None:
        _print_all(statuses)
    else:
        _print_one(statuses[campaign])


def _statuses(settings: Settings) -> dict[str, events.CampaignStatus]:
    """Read the newest status of each campaign."""
    from streams.cli.progress import Bar
    from streams.kafka.reading import read_topic
    from streams.wire import topics

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
                click.echo(f"{record.place} is left out, it can't be read: {safe(str(error))}", err=True)
                continue
            if status.campaign not in found or status.offset >= found[status.campaign].offset:
                found[status.campaign] = status
    return dict(sorted(found.items()))


def _print_one(status: events.CampaignStatus) -> None:
    lines = {
        "state": status.state,
        **msgspec.structs.asdict(status.settings),
        "withdrawn": status.withdrawn,
        "excluded": status.excluded,
        "offset": status.offset,
    }
    click.echo(status.campaign)
    width = max(map(len, lines))
    for name, value in lines.items():
        click.echo(f"  {name:<{width}}  {shown(value)}")


def _print_all(statuses: Mapping[str, events.CampaignStatus]) -> None:
    if not statuses:
        click.echo("There is no campaign yet; open one with: judgestream campaign create NAME")
        return
    print_table(
        ("campaign", "state", "model", "policy", "budget", "systems", "withdrawn", "excluded"),
        (
            (
                name,
                status.state,
                status.settings.model,
                status.settings.policy,
                shown(status.settings.budget),
                str(len(status.settings.systems) or "all"),
                str(len(status.withdrawn)),
                str(len(status.excluded)),
            )
            for name, status in statuses.items()
        ),
        wrapped=["campaign"],
    )
