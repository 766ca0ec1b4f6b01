"""The events on the wire: what every topic carries, checked while it is decoded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from streams.wire.campaign_names import CAMPAIGN_PATTERN
from streams.wire.limits import (
    MAX_DURATION_MS,
    MAX_NAME,
    MAX_RANK,
    MAX_RANKED,
    MAX_SOURCE,
    MAX_SYSTEMS,
    MAX_YEAR,
)

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
_ABOUT_CAMPAIGN = "Letters, digits, '.', '_' and '-'; one leaderboard, e.g. wmt13.fr-en."
CampaignName = Annotated[str, Meta(max_length=MAX_NAME, pattern=CAMPAIGN_PATTERN, description=_ABOUT_CAMPAIGN)]
# Of a judgment the name is checked by `streams.wire.decoding`, which knows most of them already: the pattern is slow.
JudgedCampaign = Annotated[
    str, Meta(max_length=MAX_NAME, description=_ABOUT_CAMPAIGN, extra_json_schema={"pattern": CAMPAIGN_PATTERN})
]
Time = Annotated[datetime, Meta(tz=True)]
Version = Annotated[
    str, Meta(max_length=20, pattern=r"^1(\.[0-9]+)*$(?!\n)", description="1, or 1.x; any other major is refused.")
]
Rank = Annotated[int, Meta(ge=1, le=MAX_RANK, description="1 is best, equal ranks are a tie.")]
Count = Annotated[int, Meta(ge=0)]
Parameter = bool | int | float | str

# One event with a wrong time must not take a campaign's clock to where no request ever expires.
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
    "refused_command",
]


class Judgment(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One judge's verdict on the outputs of some systems for one segment.

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
    score: Annotated[float, Meta(ge=0, le=100)] | None = None
    request: Name | None = None
    duration_ms: Annotated[int, Meta(ge=0, le=MAX_DURATION_MS)] | None = None
    source: Annotated[str, Meta(max_length=MAX_SOURCE)] | None = None
    version: Version = "1"


class CampaignSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an operator may choose for a campaign; a `create` or `change` command carries it."""

    model: Annotated[Name, Meta(description="What rates the systems; it can't change later.")] = "trueskill"
    parameters: Annotated[dict[str, Parameter], Meta(description="The model's own.")] = {}
    systems: Annotated[
        tuple[Name, ...],
        Meta(
            max_length=MAX_SYSTEMS,
            description="Only these, and systems added later, may be judged; if none is given, every one that is.",
        ),
    ] = ()
    segments: Annotated[
        tuple[Name, ...],
        Meta(max_length=100_000, description="What match requests choose from, besides the segments seen."),
    ] = ()
    baseline: Annotated[
        Name | None, Meta(description="The system that all others are compared with, where the model has one.")
    ] = None
    budget: Annotated[int, Meta(ge=1, description="Judgments to ask for; none: no end.")] | None = None
    policy: Annotated[Name, Meta(description="What chooses the next match: information, variance or uniform.")] = (
        "information"
    )
    outstanding: Annotated[int, Meta(ge=0, le=10_000, description="Match requests kept open.")] = 8
    ways: Annotated[int, Meta(ge=2, le=20, description="Systems in one match request.")] = 2
    segment_choice: Annotated[
        Literal["least", "information"],
        Meta(description="The segment of a request: the least judged, or by what it tells (a model with segments)."),
    ] = "least"
    request_seconds: Annotated[float, Meta(gt=0, le=1e8, description="When an unanswered request expires.")] = 3600.0
    stop_confidence: (
        Annotated[
            float, Meta(gt=0.5, lt=1, description="Ask for no more once the clusters hold with this; none: go on.")
        ]
        | None
    ) = None
    replicas: Annotated[
        int, Meta(ge=0, le=1000, description="Of the online bootstrap behind the rank ranges; 0, or 40 and more.")
    ] = 200
    judge_per_minute: (
        Annotated[
            int,
            Meta(ge=1, le=1_000_000, description="Of one judge in one minute, by the judgments' `at`; none: no limit."),
        ]
        | None
    ) = None
    too_fast: Annotated[
        Literal["accept", "flag", "reject"],
        Meta(description="What becomes of a judgment above `judge_per_minute`; a flagged one counts, and is counted."),
    ] = "flag"


class _Command(Struct, frozen=True, kw_only=True, tag_field="action"):
    id: Name
    campaign: CampaignName
    at: Time
    by: Name | None = None
    version: Version = "1"


class Create(_Command, frozen=True, kw_only=True, tag="create"):
    """Open a campaign with these settings."""

    settings: CampaignSettings = CampaignSettings()


class Change(_Command, frozen=True, kw_only=True, tag="change"):
    """Change settings that rate no judgment again: the budget, what is asked for and when to stop, judges' limits."""

    settings: dict[str, object]


class AddSystem(_Command, frozen=True, kw_only=True, tag="add"):
    """Let one more system in."""

    system: Name


class WithdrawSystem(_Command, frozen=True, kw_only=True, tag="withdraw"):
    """Take a system out of the leaderboard and of the matches; its judgments stay in the log."""

    system: Name


class Pause(_Command, frozen=True, kw_only=True, tag="pause"):
    """Send no match requests until `resume`; judgments that arrive still count."""


class Resume(_Command, frozen=True, kw_only=True, tag="resume"):
    """Send match requests again."""


class ExcludeJudge(_Command, frozen=True, kw_only=True, tag="exclude"):
    """Accept no more judgments of this judge."""

    judge: Name


class Retract(_Command, frozen=True, kw_only=True, tag="retract"):
    """Rate the campaign as if these judgments, and all of this judge so far, had never been made."""

    judgments: Annotated[tuple[Name, ...], Meta(max_length=10_000)] = ()
    judge: Name | None = None


class Close(_Command, frozen=True, kw_only=True, tag="close"):
    """Accept no more judgments."""


Command = Create | Change | AddSystem | WithdrawSystem | Pause | Resume | ExcludeJudge | Retract | Close

CampaignState = Literal["open", "paused", "closed"]


class CampaignStatus(Struct, frozen=True, kw_only=True):
    """The settings in force of one campaign."""

    campaign: CampaignName
    state: CampaignState
    settings: CampaignSettings
    withdrawn: tuple[Name, ...]
    excluded: Annotated[tuple[Name, ...], Meta(description="Judges, by pseudonym.")] = ()
    offset: int
    command: Annotated[
        Name | None, Meta(description="The id of the command that brought this about; none if a judgment did.")
    ] = None


class MatchRequest(Struct, frozen=True, kw_only=True):
    """Please judge these systems' outputs: the most useful next match."""

    id: Name
    campaign: CampaignName
    systems: Annotated[tuple[Name, ...], Meta(min_length=2, max_length=MAX_RANKED)]
    segment: Name | None
    why: str
    information: Annotated[float, Meta(ge=0, description="Expected information about the two ratings, in bits.")]
    expires_at: Time


class Row(Struct, frozen=True, kw_only=True):
    """One line of a leaderboard."""

    system: Name
    rank: Annotated[int, Meta(ge=1)]
    rank_low: Annotated[int, Meta(ge=1)]
    rank_high: Annotated[int, Meta(ge=1)]
    cluster: Annotated[int, Meta(ge=1)]
    score: float
    deviation: Annotated[float, Meta(ge=0)]
    judgments: Count


class Leaderboard(Struct, frozen=True, kw_only=True):
    """A campaign's ranking as of one offset of its log."""

    campaign: CampaignName
    model: Name
    sequence: Annotated[
        int, Meta(ge=0, description="Records of this campaign that it reflects: a greater one is newer.")
    ]
    offset: Annotated[int, Meta(ge=-1, description="The last record of the log that it reflects.")]
    judgments: Count
    rows: tuple[Row, ...]


class Rating(Struct, frozen=True, kw_only=True):
    """One system's state after a commit."""

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
    """One record that was not applied, with everything needed to mend it and send it again."""

    id: str
    reason: Reason
    field: str | None
    message: str
    original: Annotated[bytes, Meta(description="The record's value as it came, in base64.")]
    topic: str
    partition: Count
    offset: Count


REASONS: tuple[str, ...] = get_args(Reason)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

encode = msgspec.json.Encoder().encode
