"""Commands: the status that each one makes of a campaign's present status."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import msgspec

from streams.core import matching, models
from streams.core.campaign.admission import describe_end
from streams.core.campaign.board_tags import check_boards
from streams.core.campaign.gold import check_gold
from streams.errors import ParameterError, RecordError, suggestion
from streams.wire import events
from streams.wire.decoding import quote
from streams.wire.limits import MAX_SYSTEMS
from streams.wire.score_range import DEFAULT_SCORE_RANGE, check_score_range

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

# What may change while a campaign runs: nothing here rates a judgment again.
CHANGEABLE = frozenset(
    {
        "budget",
        "gold",
        "gold_rate",
        "gold_threshold",
        "judge_per_minute",
        "judge_share",
        "outstanding",
        "pace_clock",
        "policy",
        "request_seconds",
        "requests_only",
        "segment_choice",
        "segments",
        "stop_confidence",
        "suspend_judges",
        "too_fast",
        "ways",
    }
)

# Commands that a campaign still accepts after its end. One that was deleted can be created again.
ACCEPTED_AFTER_END: dict[events.CampaignState, tuple[type, ...]] = {
    "closed": (events.Archive, events.Delete, events.ForgetJudge),
    "archived": (events.Delete, events.ForgetJudge),
    "deleted": (events.Create,),
}


def apply_command(
    now: events.CampaignStatus, command: events.Command, *, clock: datetime = events.EPOCH
) -> events.CampaignStatus:
    """Return the status after a command. Raise RecordError if the command is refused.

    If the campaign was deleted, its `clock` says when.
    """
    if isinstance(command, events.Create):
        if now.state == "deleted" and command.at <= clock:  # a repeat of an older command may come late
            message = (
                f"the campaign {now.campaign!r} was deleted at {clock:%Y-%m-%d %H:%M:%S} UTC, and this command is not "
                f"newer: its time is {command.at:%Y-%m-%d %H:%M:%S} UTC"
            )
            raise _refused(message, field="at")
        if now.offset >= 0 and now.state != "deleted":
            raise _refused(f"the campaign {now.campaign!r} exists already; `change` its settings", field="campaign")
    elif now.offset < 0:
        raise RecordError(
            "unknown_campaign", f"there is no campaign {now.campaign!r}; `create` it first", field="campaign"
        )
    elif now.state in events.ENDED and not isinstance(command, ACCEPTED_AFTER_END[now.state]):
        raise _refused(describe_end(now), field="campaign")
    try:
        return _apply(command, now)
    except ParameterError as error:
        raise _refused(str(error), field="settings") from None


def rename_judges(command: events.Command, rename: Callable[[str], str]) -> events.Command:
    """Return a command with other names in place of its judges."""
    if isinstance(command, events.JudgesCommand):
        return msgspec.structs.replace(command, judges=tuple(map(rename, command.judges)))
    if isinstance(command, events.Retract) and command.taken_back:
        taken_back = {judge and rename(judge): ids for judge, ids in command.taken_back.items()}
        command = msgspec.structs.replace(command, taken_back=taken_back)
    if isinstance(command, events.JudgeCommand) and command.judge is not None:
        return msgspec.structs.replace(command, judge=rename(command.judge))
    return command


def deleted_status(campaign: str, command: events.Delete, *, offset: int) -> events.CampaignStatus:
    """Return the status of a campaign that was deleted. It says nothing of what the campaign was."""
    return events.CampaignStatus(
        campaign=campaign,
        state="deleted",
        settings=events.CampaignSettings(),
        withdrawn=(),
        offset=offset,
        command=command.id,
    )


@singledispatch
def _apply(command: events.Command, now: events.CampaignStatus) -> events.CampaignStatus:  # noqa: ARG001
    raise _refused(f"this version can't {type(command).__struct_config__.tag!r} yet", field="action")


@_apply.register
def _(command: events.Create, now: events.CampaignStatus) -> events.CampaignStatus:
    settings = command.settings
    if 0 < settings.replicas < 40:
        raise _refused(f"`replicas` is {settings.replicas}: 0, or 40 and more", field="settings.replicas")
    model = _check_choices(settings)
    if settings.baseline and settings.systems and settings.baseline not in settings.systems:
        hint = suggestion(settings.baseline, settings.systems)
        raise _refused(
            f"the baseline {quote(settings.baseline)} is none of the systems; {hint}", field="settings.baseline"
        )
    if settings.baseline and not model.takes_baseline:
        others = ", ".join(name for name, each in models.MODELS.items() if each.takes_baseline)
        message = (
            f"the model {settings.model!r} compares all systems and has no baseline, but `baseline` is "
            f"{quote(settings.baseline)}; leave it out, or choose a model that has one: {others}"
        )
        raise _refused(message, field="settings.baseline")
    if problem := model.check_settings(settings):
        raise _refused(problem.message, field=f"settings.{problem.setting}")
    for name in ("systems", "segments"):
        listed = getattr(settings, name)
        if len(set(listed)) != len(listed):
            raise _refused(f"`{name}` names one twice", field=f"settings.{name}")
    return msgspec.structs.replace(now, state="open", settings=settings)


@_apply.register
def _(command: events.Change, now: events.CampaignStatus) -> events.CampaignStatus:
    for name in sorted(command.settings.keys() - CHANGEABLE):
        known = name in events.CampaignSettings.__struct_fields__
        reason = "can't change while the campaign runs" if known else f"is unknown; {suggestion(name, CHANGEABLE)}"
        raise _refused(f"the setting {quote(name)} {reason}", field=f"settings.{name[:100]}")
    try:
        settings = msgspec.convert(msgspec.to_builtins(now.settings) | command.settings, events.CampaignSettings)
    except msgspec.ValidationError as error:
        raise _refused(str(error), field="settings") from None
    _check_choices(settings)
    before, after = (
        models.create(each.model, each.parameters, budget=each.budget) for each in (now.settings, settings)
    )
    if before.parameters != after.parameters:
        raise _refused("the model's parameters come from the budget, which can't change now", field="settings.budget")
    return msgspec.structs.replace(now, settings=settings)


@_apply.register
def _(command: events.AddSystem, now: events.CampaignStatus) -> events.CampaignStatus:
    settings, withdrawn = now.settings, tuple(name for name in now.withdrawn if name != command.system)
    if not settings.systems:
        raise _refused(f"the campaign {now.campaign!r} takes every system that is judged", field="system")
    if command.system in settings.systems and withdrawn == now.withdrawn:
        raise _refused(f"the system {quote(command.system)} is in the campaign already", field="system")
    systems = dict.fromkeys((*settings.systems, command.system))
    if len(systems) > MAX_SYSTEMS:
        raise _refused(f"the campaign {now.campaign!r} has {MAX_SYSTEMS} systems; no more fit", field="system")
    return msgspec.structs.replace(
        now, settings=msgspec.structs.replace(settings, systems=tuple(systems)), withdrawn=withdrawn
    )


@_apply.register
def _(command: events.WithdrawSystem, now: events.CampaignStatus) -> events.CampaignStatus:
    if command.system in now.withdrawn:
        raise _refused(f"the system {quote(command.system)} is withdrawn already", field="system")
    if now.settings.systems and command.system not in now.settings.systems:
        hint = suggestion(command.system, now.settings.systems)
        raise _refused(f"there is no system {quote(command.system)}; {hint}", field="system")
    if command.system == now.settings.baseline and _compares_with_baseline(now.settings):
        message = (
            f"the system {quote(command.system)} is the baseline, with which every other system is compared; "
            "`create` a new campaign with another baseline"
        )
        raise _refused(message, field="system")
    return msgspec.structs.replace(now, withdrawn=(*now.withdrawn, command.system))


@_apply.register
def _(command: events.ExcludeJudge, now: events.CampaignStatus) -> events.CampaignStatus:
    if command.judge in now.excluded:
        raise _refused("the judge is excluded already", field="judge")
    return msgspec.structs.replace(now, excluded=(*now.excluded, command.judge))


@_apply.register
def _(command: events.IncludeJudge, now: events.CampaignStatus) -> events.CampaignStatus:
    if command.judge not in now.excluded:
        raise _refused("the judge is not excluded", field="judge")
    return _without_excluded(now, command.judge)


@_apply.register
def _(command: events.SuspendJudges, now: events.CampaignStatus) -> events.CampaignStatus:
    new = [judge for judge in dict.fromkeys(command.judges) if judge not in now.suspended]
    if not new:
        raise _refused("the judges are suspended already", field="judges")
    return msgspec.structs.replace(now, suspended=(*now.suspended, *new))


@_apply.register
def _(command: events.ReinstateJudges, now: events.CampaignStatus) -> events.CampaignStatus:
    left = tuple(judge for judge in now.suspended if judge not in command.judges)
    if left == now.suspended:
        raise _refused("the judges are not suspended", field="judges")
    return msgspec.structs.replace(now, suspended=left)


@_apply.register
def _(command: events.ForgetJudge, now: events.CampaignStatus) -> events.CampaignStatus:
    # It is never refused: whether the judge has judgments depends on retractions that may come later in the log.
    suspended = tuple(judge for judge in now.suspended if judge != command.judge)
    return _without_excluded(msgspec.structs.replace(now, suspended=suspended), command.judge)


def _without_excluded(now: events.CampaignStatus, judge: str) -> events.CampaignStatus:
    return msgspec.structs.replace(now, excluded=tuple(each for each in now.excluded if each != judge))


@_apply.register
def _(command: events.Retract | events.RevokeVerdicts, now: events.CampaignStatus) -> events.CampaignStatus:
    if not (command.judgments or command.judge) and not (isinstance(command, events.Retract) and command.taken_back):
        raise _refused("nothing to retract: name `judgments`, a `judge`, or both", field="judgments")
    return now


@_apply.register
def _(command: events.Pause, now: events.CampaignStatus) -> events.CampaignStatus:  # noqa: ARG001
    return msgspec.structs.replace(now, state="paused")


@_apply.register
def _(command: events.Resume, now: events.CampaignStatus) -> events.CampaignStatus:  # noqa: ARG001
    return msgspec.structs.replace(now, state="open")


@_apply.register
def _(command: events.Close, now: events.CampaignStatus) -> events.CampaignStatus:  # noqa: ARG001
    return msgspec.structs.replace(now, state="closed")


@_apply.register
def _(command: events.Demand, now: events.CampaignStatus) -> events.CampaignStatus:
    return msgspec.structs.replace(now, demand=command.requests)


@_apply.register
def _(command: events.Archive, now: events.CampaignStatus) -> events.CampaignStatus:  # noqa: ARG001
    return msgspec.structs.replace(now, state="archived")


@_apply.register
def _(command: events.Delete, now: events.CampaignStatus) -> events.CampaignStatus:
    return deleted_status(now.campaign, command, offset=now.offset)


def _check_choices(settings: events.CampaignSettings) -> models.Model:
    """Return the model of the settings, or raise an error if a choice is unknown or impossible."""
    matching.find_policy(settings.policy)
    check_score_range(settings.score_range)
    model = models.create(settings.model, settings.parameters, budget=settings.budget)
    if settings.segment_choice == "information" and not model.learns_segments:
        message = f"the model {settings.model!r} learns nothing of segments; with it `segment_choice` is 'least'"
        raise _refused(message, field="settings.segment_choice")
    if model.kind == "scores" and settings.ways != events.CampaignSettings().ways:
        message = f"`ways` is {settings.ways}, but the model {settings.model!r} scores one system at a time; omit it"
        raise _refused(message, field="settings.ways")
    if model.kind != "scores" and settings.score_range != DEFAULT_SCORE_RANGE:
        message = f"the model {settings.model!r} rates {model.kind} and no scores; omit `score_range`"
        raise _refused(message, field="settings.score_range")
    check_gold(settings.gold, model=model)
    if settings.requests_only and settings.outstanding == 0:
        message = "`requests_only` accepts only answers to match requests, but `outstanding` is 0, so there are none"
        raise _refused(message, field="settings.requests_only")
    if settings.repeat_votes == "last" and (model.kind == "scores" or model.takes_baseline):
        message = f"the model {settings.model!r} can't take a judgment back; `repeat_votes` may be 'all' or 'first'"
        raise _refused(message, field="settings.repeat_votes")
    check_boards(settings.boards, model=model)
    return model


def _compares_with_baseline(settings: events.CampaignSettings) -> bool:
    model = models.create(settings.model, settings.parameters, budget=settings.budget)
    model.baseline = 0  # any index: only whether the model requires it matters here
    return model.required_system is not None


def _refused(message: str, *, field: str) -> RecordError:
    return RecordError("refused_command", message, field=field)
