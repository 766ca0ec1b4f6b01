"""The JSON bodies of the read API. The OpenAPI document is generated from these types."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotations
from typing import Literal

from msgspec import Struct

from streams.core.judges.power import DetectionPower  # noqa: TC001
from streams.monitor.backends.base import Lag  # noqa: TC001
from streams.monitor.state.findings import Finding  # noqa: TC001
from streams.monitor.state.outputs import RejectionView  # noqa: TC001
from streams.monitor.state.snapshot import Overview
from streams.reports import PairView
from streams.reports.category_views import TagView  # noqa: TC001
from streams.reports.views import JudgeView, SegmentView  # noqa: TC001
from streams.stores.workers import WorkerReport  # noqa: TC001
from streams.wire.events import CampaignSettings, MatchRequest, Rating


class CampaignsPayload(Struct, frozen=True, kw_only=True):
    """A page of the campaigns, the one with the newest judgment first.

    `total` counts all campaigns that may be read. `next` is the parameter `after` of the next page, if there is one.
    """

    campaigns: list[Overview]
    total: int
    next: str | None


class CampaignPayload(Overview, frozen=True, kw_only=True):
    """One campaign with the settings in force."""

    settings: CampaignSettings


class CategoriesPayload(Struct, frozen=True, kw_only=True):
    """The tags of the setting `boards` with their values. Each value has a leaderboard."""

    tags: tuple[TagView, ...]


class RatingsPayload(Struct, frozen=True, kw_only=True):
    """The rating of every system."""

    ratings: tuple[Rating, ...]


class JudgesPayload(Struct, frozen=True, kw_only=True):
    """Some judges, by pseudonym, and the total number. `next` is the `after` of the next page, or null.

    `suspended` are the judges whose judgments are left out until they are reinstated. They are in no page.
    `power` is what the tests of the votes can find, or null if judges are not tested.
    """

    judges: list[JudgeView]
    total: int
    next: str | None
    suspended: tuple[str, ...]
    power: DetectionPower | None


class SegmentsPayload(Struct, frozen=True, kw_only=True):
    """Some segments, and the total number. `next` is the `after` of the next page, or null.

    `others` counts the judgments on segments beyond `max_segments`, which are not listed.
    """

    segments: list[SegmentView]
    total: int
    next: str | None
    others: int


class PairPayload(PairView, frozen=True, kw_only=True):
    """Two systems. `early` and `late` count their judgments in the two halves of the campaign; null if unknown."""

    early: int | None
    late: int | None


class PairsPayload(Struct, frozen=True, kw_only=True):
    """The pairs of systems that met. The first half of the campaign is its first `half` judgments."""

    systems: list[str]
    pairs: list[PairPayload]
    half: int | None


class HistoryPoint(Struct, frozen=True, kw_only=True):
    """A past leaderboard. Values are in the order of the systems; null where a system was not ranked yet."""

    sequence: int
    judgments: int
    at: datetime
    scores: list[float | None]
    deviations: list[float | None]
    ranks: list[int | None]


class HistoryPayload(Struct, frozen=True, kw_only=True):
    """The ratings over time."""

    systems: list[str]
    samples: list[HistoryPoint]


class RequestPayload(MatchRequest, frozen=True, kw_only=True):
    """An outstanding match request, and until when it is leased to a judge."""

    leased_until: datetime | None


class RequestsPayload(Struct, frozen=True, kw_only=True):
    """The outstanding match requests."""

    requests: list[RequestPayload]


class RejectionsPayload(Struct, frozen=True, kw_only=True):
    """The records that were not applied."""

    total: int
    reasons: dict[str, int]
    latest: list[RejectionView]


class OutcomePayload(Struct, frozen=True, kw_only=True):
    """What became of a judgment or a command.

    `unknown`: the worker has not read it yet, or it is too old. `waiting`: the campaign is quarantined, and its
    records wait in the log.
    """

    id: str
    outcome: Literal["applied", "rejected", "waiting", "unknown"]
    rejection: RejectionView | None = None


class WorkerView(Struct, frozen=True, kw_only=True):
    """A worker as it reported last. `silent` means that it should have reported again."""

    worker: str
    version: str
    silent: bool
    reported_seconds: float
    working_seconds: float | None
    open: list[int]
    opening: list[int]
    stopped: list[int]

    @classmethod
    def of(cls, report: WorkerReport) -> WorkerView:
        """Return a report without what belongs to a campaign."""
        return cls(
            worker=report.worker,
            version=report.version,
            silent=report.is_silent,
            reported_seconds=round(report.age, 1),
            working_seconds=report.working_seconds,
            open=list(report.open),
            opening=list(report.opening),
            stopped=sorted(report.stopped),
        )


class StatusPayload(Struct, frozen=True, kw_only=True):
    """The state of the monitor and of the workers.

    `problems` are what an operator has to repair, and `notes` what they should know. `waiting` are the servers that do
    not answer the monitor.
    """

    version: str
    ready: bool
    problems: list[Finding]
    notes: list[Finding]
    waiting: list[str]
    rate: float
    partitions: list[Lag]
    workers: list[WorkerView]
    streams: int
