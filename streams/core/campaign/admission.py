"""Admission: checks that reject a judgment before it changes anything in its campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core import models
from streams.core.campaign.request_ids import check_request
from streams.core.models import MODELS
from streams.errors import RecordError, suggestion
from streams.wire.decoding import quote
from streams.wire.events import ENDED, EPOCH
from streams.wire.limits import MAX_SYSTEMS
from streams.wire.score_range import check_score

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from streams.core.campaign.names import NameIndex
    from streams.core.campaign.pace import Paces
    from streams.core.models import Model
    from streams.wire import events

FREE_JUDGMENTS = 20  # of each judge, whatever their share


class StatusAdmission:
    """The checks that need the status of a campaign alone, so that they can be made before a judgment is published.

    A worker makes the same checks, and more. What is refused here would be rejected there.
    """

    def __init__(self, status: events.CampaignStatus, *, request_key: bytes | None = None) -> None:
        settings = status.settings
        self._request_key = request_key  # None: the signatures of request ids can't be checked here
        self.status = status
        self._model = models.create(settings.model, settings.parameters, budget=settings.budget)
        self._model.baseline = 0 if settings.baseline else None  # any index: only whether it is required matters
        self._required = settings.baseline if self._model.required_system is not None else None
        self._systems = frozenset(settings.systems)

    def check(self, judgment: events.Judgment, judge: str) -> None:
        """Raise RecordError if the campaign rejects a judgment of a judge, who is named by pseudonym."""
        check_judgment(judgment, judge, status=self.status, model=self._model, create_unknown=True)
        # Only the worker knows the clock, and whether a changed verdict was the answer to a request.
        if self.status.settings.requests_only and self._request_key is not None and judgment.replaces is None:
            check_request(judgment, key=self._request_key, clock=EPOCH)
        known = self._systems or judgment.systems  # without a list, new systems are admitted as long as they fit
        check_systems(judgment.systems, known=known, status=self.status, required=self._required)


def describe_end(status: events.CampaignStatus) -> str:
    """Return why a campaign accepts nothing any more."""
    if status.state == "deleted":
        return f"the campaign {status.campaign!r} was deleted; `create` begins a new one"
    return f"the campaign {status.campaign!r} is {status.state}"


def check_judgment(
    judgment: events.Judgment, judge: str, *, status: events.CampaignStatus, model: Model, create_unknown: bool
) -> None:
    """Raise RecordError if the campaign takes no judgments, none of this judge, or none of this kind."""
    if status.offset < 0 and not create_unknown:
        message = f"there is no campaign {status.campaign!r}; `create` it first"
        raise RecordError("unknown_campaign", message, field="campaign")
    if status.state in ENDED:
        raise RecordError("campaign_closed", describe_end(status), field="campaign")
    if status.excluded and judge in status.excluded:
        raise RecordError("judge_excluded", f"the judge {judge} is excluded", field="judge")
    kind = "scores" if judgment.ranks is None else "rankings"
    if kind != model.kind:
        fitting = ", ".join(name for name, each in MODELS.items() if each.kind == kind)
        given = "a score" if kind == "scores" else "ranks"
        message = (
            f"the model {model.name!r} rates {model.kind}, but the judgment has {given}; models for {kind}: {fitting}"
        )
        raise RecordError("unsuited_to_model", message, field="ranks" if judgment.ranks else "score")
    check_score(judgment.score, score_range=status.settings.score_range, campaign=status.campaign)


def check_room(judge: str, *, known: NameIndex, campaign: str) -> None:
    """Raise RecordError if the campaign can't have one more judge."""
    if not known.has_room_for((judge,)):
        message = (
            f"the campaign {campaign!r} has {len(known)} judges, and the setting `max_judges` allows {known.most}; "
            "raise it on all workers, or split the campaign"
        )
        raise RecordError("too_many_judges", message, field="judge")


def check_listed_segments(segments: Sequence[str], *, most: int | None) -> None:
    """Raise RecordError if a command lists more segments than a campaign may have."""
    if most is not None and len(segments) > most:
        message = f"{len(segments)} segments are listed, and the setting `max_segments` allows {most}"
        raise RecordError("refused_command", message, field="segments")


def check_pace(judge: str, at: datetime, *, settings: events.CampaignSettings, paces: Paces) -> bool:
    """Return whether a judgment is to be flagged as too fast. Raise RecordError if such judgments are rejected."""
    limit = settings.judge_per_minute
    if limit is None or not paces.is_over(judge, at, limit=limit):
        return False
    if settings.too_fast == "reject":
        message = f"the judge {judge} has {limit} judgments in that minute, and `judge_per_minute` lets no more in"
        raise RecordError("judge_too_fast", message, field="judge")
    return settings.too_fast == "flag"


def is_over_share(own: int, judgments: int, *, share: float) -> bool:
    """Return whether a judge has too many of the counted judgments to add one more.

    >>> is_over_share(19, 19, share=0.1), is_over_share(20, 20, share=0.1), is_over_share(20, 250, share=0.1)
    (False, True, False)
    """
    return own + 1 > max(FREE_JUDGMENTS, share * (judgments + 1))


def check_systems(
    systems: Sequence[str], *, known: Collection[str], status: events.CampaignStatus, required: str | None
) -> None:
    """Raise RecordError if systems are new and not admitted, are too many, or do not include a required one."""
    if required is not None and required not in systems:
        message = (
            f"the campaign {status.campaign!r} compares every system with its baseline {quote(required)}, "
            f"and this judgment does not contain it"
        )
        raise RecordError("without_baseline", message, field="systems")
    new = [system for system in systems if system not in known]
    if not new:
        return
    if status.settings.systems:
        hint = suggestion(new[0], known)
        message = f"the campaign {status.campaign!r} has no system {quote(new[0])}; {hint}"
        raise RecordError("unknown_system", message, field="systems")
    if len(known) + len(new) > MAX_SYSTEMS:
        message = f"the campaign {status.campaign!r} has {len(known)} systems; at most {MAX_SYSTEMS} fit"
        raise RecordError("too_many_systems", message, field="systems")
