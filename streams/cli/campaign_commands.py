"""The part that the subcommands of `judgestream campaign` share: they send a command and wait for the answer."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import uuid4

import click

from streams.cli.campaign_settings import TYPES, describe
from streams.cli.options import timeout_option, with_settings
from streams.cli.terminal import confirm, safe
from streams.errors import RecordError
from streams.wire import events
from streams.wire.quarantine import describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.settings import Settings

    CommandMaker = Callable[..., events.Command]
    Decorator = Callable[[Callable[..., None]], Callable[..., None]]


class CommandFields(TypedDict):
    """The fields that all commands have."""

    id: str
    campaign: str
    at: datetime
    by: str | None


class SettingsCommand(click.Command):
    """A command whose help lists the settings of a campaign."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the settings."""
        super().format_options(ctx, formatter)
        with formatter.section("Settings"):
            formatter.write_dl([(name, describe(name)) for name in TYPES])


def sending_command(
    group: click.Group,
    name: str,
    *own: Decorator,
    example: str,
    question: str = "",
    on_judge: bool = False,
    cls: type[click.Command] = click.Command,
) -> Callable[[CommandMaker], click.Command]:
    """Make a subcommand from a function that returns the command to send. With a `question` it asks first.

    One that is `on_judge` has a judge, or several, who are looked up in the stored state. In a question,
    `{judgments}` is replaced by the number of judgments that is stored.
    """
    reads_store = on_judge or "{judgments}" in question

    def decorate(function: CommandMaker) -> click.Command:
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
            unseen: bool = False,
            **chosen: Any,
        ) -> None:
            look_up = partial(_look_up, settings, campaign, unseen=unseen, as_json=as_json)
            if on_judge and "judges" in chosen:
                chosen["judges"] = tuple(map(look_up, chosen["judges"]))
            elif on_judge and chosen["judge"] is not None:
                chosen["judge"] = look_up(chosen["judge"])
            fields = CommandFields(id=str(uuid4()), campaign=campaign, at=datetime.now(UTC), by=by)
            wanted = check_command(function(fields, **chosen), settings)
            asked = question
            if "{judgments}" in question:
                asked = question.format(judgments=_count_judgments(settings, campaign))
            confirm(f"{campaign}: {asked}", yes=yes)
            _send(settings, wanted, timeout=None if no_wait else timeout, as_json=as_json)

        decorated: Callable[..., None] = run
        argument = click.argument("campaign")
        servers = with_settings("kafka", "redis", "namespace") if reads_store else with_settings("kafka", "namespace")
        options: tuple[Decorator, ...] = (argument, *own, *([_YES] if question else []), *_SENDING, servers)
        for option in reversed(options):
            decorated = option(decorated)
        return group.command(name, cls=cls, epilog=f"\b\nExample:\n  {example}")(decorated)

    return decorate


def setting_options(*names: str) -> list[Decorator]:
    """Return the option `--setting`, and flags for some of the settings."""
    return [
        *(click.option(f"--{name.replace('_', '-')}", name, metavar="VALUE", help=describe(name)) for name in names),
        click.option(
            "--setting",
            "given",
            multiple=True,
            metavar="NAME=VALUE",
            help="Any setting listed below; may be repeated. A list has commas, or is @FILE with one item per line.",
        ),
    ]


_YES = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
_SENDING: tuple[Decorator, ...] = (
    click.option("--by", metavar="NAME", help="Name of the operator, kept in the log."),
    timeout_option(30.0, "Maximum seconds to wait for the answer of a worker."),
    click.option("--no-wait", is_flag=True, help="Send the command and do not wait for the answer."),
    click.option("--json", "as_json", is_flag=True, help="Print the new status of the campaign as one JSON object."),
)


def _look_up(settings: Settings, campaign: str, given: str, *, unseen: bool, as_json: bool) -> str:
    """Return a judge as a command names them, and say who it is."""
    from streams.cli.judges import find_judge
    from streams.cli.stored_campaign import open_store

    with open_store(settings) as store:
        found = find_judge(store, settings, campaign, given, unseen=unseen)
    click.echo(f"  {found}", err=as_json)
    return found.on_the_wire


def _count_judgments(settings: Settings, campaign: str) -> str:
    """Return the number of judgments of a campaign, as a phrase. Raise ClickException if there is no such campaign."""
    from streams.cli.stored_campaign import open_store

    with open_store(settings) as store:
        meta = store.read_meta(campaign)
    if meta is None or meta.status.state == "deleted":
        raise click.ClickException(f"no campaign {campaign!r}; list them with: judgestream campaign show --all")
    return f"{meta.counts.judgments:,} judgment{'s' * (meta.counts.judgments != 1)}"


def check_command(wanted: events.Command, settings: Settings) -> events.Command:
    """Check a command as a worker would, before it is sent. Raise UsageError if it is wrong."""
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
        click.echo(events.encode({"command": wanted.id}) if as_json else f"sent, without waiting: command {wanted.id}")
        return
    try:
        with Console(stderr=True).status("waiting for a worker to answer"):
            status = send_command(settings, wanted, timeout=timeout)
    except RecordError as error:
        place = f"{error.reason}, {error.field}" if error.field else error.reason
        raise click.ClickException(safe(f"refused ({place}): {error.message}")) from None
    if as_json:
        click.echo(events.encode(status))
    action = type(wanted).__struct_config__.tag
    if status.quarantine is not None:
        text = describe_quarantine(status.campaign, status.quarantine)
        if status.quarantine.cause == "fault":
            raise click.ClickException(safe(f"the command waits in the log, because {text}"))
        if not as_json:
            click.echo(safe(f"✓ {action} {status.campaign}: {text}"))
        return
    if as_json:
        return
    click.echo(f"✓ {action} {status.campaign}: the campaign is {status.state}, at offset {status.offset} of its log")
    if isinstance(wanted, events.Delete):
        click.echo("  its records stay in the log; docs/privacy.md says how to erase them")
