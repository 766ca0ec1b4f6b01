"""`judgestream campaign`: the commands of an operator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from streams.cli.campaign_commands import CommandFields, SettingsCommand, sending_command, setting_options
from streams.cli.campaign_forgetting import forget
from streams.cli.campaign_settings import parse_pairs, parse_scalar, parse_settings
from streams.cli.groups import SuggestingGroup
from streams.cli.options import with_settings
from streams.errors import suggestion
from streams.wire import events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.settings import Settings


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
    """Create, change, pause, close, archive and delete campaigns.

    Each subcommand sends a command to Kafka and waits for the answer of a worker. The exit code is 1 if the worker
    refuses the command. See docs/campaigns.md.
    """


_sends = partial(sending_command, command)
_SYSTEM = click.argument("system")


@_sends(
    "create",
    click.option("--system", "systems", multiple=True, metavar="NAME", help="System that takes part; may be repeated."),
    click.option(
        "--parameter",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help="Parameter of the model; may be repeated.",
    ),
    *setting_options("model", "baseline", "budget", "policy", "stop_confidence"),
    example="judgestream campaign create wmt13.fr-en --system online-B --system uedin --setting segments=@segments.txt",
    cls=SettingsCommand,
)
def create(
    fields: CommandFields,
    *,
    given: Sequence[str],
    systems: Sequence[str],
    parameters: Sequence[str],
    **flags: str | None,
) -> events.Command:
    """Create a campaign.

    Without --system, any system is accepted.
    """
    values = parse_settings(given, flags)
    chosen = {name: parse_scalar(text) for name, text in parse_pairs(parameters, option="--parameter")}
    for name, value in (("systems", systems), ("parameters", chosen)):
        if value and name in values:
            raise click.UsageError(f"{name} is given twice")
        if value:
            values[name] = value
    return events.Create(**fields, settings=events.CampaignSettings(**values))


@_sends(
    "set",
    *setting_options("budget", "policy", "stop_confidence"),
    example="judgestream campaign set wmt13.fr-en --budget 3000 --setting outstanding=20",
    cls=SettingsCommand,
)
def change(fields: CommandFields, *, given: Sequence[str], **flags: str | None) -> events.Command:
    """Change settings of a running campaign.

    Settings that would change past ratings, such as the model, are refused.
    """
    values = parse_settings(given, flags)
    if not values:
        raise click.UsageError("nothing to set; give a setting, e.g. --budget 3000")
    return events.Change(**fields, settings=values)


@_sends("add", _SYSTEM, example="judgestream campaign add wmt13.fr-en uedin")
def add(fields: CommandFields, *, system: str) -> events.Command:
    """Add a system, or bring back a withdrawn one."""
    return events.AddSystem(**fields, system=system)


@_sends("withdraw", _SYSTEM, example="judgestream campaign withdraw wmt13.fr-en uedin")
def withdraw(fields: CommandFields, *, system: str) -> events.Command:
    """Withdraw a system from the leaderboard and from matches.

    Its judgments stay in the log. `add` brings it back.
    """
    return events.WithdrawSystem(**fields, system=system)


@_sends("pause", example="judgestream campaign pause wmt13.fr-en")
def pause(fields: CommandFields) -> events.Command:
    """Stop sending match requests until `resume`.

    Judgments that arrive still count.
    """
    return events.Pause(**fields)


@_sends("resume", example="judgestream campaign resume wmt13.fr-en")
def resume(fields: CommandFields) -> events.Command:
    """Send match requests again."""
    return events.Resume(**fields)


_UNSEEN = click.option("--unseen", is_flag=True, help="Also accept a judge who has not judged in this campaign yet.")
_on_judge = partial(_sends, on_judge=True)


@_on_judge("exclude", click.argument("judge"), _UNSEEN, example="judgestream campaign exclude wmt13.fr-en judge-17")
def exclude(fields: CommandFields, *, judge: str) -> events.Command:
    """Accept no more judgments of a judge.

    JUDGE is a pseudonym or the id in the judgments. Past judgments still count; use `retract` to remove them, and
    `include` to accept judgments again.
    """
    return events.ExcludeJudge(**fields, judge=judge)


@_on_judge("include", click.argument("judge"), example="judgestream campaign include wmt13.fr-en judge-17")
def include(fields: CommandFields, *, judge: str) -> events.Command:
    """Accept judgments of an excluded judge again.

    JUDGE is a pseudonym or the id in the judgments. What was rejected meanwhile stays rejected; `judgestream rejected
    retry` sends it again.
    """
    return events.IncludeJudge(**fields, judge=judge)


_JUDGES = click.option(
    "--judge", "judges", multiple=True, required=True, metavar="NAME", help="Pseudonym or id; may be repeated."
)


@_on_judge(
    "suspend",
    _JUDGES,
    click.option("--reason", metavar="TEXT", help="Reason, kept in the log."),
    example="judgestream campaign suspend wmt13.fr-en --judge judge-17 --judge judge-18 --yes",
    question="leave out all judgments of these judges and rate the campaign again? `reinstate` undoes it.",
)
def suspend(fields: CommandFields, *, judges: Sequence[str], reason: str | None) -> events.Command:
    """Leave out all judgments of judges, past and future, until they are reinstated.

    The campaign is rated again from the beginning of its log, as if they had not judged. What is left out is counted.
    """
    return events.SuspendJudges(**fields, judges=tuple(judges), reason=reason or "")


@_on_judge(
    "reinstate",
    _JUDGES,
    example="judgestream campaign reinstate wmt13.fr-en --judge judge-17 --yes",
    question="count all judgments of these judges again, and rate the campaign again?",
)
def reinstate(fields: CommandFields, *, judges: Sequence[str]) -> events.Command:
    """Count all judgments of suspended judges again, past and future."""
    return events.ReinstateJudges(**fields, judges=tuple(judges))


@_on_judge(
    "retract",
    click.option(
        "--judgment", "judgments", multiple=True, metavar="ID", help="Id of a judgment to retract; may be repeated."
    ),
    click.option(
        "--judge", metavar="NAME", help="Pseudonym or id of a judge whose judgments so far are all retracted."
    ),
    example="judgestream campaign retract wmt13.fr-en --judge judge-17 --judgment 7c1f --yes",
    question="retract these judgments and rate the campaign again? This can't be undone.",
)
def retract(fields: CommandFields, *, judgments: Sequence[str], judge: str | None) -> events.Command:
    """Retract judgments, and rate the campaign again without them."""
    if not judgments and judge is None:
        raise click.UsageError("nothing to retract; give --judgment, --judge, or both")
    return events.Retract(**fields, judgments=tuple(judgments), judge=judge)


@_on_judge(
    "revoke",
    click.option(
        "--judgment",
        "judgments",
        multiple=True,
        required=True,
        metavar="ID",
        help="Id of a judgment whose verdict was withdrawn; may be repeated.",
    ),
    click.option("--judge", metavar="NAME", help="Pseudonym or id of the judge; else verdicts of any judge."),
    example="judgestream campaign revoke wmt13.fr-en --judgment 7c1f --yes",
    question="take these verdicts back? This can't be undone.",
)
def revoke(fields: CommandFields, *, judgments: Sequence[str], judge: str | None) -> events.Command:
    """Take back verdicts that their judge has withdrawn.

    A recent verdict leaves the board at once. An older one is taken out when the campaign is rated again in the
    background; other campaigns do not wait. All versions of a changed verdict are taken back.
    """
    return events.RevokeVerdicts(**fields, judgments=tuple(judgments), judge=judge)


command.add_command(forget)


@_sends(
    "close",
    example="judgestream campaign close wmt13.fr-en --yes",
    question="close the campaign? It will accept no more judgments. This can't be undone.",
)
def close(fields: CommandFields) -> events.Command:
    """Close a campaign for good. No more judgments are accepted."""
    return events.Close(**fields)


@_sends("archive", example="judgestream campaign archive wmt13.fr-en")
def archive(fields: CommandFields) -> events.Command:
    """Close a campaign for ever, and leave it out of lists.

    It can still be read: by name, with `show --all`, and on the page with the state "archived".
    """
    return events.Archive(**fields)


@_sends(
    "delete",
    example="judgestream campaign delete wmt13.fr-en --yes",
    question=(
        "delete the campaign with {judgments}? Its ratings, judges, match requests and history are removed from Redis "
        "and from the output topics. Its records stay in the log (docs/privacy.md). This can't be undone."
    ),
)
def delete(fields: CommandFields) -> events.Command:
    """Delete the state and the outputs of a campaign.

    Later judgments are rejected. `create` begins a new campaign of this name. The records of the old one stay in the
    log: docs/privacy.md says how to erase them. A campaign in quarantine can be deleted too.
    """
    return events.Delete(**fields)


@command.command(
    "show", epilog="\b\nExamples:\n  judgestream campaign show\n  judgestream campaign show wmt13.fr-en --json"
)
@click.argument("campaign", required=False)
@click.option("--all", "with_archived", is_flag=True, help="List archived campaigns too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "namespace")
def show(settings: Settings, *, campaign: str | None, with_archived: bool, as_json: bool) -> None:
    """Show the state and the settings of one campaign, or list the campaigns that are not archived."""
    from streams.cli import campaign_status

    statuses = campaign_status.read_statuses(settings)
    if campaign is not None:
        if campaign not in statuses:
            hint = suggestion(campaign, statuses) if statuses else "there is none yet"
            raise click.ClickException(f"no campaign {campaign!r}; {hint}")
        statuses = {campaign: statuses[campaign]}
    elif not with_archived:
        statuses = {name: status for name, status in statuses.items() if status.state != "archived"}
    if as_json:
        click.echo(events.encode({"campaigns": list(statuses.values())}))
    elif campaign is None:
        campaign_status.print_statuses(statuses)
    else:
        campaign_status.print_status(statuses[campaign])
