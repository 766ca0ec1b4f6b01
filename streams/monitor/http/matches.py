"""Matches on a lease: a judge takes some, answers them, gives one back or skips it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from streams.core.campaign.requests import wanted_requests
from streams.monitor.http.intake import check_quarantine
from streams.monitor.http.responses import RequestError
from streams.monitor.ledger.base import MatchLease, Offer
from streams.wire.events import MatchRequest, encode
from streams.wire.fields import Judge, Name  # noqa: TC001 - msgspec reads the annotations

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignMeta
    from streams.metrics import MonitorMetrics
    from streams.monitor.backends.base import Backend
    from streams.monitor.http.demand import MatchDemand
    from streams.monitor.http.judge_names import JudgeNames
    from streams.monitor.state.metas import CampaignMetas
    from streams.settings import Settings
    from streams.wire.events import CampaignStatus

RETRY_SECONDS = 2
WAIT_SECONDS = 2.0  # for requests that a worker opens because this judge asks
POLL_SECONDS = 0.1
MOST_HELD = 20


class NextMatchBody(Struct, frozen=True, kw_only=True):
    """Who asks for matches, and how many matches they want to hold."""

    judge: Judge
    count: Annotated[int, Meta(ge=1, le=MOST_HELD)] = 1


class HeldMatchBody(Struct, frozen=True, kw_only=True):
    """A judge, and the id of a request that they hold."""

    judge: Judge
    request: Name


class LeasePayload(Struct, frozen=True, kw_only=True):
    """Until when a match is leased to this judge."""

    expires_at: datetime


class LeasedMatchPayload(Struct, frozen=True, kw_only=True):
    """A match that a judge should judge, and the lease on it."""

    request: MatchRequest
    lease: LeasePayload


class NextMatchPayload(Struct, frozen=True, kw_only=True):
    """The matches that a judge holds now, those that they had before first."""

    matches: list[LeasedMatchPayload]


class Matches:
    """Leases the outstanding match requests of campaigns to judges."""

    def __init__(
        self,
        backend: Backend,
        metas: CampaignMetas,
        judges: JudgeNames,
        demand: MatchDemand,
        settings: Settings,
        metrics: MonitorMetrics,
    ) -> None:
        self._backend = backend
        self._metas = metas
        self._judges = judges
        self._demand = demand
        self._seconds = settings.monitor_lease_seconds
        self._metrics = metrics

    async def next_matches(self, campaign: str, *, judge: str, count: int) -> NextMatchPayload:
        """Return the matches that a judge holds, and lease free ones until there are `count`.

        If none is free, the campaign is asked for more, and the judge waits a moment for them.
        """
        pseudonym, end = self._judges.pseudonym(judge), asyncio.get_running_loop().time() + WAIT_SECONDS
        meta = await self._metas.read(campaign)
        _check_status(meta.status, pseudonym)
        await self._demand.ask(campaign, judge=pseudonym, count=count)
        tried: set[str] = set()
        while True:
            requests = {request.id: request for request in meta.outstanding}
            leases = await self._lease(meta, judge=pseudonym, count=count) if requests.keys() - tried else []
            tried |= requests.keys()
            # Otherwise the budget, the stop rule or too few systems limit the requests, and no more will come.
            may_grow = len(requests) >= wanted_requests(meta.status) > 0
            if may_grow and len(leases) < count:
                self._demand.report_shortage(campaign)
            if leases:
                return _payload(requests, leases)
            if not may_grow or asyncio.get_running_loop().time() >= end:
                headers = {"Retry-After": str(RETRY_SECONDS)}
                raise RequestError(404, "no_match", "no match is free now; try again later", headers=headers)
            await asyncio.sleep(POLL_SECONDS)
            meta = await self._metas.read(campaign, within=POLL_SECONDS)
            _check_status(meta.status, pseudonym)

    async def _lease(self, meta: CampaignMeta, *, judge: str, count: int) -> list[MatchLease]:
        ledger, campaign = self._backend.ledger, meta.status.campaign
        offers = [Offer(request.id, _match(request)) for request in meta.outstanding]

        def lease() -> list[MatchLease]:
            if excluded := frozenset(meta.status.excluded):
                for request, holder in ledger.holders(campaign, [offer.request for offer in offers]).items():
                    if holder in excluded:
                        ledger.release(campaign, request, judge=holder, again=True)
            return ledger.lease(campaign, offers, judge=judge, count=count, seconds=self._seconds)

        leases = await self._backend.run(lease)
        self._metrics.leases.inc(sum(lease.seconds == self._seconds for lease in leases))
        return leases

    async def give_back(self, campaign: str, *, judge: str, request: str, again: bool) -> None:
        """End the lease of a judge. Others may have the match at once, and this judge `again`, or never."""
        pseudonym = self._judges.pseudonym(judge)
        await self._metas.read(campaign)
        release = self._backend.ledger.release
        if not await self._backend.run(release, campaign, request, judge=pseudonym, again=again):
            message = "the judge does not hold this match: it was answered or cancelled, or its lease has expired"
            raise RequestError(404, "not_held", message, field="request")


def _check_status(status: CampaignStatus, judge: str) -> None:
    """Raise if nobody, or not this judge, may judge now."""
    check_quarantine(status)
    if status.state != "open":
        reason = "campaign_paused" if status.state == "paused" else "campaign_closed"
        message = f"the campaign {status.campaign!r} is {status.state}, and hands out no matches"
        raise RequestError(409, reason, message, field="campaign")
    if judge in status.excluded:
        raise RequestError(403, "judge_excluded", f"the judge {judge} is excluded", field="judge")


def _payload(requests: dict[str, MatchRequest], leases: list[MatchLease]) -> NextMatchPayload:
    now = datetime.now(UTC)
    return NextMatchPayload(
        matches=[
            LeasedMatchPayload(
                request=requests[lease.request], lease=LeasePayload(expires_at=now + timedelta(seconds=lease.seconds))
            )
            for lease in leases
        ]
    )


def _match(request: MatchRequest) -> str:
    """Return a key of what a judge would see, in any order. Without a segment, every request is new."""
    if request.segment is None:
        return request.id
    return blake2b(encode((request.segment, sorted(request.systems))), digest_size=9).hexdigest()
