"""The forms of what can be read, from which the OpenAPI document is written too."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotations

from msgspec import Struct

from streams.monitor.backends.base import Lag  # noqa: TC001
from streams.monitor.state.rejections import RejectionView  # noqa: TC001
from streams.monitor.state.snapshot import Overview
from streams.reports import PairView
from streams.reports.views import JudgeView, SegmentView  # noqa: TC001
from streams.wire.events import CampaignSettings, MatchRequest, Rating


class CampaignsPayload(Struct, frozen=True, kw_only=True):
    """All campaigns, the one with the newest judgment first."""

    campaigns: list[Overview]


class CampaignPayload(Overview, frozen=True, kw_only=True):
    """One campaign, with the settings in force."""

    settings: CampaignSettings


class RatingsPayload(Struct, frozen=True, kw_only=True):
    """Every system's state."""

    ratings: tuple[Rating, ...]


class JudgesPayload(Struct, frozen=True, kw_only=True):
    """The judges, by pseudonym."""

    judges: list[JudgeView]


class SegmentsPayload(Struct, frozen=True, kw_only=True):
    """The segments asked for, of so many in total."""

    segments: list[SegmentView]
    total: int


class PairPayload(PairView, frozen=True, kw_only=True):
    """Two systems; `early` and `late` count their judgments in the two halves of the campaign, null if unknown."""

    early: int | None
    late: int | None


class PairsPayload(Struct, frozen=True, kw_only=True):
    """The pairs that met; the first half of the campaign is its first `half` judgments."""

    systems: list[str]
    pairs: list[PairPayload]
    half: int | None


class HistoryPoint(Struct, frozen=True, kw_only=True):
    """One leaderboard of the past, in the order of the systems; null where one was not there."""

    sequence: int
    judgments: int
    at: datetime
    scores: list[float | None]
    deviations: list[float | None]
    ranks: list[int | None]


class HistoryPayload(Struct, frozen=True, kw_only=True):
    """How the ratings came about."""

    systems: list[str]
    samples: list[HistoryPoint]


class RequestPayload(MatchRequest, frozen=True, kw_only=True):
    """A match request that is out, and until when a judge has it."""

    leased_until: datetime | None


class RequestsPayload(Struct, frozen=True, kw_only=True):
    """The match requests that are out."""

    requests: list[RequestPayload]


class RejectionsPayload(Struct, frozen=True, kw_only=True):
    """What was not applied."""

    total: int
    reasons: dict[str, int]
    latest: list[RejectionView]


class StatusPayload(Struct, frozen=True, kw_only=True):
    """How the monitor and the workers are."""

    version: str
    ready: bool
    waiting: list[str]
    rate: float
    partitions: list[Lag]
    streams: int
