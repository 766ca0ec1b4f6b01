"""The intake for platforms without a Kafka client: they post judgments, and lease matches."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec import Struct

from streams.core.campaign.pseudonyms import Pseudonyms, is_wire_pseudonym
from streams.errors import StoreUnavailable
from streams.monitor.http.responses import RequestError
from streams.monitor.ledger.base import Offer
from streams.monitor.state.lookup import UnknownCampaign, check_name
from streams.wire.events import MatchRequest, encode
from streams.wire.quarantine import describe_quarantine
from streams.wire.score_range import check_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.metrics import MonitorMetrics
    from streams.monitor.state.monitor import Monitor
    from streams.settings import Settings
    from streams.wire.events import Judgment

RETRY_SECONDS = 2


class AcceptedPayload(Struct, frozen=True, kw_only=True):
    """The judgments that the broker has. A judgment that it already had changes nothing."""

    accepted: int
    ids: list[str]


class LeasePayload(Struct, frozen=True, kw_only=True):
    """Until when a match is leased to this judge."""

    expires_at: datetime


class NextMatchPayload(Struct, frozen=True, kw_only=True):
    """The match that a judge should judge next."""

    request: MatchRequest
    lease: LeasePayload


class Intake:
    """Accepts judgments and leases matches. A judge's id is replaced by a pseudonym before anything else is done."""

    def __init__(self, monitor: Monitor, settings: Settings, metrics: MonitorMetrics) -> None:
        self._monitor = monitor
        self._metrics = metrics
        self._seconds = settings.monitor_lease_seconds
        self._score_ranges: dict[str, tuple[float, ...]] = {}  # by campaign; a range never changes
        self._pseudonyms = Pseudonyms(settings.judge_key.encode())
        self._has_key = bool(settings.judge_key)

    async def accept(self, campaign: str, judgments: Sequence[Judgment]) -> AcceptedPayload:
        """Publish judgments of one campaign. Return when the broker has them.

        Raise RecordError for a score outside the range of the campaign.
        """
        known = self._monitor.known(campaign)
        if known is not None and known.view.quarantine is not None:
            await self._read_requests(campaign)  # the quarantine may have ended since it was read
        if known is not None and known.view.state == "closed":
            raise RequestError(409, "campaign_closed", f"the campaign {campaign!r} is closed", field="campaign")
        await self._check_scores(campaign, judgments)
        for judgment in judgments:
            self._check_key(judgment.judge)
        judgments = [self._pseudonyms.replace_judge(judgment) for judgment in judgments]
        if judgments:
            with self._metrics.publish_seconds.time():
                await self._monitor.backend.publish(judgments)
            self._metrics.judgments_published.inc(len(judgments))
            await self._complete_leases(campaign, judgments)
        return AcceptedPayload(accepted=len(judgments), ids=[judgment.id for judgment in judgments])

    async def _check_scores(self, campaign: str, judgments: Sequence[Judgment]) -> None:
        """Check scores against the range of the campaign. If the store is away, only the worker checks them."""
        scores = [judgment.score for judgment in judgments if judgment.score is not None]
        if scores and campaign not in self._score_ranges:
            with suppress(StoreUnavailable):
                backend = self._monitor.backend
                meta = await backend.run(backend.store.read_meta, campaign)
                if meta is not None:
                    self._score_ranges[campaign] = meta.status.settings.score_range
        if campaign in self._score_ranges:
            for score in scores:
                check_score(score, score_range=self._score_ranges[campaign], campaign=campaign)

    async def _complete_leases(self, campaign: str, judgments: Sequence[Judgment]) -> None:
        """End the leases of answered requests. If the ledger is away, they expire by themselves."""
        answers = [(each.request, self._pseudonyms[each.judge]) for each in judgments if each.request is not None]
        if not answers:
            return
        ledger, seconds = self._monitor.backend.ledger, self._seconds

        def complete_all() -> None:
            for request, judge in answers:
                ledger.complete(campaign, request, judge=judge, seconds=seconds)

        with suppress(StoreUnavailable):
            await self._monitor.backend.run(complete_all)

    async def next_match(self, campaign: str, judge: str) -> NextMatchPayload:
        """Return the match that a judge holds already, or lease the best free one."""
        self._check_key(judge)
        requests = {request.id: request for request in await self._read_requests(campaign)}
        backend = self._monitor.backend
        lease = await backend.run(
            backend.ledger.lease,
            campaign,
            [Offer(request.id, _match(request)) for request in requests.values()],
            judge=self._pseudonyms[judge],
            seconds=self._seconds,
        )
        if lease is None:
            raise RequestError(
                404, "no_match", "no match is free now; try again later", headers={"Retry-After": str(RETRY_SECONDS)}
            )
        if lease.seconds == self._seconds:
            self._metrics.leases.inc()
        expires_at = datetime.now(UTC) + timedelta(seconds=lease.seconds)
        return NextMatchPayload(request=requests[lease.request], lease=LeasePayload(expires_at=expires_at))

    async def _read_requests(self, campaign: str) -> tuple[MatchRequest, ...]:
        """Return the outstanding match requests as the store has them now. Raise after a fault in its code."""
        check_name(campaign)
        meta = await self._monitor.backend.run(self._monitor.backend.store.read_meta, campaign)
        if meta is None:
            raise UnknownCampaign(f"there is no campaign {campaign!r}")
        quarantine = meta.status.quarantine
        if quarantine is not None and quarantine.cause == "fault":  # otherwise it goes on soon
            text = describe_quarantine(campaign, quarantine)
            raise RequestError(409, "campaign_quarantined", text, field="campaign")
        return meta.outstanding

    def _check_key(self, judge: str) -> None:
        """Raise if a judge is given by id, and there is no key to make the pseudonym with."""
        if not self._has_key and not is_wire_pseudonym(judge):
            message = "this monitor has no key for pseudonyms; set JUDGESTREAM_JUDGE_KEY to the key of the workers"
            raise RequestError(503, "unavailable", message, field="judge")


def _match(request: MatchRequest) -> str:
    """Return a key of what a judge would see, in any order. Without a segment, every request is new."""
    if request.segment is None:
        return request.id
    return blake2b(encode((request.segment, sorted(request.systems))), digest_size=9).hexdigest()
