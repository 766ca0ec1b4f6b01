"""The events on the wire: the types of all records, which are checked while they are decoded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from streams.wire.campaign_settings import CampaignSettings as CampaignSettings
from streams.wire.campaign_settings import GoldItem as GoldItem
from streams.wire.campaign_settings import Parameter as Parameter
from streams.wire.fields import CampaignName, Count, Judge, JudgedCampaign, Name, Rank, Tags, Time, Version
from streams.wire.leaderboard import Leaderboard as Leaderboard
from streams.wire.leaderboard import Row as Row
from streams.wire.limits import MAX_DURATION_MS, MAX_NAME, MAX_RANKED, MAX_SOURCE, MAX_YEAR
from streams.wire.quarantine import Quarantine
from streams.wire.reasons import Reason
from streams.wire.score_range import Score

# One event with a wrong time must not move a campaign's clock so far that no request ever expires.
LONGEST_JUMP = timedelta(days=1)
LATEST = datetime(MAX_YEAR, 1, 1, tzinfo=UTC)


class Judgment(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The verdict of one judge on the outputs of several systems for one segment.

    >>> Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH).ranks
    (1, 2)
    """

    id: Name
    campaign: JudgedCampaign
    segment: Name
    judge: Judge
    systems: Annotated[
        tuple[Name, ...],
        Meta(
            min_length=1,
            max_length=MAX_RANKED,
            description="In the order in which the judge saw their outputs. It shows a preference for a position.",
        ),
    ]
    at: Time
    ranks: Annotated[tuple[Rank, ...], Meta(min_length=1, max_length=MAX_RANKED)] | None = None
    score: Score | None = None
    request: Name | None = None
    replaces: Annotated[
        Name | None, Meta(description="Id of an earlier verdict of the same judge. It no longer counts.")
    ] = None
    duration_ms: Annotated[int, Meta(ge=0, le=MAX_DURATION_MS)] | None = None
    source: Annotated[str, Meta(max_length=MAX_SOURCE)] | None = None
    tags: Tags | None = None
    version: Version = "1"


class _Command(Struct, frozen=True, kw_only=True, tag_field="action"):
    id: Name
    campaign: CampaignName
    at: Time
    by: Name | None = None
    version: Version = "1"


class Create(_Command, frozen=True, kw_only=True, tag="create"):
    """Create a campaign with these settings."""

    settings: CampaignSettings = CampaignSettings()


class Change(_Command, frozen=True, kw_only=True, tag="change"):
    """Change settings that do not affect past judgments: budget, match requests, stop rule and limits for judges."""

    settings: dict[str, object]


class AddSystem(_Command, frozen=True, kw_only=True, tag="add"):
    """Add a system that may be judged."""

    system: Name


class WithdrawSystem(_Command, frozen=True, kw_only=True, tag="withdraw"):
    """Remove a system from the leaderboard and from match requests. Its judgments stay in the log."""

    system: Name


class Pause(_Command, frozen=True, kw_only=True, tag="pause"):
    """Stop sending match requests until `resume`. Judgments that arrive still count."""


class Resume(_Command, frozen=True, kw_only=True, tag="resume"):
    """Send match requests again."""


class ExcludeJudge(_Command, frozen=True, kw_only=True, tag="exclude"):
    """Reject further judgments of this judge."""

    judge: Judge


class IncludeJudge(_Command, frozen=True, kw_only=True, tag="include"):
    """Accept judgments of an excluded judge again. Those that were rejected meanwhile stay rejected."""

    judge: Judge


class ForgetJudge(_Command, frozen=True, kw_only=True, tag="forget"):
    """Remove a judge from the stored state. Their judgments still count, under a name that says nothing."""

    judge: Judge


class Retract(_Command, frozen=True, kw_only=True, tag="retract"):
    """Rate the campaign again without these judgments, and without all judgments of this judge so far."""

    judgments: Annotated[tuple[Name, ...], Meta(max_length=10_000)] = ()
    judge: Judge | None = None
    taken_back: Annotated[
        dict[Annotated[str, Meta(max_length=MAX_NAME)], dict[Name, Count]],
        Meta(
            description="Changed and revoked verdicts that the campaign no longer remembers, by judge (empty: any): "
            "the id, and the offset of the record that took it back. A worker sends them."
        ),
    ] = {}


class RevokeVerdicts(_Command, frozen=True, kw_only=True, tag="revoke"):
    """Take verdicts back, because their judge has deleted them. With `judge`, only those of this judge."""

    judgments: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=1000)]
    judge: Judge | None = None


class SuspendJudges(_Command, frozen=True, kw_only=True, tag="suspend"):
    """Leave out all judgments of these judges, past and future, until they are reinstated."""

    judges: Annotated[tuple[Judge, ...], Meta(min_length=1, max_length=1000)]
    reason: Annotated[str, Meta(max_length=MAX_SOURCE)] = ""


class ReinstateJudges(_Command, frozen=True, kw_only=True, tag="reinstate"):
    """Count all judgments of these suspended judges again, past and future."""

    judges: Annotated[tuple[Judge, ...], Meta(min_length=1, max_length=1000)]


class Close(_Command, frozen=True, kw_only=True, tag="close"):
    """Reject all further judgments."""


class Demand(_Command, frozen=True, kw_only=True, tag="demand"):
    """Keep at least this many match requests open, because so many judges ask for one. A monitor sends it."""

    requests: Annotated[int, Meta(ge=0, le=10_000)]


class Archive(_Command, frozen=True, kw_only=True, tag="archive"):
    """Close a campaign for ever, and leave it out of lists. It can still be read."""


class Delete(_Command, frozen=True, kw_only=True, tag="delete"):
    """Remove the state and the outputs of a campaign. Its records stay in the log; later judgments are rejected."""


Command = (
    Create
    | Change
    | AddSystem
    | WithdrawSystem
    | Pause
    | Resume
    | ExcludeJudge
    | IncludeJudge
    | ForgetJudge
    | Retract
    | RevokeVerdicts
    | SuspendJudges
    | ReinstateJudges
    | Close
    | Demand
    | Archive
    | Delete
)

JudgeCommand = ExcludeJudge | IncludeJudge | ForgetJudge | Retract | RevokeVerdicts
JudgesCommand = SuspendJudges | ReinstateJudges

CampaignState = Literal["open", "paused", "closed", "archived", "deleted"]
ENDED: frozenset[CampaignState] = frozenset({"closed", "archived", "deleted"})  # no judgment is accepted any more


class CampaignStatus(Struct, frozen=True, kw_only=True):
    """The current settings and state of one campaign."""

    campaign: CampaignName
    state: CampaignState
    settings: CampaignSettings
    withdrawn: tuple[Name, ...]
    excluded: Annotated[tuple[Name, ...], Meta(description="Excluded judges, as pseudonyms.")] = ()
    suspended: Annotated[
        tuple[Name, ...], Meta(description="Judges, as pseudonyms, whose judgments are left out until `reinstate`.")
    ] = ()
    demand: Annotated[Count, Meta(description="Number of match requests for which judges ask.")] = 0
    offset: int
    command: Annotated[
        Name | None, Meta(description="Id of the command that caused this change. Null: a judgment caused it.")
    ] = None
    quarantine: Annotated[Quarantine | None, Meta(description="Null: the campaign is rated.")] = None
    gold_items: Annotated[
        Count, Meta(description="Number of gold items. They are left out of `settings` where a status is published.")
    ] = 0

    def published(self) -> CampaignStatus:
        """Return the status as it may be published: without the gold items, because judges must not know them."""
        if not self.settings.gold:
            return self
        settings = msgspec.structs.replace(self.settings, gold=())
        return msgspec.structs.replace(self, settings=settings, gold_items=len(self.settings.gold))


class MatchRequest(Struct, frozen=True, kw_only=True):
    """A request to rank the outputs of these systems, or to score the output of one: the most useful next match."""

    id: Name
    campaign: CampaignName
    systems: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MAX_RANKED)]
    segment: Name | None
    why: str
    information: Annotated[float, Meta(ge=0, description="Expected information about the ratings, in bits.")]
    expires_at: Time
    cancelled: Annotated[
        bool,
        Meta(description="Whether the request of this id, sent before, is not to be judged any more."),
    ] = False


class Rating(Struct, frozen=True, kw_only=True):
    """The state of one system after a commit."""

    id: str
    campaign: CampaignName
    system: Name
    mean: float
    deviation: Annotated[float, Meta(ge=0)]
    wins: Count
    ties: Count
    losses: Count
    judgments: Count
    offset: Count


class Rejection(Struct, frozen=True, kw_only=True):
    """A record that was not applied, with the reason and the original bytes, so that it can be fixed and sent again."""

    id: str
    reason: Reason
    field: str | None
    message: str
    judgment: Annotated[str | None, Meta(description="Id of the judgment or command, if it can be read.")] = None
    original: Annotated[bytes, Meta(description="The original value of the record, in base64.")]
    topic: str
    partition: Count
    offset: Count


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

encode = msgspec.json.Encoder().encode
