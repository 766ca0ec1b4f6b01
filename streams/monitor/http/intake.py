"""The way in for platforms without a Kafka client: judgments are posted, and matches are given out on a lease."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec import Struct

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.errors import StoreUnavailable
from streams.monitor.http.responses import RequestError
from streams.monitor.ledger.base import Offer
from streams.wire.events import MatchRequest, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.metrics import MonitorMetrics
    from streams.monitor.state.monitor import Monitor
    from streams.settings import Settings
    from streams.wire.events import Judgment

RETRY_SECONDS = 2
MOST_JUDGES = 100_000  # whose pseudonyms are remembered


class AcceptedPayload(Struct, frozen=True, kw_only=True):
    """The broker has these judgments; one that it had already changes nothing."""

    accepted: int
    ids: list[str]


class LeasePayload(Struct, frozen=True, kw_only=True):
    """Until when a match is this judge's."""

    expires_at: datetime


class NextMatchPayload(Struct, frozen=True, kw_only=True):
    """What a judge should judge next."""

    request: MatchRequest
    lease: LeasePayload


class Intake:
    """Takes judgments and gives out matches; a judge is known here by pseudonym, as everywhere behind it."""

    def __init__(self, monitor: Monitor, settings: Settings, metrics: MonitorMetrics) -> None:
        self._monitor = monitor
        self._metrics = metrics
        self._seconds = settings.monitor_lease_seconds
        self._pseudonyms = Pseudonyms(settings.judge_key.encode()) if settings.judge_key else None

    async def accept(self, campaign: str, judgments: Sequence[Judgment]) -> AcceptedPayload:
        """Publish judgments of one campaign, and answer once the broker has them."""
        known = self._monitor.known(campaign)
        if known is not None and known.view.state == "closed":
            raise RequestError(409, "campaign_closed", f"the campaign {campaign!r} is closed", field="campaign")
        if judgments:
            with self._metrics.publish_seconds.time():
                await self._monitor.backend.publish(judgments)
            self._metrics.judgments_published.inc(len(judgments))
            await self._answered(campaign, judgments)
        return AcceptedPayload(accepted=len(judgments), ids=[judgment.id for judgment in judgments])

    async def _answered(self, campaign: str, judgments: Sequence[Judgment]) -> None:
        """Let go of the leases; where the ledger is away they run out by themselves."""
        if self._pseudonyms is None:
            return
        answers = [(each.request, self._pseudonym(each.judge)) for each in judgments if each.request is not None]
        if not answers:
            return
        ledger, seconds = self._monitor.backend.ledger, self._seconds

        def note() -> None:
            for request, judge in answers:
                ledger.answered(campaign, request, judge=judge, seconds=seconds)

        with suppress(StoreUnavailable):
            await self._monitor.backend.run(note)

    async def next_match(self, campaign: str, judge: str) -> NextMatchPayload:
        """Lease a judge the match that they have, or the best that is free."""
        if self._pseudonyms is None:
            raise RequestError(
                503, "unavailable", "no matches are given out here: set JUDGESTREAM_JUDGE_KEY as workers have it"
            )
        requests = {request.id: request for request in await self._monitor.match_requests(campaign)}
        backend = self._monitor.backend
        taken = await backend.run(
            backend.ledger.take,
            campaign,
            [Offer(request.id, _match(request)) for request in requests.values()],
            judge=self._pseudonym(judge),
            seconds=self._seconds,
        )
        if taken is None:
            raise RequestError(404, "no_match", "no match is free now", headers={"Retry-After": str(RETRY_SECONDS)})
        if taken.seconds == self._seconds:
            self._metrics.leases.inc()
        expires_at = datetime.now(UTC) + timedelta(seconds=taken.seconds)
        return NextMatchPayload(request=requests[taken.request], lease=LeasePayload(expires_at=expires_at))

    def _pseudonym(self, judge: str) -> str:
        assert self._pseudonyms is not None
        if len(self._pseudonyms) > MOST_JUDGES:
            self._pseudonyms.clear()
        return self._pseudonyms[judge]


def _match(request: MatchRequest) -> str:
    """Name what a judge would see, in whatever order; where no segment is named, every request is something new."""
    if request.segment is None:
        return request.id
    return blake2b(encode((request.segment, sorted(request.systems))), digest_size=9).hexdigest()
