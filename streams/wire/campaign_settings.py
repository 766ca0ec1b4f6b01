"""The settings of a campaign."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from streams.wire.fields import Name, Rank
from streams.wire.limits import MAX_BOARD_TAGS, MAX_RANKED, MAX_SYSTEMS
from streams.wire.score_range import DEFAULT_SCORE_RANGE, ScoreRange

Parameter = bool | int | float | str


class GoldItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A match with a known answer. Judgments of it check the judge. They never change a rating."""

    segment: Name
    systems: Annotated[tuple[Name, ...], Meta(min_length=2, max_length=MAX_RANKED)]
    ranks: Annotated[tuple[Rank, ...], Meta(min_length=2, max_length=MAX_RANKED)]


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
        int,
        Meta(
            ge=0,
            le=1000,
            description="Number of bootstrap replicas for the rank ranges of `grm`: 0, or 40 and more. "
            "Other models have none.",
        ),
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
    requests_only: Annotated[
        bool, Meta(description="Whether only answers to match requests of this campaign are accepted.")
    ] = False
    repeat_votes: Annotated[
        Literal["all", "first", "last"],
        Meta(description="Which judgments of one judge on the same segment and systems count."),
    ] = "all"
    repeat_window: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Number of recent judgments that are kept to find repeated votes and changed verdicts.",
        ),
    ] = 20_000
    judge_share: (
        Annotated[
            float,
            Meta(gt=0, lt=1, description="Largest share of the judgments that may come from one judge. Null: any."),
        ]
        | None
    ) = None
    pace_clock: Annotated[
        Literal["judgment", "broker"],
        Meta(description="Time that `judge_per_minute` uses: `at` of the judgment, or that of the Kafka broker."),
    ] = "judgment"
    suspend_judges: Annotated[
        Literal["off", "propose", "auto"],
        Meta(description="What happens to judges who manipulate: nothing, a proposal, or they are suspended."),
    ] = "propose"
    boards: Annotated[
        tuple[Name, ...],
        Meta(
            max_length=MAX_BOARD_TAGS,
            description="Tags of judgments: each of their values has a leaderboard of its own. "
            "It can not be changed later.",
        ),
    ] = ()
    gold: Annotated[
        tuple[GoldItem, ...], Meta(max_length=10_000, description="Matches with known answers, to check judges.")
    ] = ()
    gold_rate: Annotated[float, Meta(ge=0, le=0.5, description="Share of match requests that are gold items.")] = 0.05
    gold_threshold: (
        Annotated[
            float,
            Meta(gt=0, lt=1, description="Exclude judges whose pass rate on gold items is surely below. Null: never."),
        ]
        | None
    ) = None
