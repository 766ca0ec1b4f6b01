"""Who and what may be judged now: a judgment is let into its campaign, or refused before anything has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError, suggestion
from streams.wire.decoding import quote
from streams.wire.limits import MAX_SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.pace import Paces
    from streams.core.models import Model
    from streams.wire import events


def check(judgment: events.Judgment, judge: str, *, status: events.CampaignStatus, model: Model) -> None:
    """Refuse what comes too late, from a judge who is excluded, or in a form that the model does not rate."""
    if status.state == "closed":
        raise RecordError("campaign_closed", f"the campaign {status.campaign!r} is closed", field="campaign")
    if status.excluded and judge in status.excluded:
        raise RecordError("judge_excluded", f"the judge {judge} is excluded", field="judge")
    kind = "scores" if judgment.ranks is None else "rankings"
    if kind != model.kind:
        message = f"the model {model.name!r} rates {model.kind}, and this is one of the {kind}"
        raise RecordError("unsuited_to_model", message, field="ranks" if judgment.ranks else "score")


def check_pace(judgment: events.Judgment, judge: str, *, settings: events.CampaignSettings, paces: Paces) -> bool:
    """Say whether the judge is too fast; where the campaign wants it so, refuse the judgment."""
    limit = settings.judge_per_minute
    if limit is None or not paces.is_over(judge, judgment.at, limit=limit):
        return False
    if settings.too_fast == "reject":
        message = f"the judge {judge} has {limit} judgments in that minute, and `judge_per_minute` lets no more in"
        raise RecordError("judge_too_fast", message, field="judge")
    return settings.too_fast == "flag"


def check_new_systems(systems: Sequence[str], *, known: Sequence[str], status: events.CampaignStatus) -> None:
    """Refuse systems that the campaign does not list, or that do not fit."""
    new = [system for system in systems if system not in known]
    if status.settings.systems:
        hint = suggestion(new[0], known)
        message = f"the campaign {status.campaign!r} has no system {quote(new[0])}; {hint}"
        raise RecordError("unknown_system", message, field="systems")
    if len(known) + len(new) > MAX_SYSTEMS:
        message = f"the campaign {status.campaign!r} has {len(known)} systems; at most {MAX_SYSTEMS} fit"
        raise RecordError("too_many_systems", message, field="systems")
