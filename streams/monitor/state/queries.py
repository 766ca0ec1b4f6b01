"""The read queries of the HTTP API, answered from what the monitor knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from streams.core.campaign.seen import command_key
from streams.errors import JudgestreamError
from streams.monitor.state.history import first_half, history_payload, meetings, sample_of
from streams.monitor.state.lookup import check_name
from streams.monitor.state.paging import page_of
from streams.monitor.state.payloads import (
    CampaignPayload,
    CategoriesPayload,
    HistoryPayload,
    JudgesPayload,
    OutcomePayload,
    PairPayload,
    PairsPayload,
    RatingsPayload,
    RejectionsPayload,
    RequestPayload,
    RequestsPayload,
    SegmentsPayload,
)
from streams.stores.judges import look_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.ledger.base import PairSample
    from streams.monitor.state.monitor import Monitor
    from streams.monitor.state.snapshot import CampaignSnapshot
    from streams.wire.events import Leaderboard

    SegmentOrder = Literal["information", "judgments"]
    JudgeOrder = Literal["first", "suspicious"]

MOST_LEASES_SHOWN = 500


class Queries:
    """One method per thing that can be read."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._reading_log = Lock()

    async def campaign(self, name: str) -> CampaignPayload:
        """Return one campaign with its settings."""
        snapshot = await self._monitor.snapshot(name)
        overview = (await self._monitor.watched(name)).overview(self._monitor.now())
        return CampaignPayload(**structs.asdict(overview), settings=snapshot.settings)

    async def leaderboard(self, name: str) -> Leaderboard:
        """Return the newest leaderboard, from the log or from the store."""
        await self._monitor.snapshot(name)
        return (await self._monitor.watched(name)).board

    async def category_leaderboard(self, name: str, tag: str, value: str) -> Leaderboard:
        """Return the leaderboard of one category. Raise ParameterError if there is none."""
        snapshot = await self._monitor.snapshot(name)
        return await self._monitor.backend.run(snapshot.category_leaderboard, tag, value)

    async def judge_leaderboard(self, name: str, judge: str) -> Leaderboard | None:
        """Return the leaderboard of one judge, by pseudonym, or None if the campaign does not know them.

        The log is read for it. Raise JudgestreamError if it can't be rated, or is being read for another judge.
        """
        await self._monitor.snapshot(name)
        return await self._monitor.backend.run(self._rate_judge, name, judge)

    def _rate_judge(self, name: str, judge: str) -> Leaderboard | None:
        backend = self._monitor.backend
        if look_up(backend.store, name, judge, "a pseudonym") is None:
            return None
        if not self._reading_log.acquire(blocking=False):
            raise JudgestreamError("the leaderboard of another judge is being made; ask again later")
        try:
            found = backend.campaign_of_judge(name, judge)
            return None if found is None else found.leaderboard()
        finally:
            self._reading_log.release()

    async def categories(self, name: str) -> CategoriesPayload:
        """Return which leaderboards by category there are."""
        return CategoriesPayload(tags=(await self._monitor.snapshot(name)).categories)

    async def ratings(self, name: str) -> RatingsPayload:
        """Return the rating of every system."""
        snapshot = await self._monitor.snapshot(name)
        return RatingsPayload(ratings=await self._monitor.backend.run(lambda: snapshot.ratings))

    async def judges(self, name: str, *, order: JudgeOrder, after: str | None, limit: int) -> JudgesPayload:
        """Return judges, by their first judgment, or first those with a reason to check them."""
        snapshot = await self._monitor.snapshot(name)

        def read() -> JudgesPayload:
            rows = snapshot.judges if order == "first" else snapshot.suspicious_judges
            page, after_page = page_of(rows, lambda row: row.judge, after=after, limit=limit)
            return JudgesPayload(
                judges=page,
                total=len(rows),
                next=after_page,
                suspended=snapshot.suspended,
                power=snapshot.detection_power,
            )

        return await self._monitor.backend.run(read)

    async def segments(self, name: str, *, order: SegmentOrder, after: str | None, limit: int) -> SegmentsPayload:
        """Return segments, by information or by number of judgments."""
        snapshot = await self._monitor.snapshot(name)

        def read() -> SegmentsPayload:
            rows = snapshot.judged_segments if order == "judgments" else snapshot.informative_segments
            page, after_page = page_of(rows, lambda row: row.segment, after=after, limit=limit)
            others = snapshot.other_judgments
            return SegmentsPayload(segments=page, total=len(rows), next=after_page, others=others)

        return await self._monitor.backend.run(read)

    async def pairs(self, name: str) -> PairsPayload:
        """Return the pairs of systems that met."""
        snapshot = await self._monitor.snapshot(name)
        backend = self._monitor.backend
        return await backend.run(lambda: _pairs(snapshot, backend.ledger.pair_samples(name)))

    async def history(self, name: str, *, after: int) -> HistoryPayload:
        """Return the samples after a sequence number. The last one is the present leaderboard."""
        await self._monitor.snapshot(name)
        watched = await self._monitor.watched(name)
        backend = self._monitor.backend
        present = sample_of(watched.board, at=datetime.now(UTC))
        return await backend.run(lambda: history_payload([*backend.ledger.samples(name), present], after=after))

    async def requests(self, name: str) -> RequestsPayload:
        """Return the outstanding match requests with their leases."""
        snapshot = await self._monitor.snapshot(name)
        requests = snapshot.requests
        ids = [request.id for request in requests[:MOST_LEASES_SHOWN]]
        left = await self._monitor.backend.run(self._monitor.backend.ledger.seconds_left, name, ids)
        now = datetime.now(UTC)
        until = {request: now + timedelta(seconds=seconds) for request, seconds in left.items()}
        return RequestsPayload(
            requests=[
                RequestPayload(**structs.asdict(request), leased_until=until.get(request.id)) for request in requests
            ]
        )

    async def rejections(self, name: str, *, limit: int, judgment: str | None = None) -> RejectionsPayload:
        """Return the latest rejections, of one judgment or of all, and how many there were for each reason."""
        snapshot = await self._monitor.snapshot(name)
        rejections = self._monitor.outputs(name).rejections
        return RejectionsPayload(
            total=max(rejections.total, snapshot.view.rejected),
            reasons=dict(rejections.reasons.most_common()),
            latest=[view for view in rejections.latest if judgment in (None, view.judgment)][:limit],
        )

    async def outcome(self, name: str, event: str, *, of: Literal["judgment", "command"]) -> OutcomePayload:
        """Return what became of a judgment or a command. A campaign that does not exist may be on its way."""
        check_name(name)
        backend = self._monitor.backend
        seen = event if of == "judgment" else command_key(event)
        if await backend.run(backend.store.has_seen, name, seen):
            return OutcomePayload(id=event, outcome="applied")
        if (rejection := self._monitor.outputs(name).rejections.find(event)) is not None:
            return OutcomePayload(id=event, outcome="rejected", rejection=rejection)
        meta = await backend.run(backend.store.read_meta, name)
        is_held = meta is not None and meta.status.quarantine is not None
        return OutcomePayload(id=event, outcome="waiting" if is_held else "unknown")


def _pairs(snapshot: CampaignSnapshot, samples: Sequence[PairSample]) -> PairsPayload:
    half = first_half(samples, snapshot.leaderboard.judgments)
    before = meetings(half) if half else {}
    pairs = []
    for view in snapshot.pairs:
        total = view.wins + view.ties + view.losses
        early = min(total, before.get(frozenset((view.system, view.opponent)), 0)) if half else None
        late = None if early is None else total - early
        pairs.append(PairPayload(**structs.asdict(view), early=early, late=late))
    return PairsPayload(
        systems=[row.system for row in snapshot.leaderboard.rows], pairs=pairs, half=half.judgments if half else None
    )
