"""The events on the wire: the types of all records, which are checked while they are decoded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from streams.wire.campaign_names import CAMPAIGN_PATTERN
from streams.wire.limits import MAX_DURATION_MS, MAX_NAME, MAX_RANK, MAX_RANKED, MAX_SOURCE, MAX_SYSTEMS, MAX_YEAR
from streams.wire.quarantine import Quarantine  # noqa: TC001 - msgspec reads the annotation
from streams.wire.score_range import DEFAULT_SCORE_RANGE, Score, ScoreRange

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
_ABOUT_CAMPAIGN = "One leaderboard, e.g. wmt13.fr-en. Letters, digits, '.', '_' and '-'."
CampaignName = Annotated[str, Meta(max_length=MAX_NAME, pattern=CAMPAIGN_PATTERN, description=_ABOUT_CAMPAIGN)]
# The pattern is slow, so `streams.wire.decoding` checks the name of a judgment, and remembers the names it has checked.
JudgedCampaign = Annotated[
    str, Meta(max_length=MAX_NAME, description=_ABOUT_CAMPAIGN, extra_json_schema={"pattern": CAMPAIGN_PATTERN})
]
Time = Annotated[datetime, Meta(tz=True)]
Version = Annotated[
    str,
    Meta(max_length=20, pattern=r"^1(\.[0-9]+)*$(?!\n)", description="1 or 1.x. Other versions are rejected."),
]
Rank = Annotated[int, Meta(ge=1, le=MAX_RANK, description="1 is best. Equal ranks are a tie.")]
Count = Annotated[int, Meta(ge=0)]
Parameter = bool | int | float | str

# One event with a wrong time must not move a campaign's clock so far that no request ever expires.
LONGEST_JUMP = timedelta(days=1)
LATEST = datetime(MAX_YEAR, 1, 1, tzinfo=UTC)

Reason = Literal[
    "empty",
    "too_large",
    "invalid_utf8",
    "invalid_json",
    "too_deep",
    "missing_field",
    "invalid_value",
    "unknown_version",
    "too_few_systems",
    "duplicate_system",
    "length_mismatch",
    "ranks_or_score",
    "wrong_partition",
    "unknown_campaign",
    "unknown_system",
    "too_many_systems",
    "campaign_closed",
    "judge_excluded",
    "judge_too_fast",
    "unsuited_to_model",
    "without_baseline",
    "refused_command",
]


class Judgment(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The verdict of one judge on the outputs of several systems for one segment.

    >>> Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH).ranks
    (1, 2)
    """

    id: Name
    campaign: JudgedCampaign
    segment: Name
    judge: Name
    systems: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MAX_RANKED)]
    at: Time
    ranks: Annotated[tuple[Rank, ...], Meta(min_length=1, max_length=MAX_RANKED)] | None = None
    score: Score | None = None
    request: Name | None = None
    duration_ms: Annotated[int, Meta(ge=0, le=MAX_DURATION_MS)] | None = None
    source: Annotated[str, Meta(max_length=MAX_SOURCE)] | None = None
    version: Version = "1"


class CampaignSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a campaign, which a `create` or `change` command carries."""

    model: Annotated[Name, Meta(description="The model that rates the systems. It can not be changed later.")] = (
        "trueskill"
    )
    parameters: Annotated[dict[str, Parameter], Meta(description="Parameters of the model.")] = {}
    systems: Annotated[
        tuple[Name, ...],
        Meta(
            max_length=MAX_SYSTEMS,
            description="Systems that may be judged. If empty, any system is accepted.",
        ),
    ] = ()
    segments: Annotated[
        tuple[Name, ...],
        Meta(max_length=100_000, description="Segments for match requests, in addition to the segments of judgments."),
    ] = ()
    baseline: Annotated[
        Name | None,
        Meta(description="The system that all others are compared with. Only the model grm has a baseline."),
    ] = None
    budget: Annotated[int, Meta(ge=1, description="Number of judgments to ask for. Null: no limit.")] | None = None
    policy: Annotated[
        Name, Meta(description="Policy that chooses the next match: information, variance or uniform.")
    ] = "information"
    outstanding: Annotated[int, Meta(ge=0, le=10_000, description="Number of open match requests.")] = 8
    ways: Annotated[int, Meta(ge=2, le=20, description="Number of systems in one match request.")] = 2
    segment_choice: Annotated[
        Literal["auto", "least", "information"],
        Meta(description="Segment of a request: `least` judged, by `information`, or `auto` (by the model)."),
    ] = "auto"
    request_seconds: Annotated[
        float, Meta(gt=0, le=1e8, description="Seconds until an unanswered request expires.")
    ] = 3600.0
    stop_confidence: (
        Annotated[
            float,
            Meta(gt=0.5, lt=1, description="Stop match requests when the clusters have this confidence. Null: never."),
        ]
        | None
    ) = None
    replicas: Annotated[
        int, Meta(ge=0, le=1000, description="Number of bootstrap replicas for the rank ranges: 0, or 40 and more.")
    ] = 200
    judge_per_minute: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=1_000_000,
                description="Most judgments of one judge per minute, by `at`. Null: no limit.",
            ),
        ]
        | None
    ) = None
    too_fast: Annotated[
        Literal["accept", "flag", "reject"],
        Meta(description="What happens to a judgment above `judge_per_minute`. A flagged one is rated, and reported."),
    ] = "flag"
    score_range: ScoreRange = DEFAULT_SCORE_RANGE


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

    judge: Name


class Retract(_Command, frozen=True, kw_only=True, tag="retract"):
    """Rate the campaign again without these judgments, and without all judgments of this judge so far."""

    judgments: Annotated[tuple[Name, ...], Meta(max_length=10_000)] = ()
    judge: Name | None = None


class Close(_Command, frozen=True, kw_only=True, tag="close"):
    """Reject all further judgments."""


Command = Create | Change | AddSystem | WithdrawSystem | Pause | Resume | ExcludeJudge | Retract | Close

CampaignState = Literal["open", "paused", "closed"]


class CampaignStatus(Struct, frozen=True, kw_only=True):
    """The current settings and state of one campaign."""

    campaign: CampaignName
    state: CampaignState
    settings: CampaignSettings
    withdrawn: tuple[Name, ...]
    excluded: Annotated[tuple[Name, ...], Meta(description="Excluded judges, as pseudonyms.")] = ()
    offset: int
    command: Annotated[
        Name | None, Meta(description="Id of the command that caused this change. Null: a judgment caused it.")
    ] = None
    quarantine: Annotated[Quarantine | None, Meta(description="Null: the campaign is rated.")] = None


class MatchRequest(Struct, frozen=True, kw_only=True):
    """A request to rank the outputs of these systems, or to score the output of one: the most useful next match."""

    id: Name
    campaign: CampaignName
    systems: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MAX_RANKED)]
    segment: Name | None
    why: str
    information: Annotated[float, Meta(ge=0, description="Expected information about the ratings, in bits.")]
    expires_at: Time


class Row(Struct, frozen=True, kw_only=True):
    """One row of a leaderboard."""

    system: Name
    rank: Annotated[int, Meta(ge=1)]
    rank_low: Annotated[int, Meta(ge=1)]
    rank_high: Annotated[int, Meta(ge=1)]
    cluster: Annotated[int, Meta(ge=1)]
    score: float
    deviation: Annotated[float, Meta(ge=0)]
    judgments: Count


class Leaderboard(Struct, frozen=True, kw_only=True):
    """The ranking of a campaign at one offset of its log."""

    campaign: CampaignName
    model: Name
    sequence: Annotated[
        int, Meta(ge=0, description="Number of records of this campaign that are included. A higher number is newer.")
    ]
    offset: Annotated[int, Meta(ge=-1, description="Offset of the last record that is included.")]
    judgments: Count
    rows: tuple[Row, ...]


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
    original: Annotated[bytes, Meta(description="The original value of the record, in base64.")]
    topic: str
    partition: Count
    offset: Count


REASONS: tuple[str, ...] = get_args(Reason)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

encode = msgspec.json.Encoder().encode
