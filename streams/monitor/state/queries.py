"""What can be read, made from what the monitor knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from streams.monitor.state.payloads import (
    CampaignPayload,
    CampaignsPayload,
    HistoryPayload,
    HistoryPoint,
    JudgesPayload,
    PairPayload,
    PairsPayload,
    RatingsPayload,
    RejectionsPayload,
    RequestPayload,
    RequestsPayload,
    SegmentsPayload,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.ledger.base import PairSample, Sample
    from streams.monitor.state.monitor import Monitor
    from streams.monitor.state.snapshot import CampaignSnapshot
    from streams.reports.views import SegmentView
    from streams.wire.events import Leaderboard

    Order = Literal["information", "judgments"]

MOST_LEASES_SHOWN = 500


class Queries:
    """The answers, made from what the monitor knows."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    async def campaigns(self) -> CampaignsPayload:
        """List the campaigns."""
        return CampaignsPayload(campaigns=await self._monitor.overviews())

    async def campaign(self, name: str) -> CampaignPayload:
        """Give one."""
        snapshot = await self._monitor.snapshot(name)
        summed = (await self._monitor.watched(name)).overview(self._monitor.now())
        return CampaignPayload(**structs.asdict(summed), settings=snapshot.settings)

    async def leaderboard(self, name: str) -> Leaderboard:
        """Give the newest leaderboard, be it from the log or from the store."""
        await self._monitor.snapshot(name)
        return (await self._monitor.watched(name)).board

    async def ratings(self, name: str) -> RatingsPayload:
        """Give the ratings."""
        snapshot = await self._monitor.snapshot(name)
        return RatingsPayload(ratings=await self._monitor.backend.run(lambda: snapshot.ratings))

    async def judges(self, name: str) -> JudgesPayload:
        """Give the judges."""
        snapshot = await self._monitor.snapshot(name)
        return JudgesPayload(judges=await self._monitor.backend.run(lambda: snapshot.judges))

    async def segments(self, name: str, *, order: Order, limit: int) -> SegmentsPayload:
        """Give the segments that tell most, or were judged most often."""
        snapshot = await self._monitor.snapshot(name)
        found = await self._monitor.backend.run(lambda: snapshot.segments)

        def worth(view: SegmentView) -> float:
            return float(view.judgments) if order == "judgments" else view.information or 0.0

        return SegmentsPayload(segments=sorted(found, key=worth, reverse=True)[:limit], total=len(found))

    async def pairs(self, name: str) -> PairsPayload:
        """Give the pairs."""
        snapshot = await self._monitor.snapshot(name)
        backend = self._monitor.backend
        return await backend.run(lambda: _pairs(snapshot, backend.ledger.pair_samples(name)))

    async def history(self, name: str, *, after: int) -> HistoryPayload:
        """Give the samples after a sequence; the present one comes last, whether it will be kept or not."""
        await self._monitor.snapshot(name)
        watched = await self._monitor.watched(name)
        backend = self._monitor.backend
        present = self._monitor.sample_now(watched)
        return await backend.run(lambda: history([*backend.ledger.samples(name), present], after=after))

    async def requests(self, name: str) -> RequestsPayload:
        """Give the match requests that are out."""
        snapshot = await self._monitor.snapshot(name)
        found = snapshot.requests
        ids = [request.id for request in found[:MOST_LEASES_SHOWN]]
        left = await self._monitor.backend.run(self._monitor.backend.ledger.leased, name, ids)
        now = datetime.now(UTC)
        until = {request: now + timedelta(seconds=seconds) for request, seconds in left.items()}
        return RequestsPayload(
            requests=[
                RequestPayload(**structs.asdict(request), leased_until=until.get(request.id)) for request in found
            ]
        )

    async def rejections(self, name: str, *, limit: int) -> RejectionsPayload:
        """Give the rejections."""
        snapshot = await self._monitor.snapshot(name)
        found = self._monitor.outputs(name).rejections
        return RejectionsPayload(
            total=max(found.total, snapshot.view.rejected),
            reasons=dict(found.reasons.most_common()),
            latest=list(found.latest)[:limit],
        )


def _pairs(snapshot: CampaignSnapshot, samples: Sequence[PairSample]) -> PairsPayload:
    half = _half(samples, snapshot.leaderboard.judgments)
    before = _met(half) if half else {}
    pairs = []
    for view in snapshot.pairs:
        total = view.wins + view.ties + view.losses
        early = min(total, before.get(frozenset((view.system, view.opponent)), 0)) if half else None
        late = None if early is None else total - early
        pairs.append(PairPayload(**structs.asdict(view), early=early, late=late))
    return PairsPayload(
        systems=[row.system for row in snapshot.leaderboard.rows], pairs=pairs, half=half.judgments if half else None
    )


def _half(samples: Sequence[PairSample], judgments: int) -> PairSample | None:
    """Find the sample at half of the campaign, if there is one that is near."""
    near = [sample for sample in samples if 0.25 <= sample.judgments / max(1, judgments) <= 0.75]
    return min(near, key=lambda sample: abs(2 * sample.judgments - judgments), default=None)


def _met(sample: PairSample) -> dict[frozenset[str], int]:
    counts = iter(sample.met)
    names = sample.systems
    return {frozenset((names[i], other)): next(counts) for i in range(len(names)) for other in names[i + 1 :]}


def history(samples: Sequence[Sample], *, after: int = -1) -> HistoryPayload:
    """Lay samples out side by side."""
    kept = [sample for i, sample in enumerate(samples) if sample.sequence > after and _is_newer(samples, i)]
    systems = list(dict.fromkeys(system for sample in reversed(kept) for system in sample.rows))
    return HistoryPayload(systems=systems, samples=[point(sample, systems) for sample in kept])


def _is_newer(samples: Sequence[Sample], place: int) -> bool:
    return place == 0 or samples[place].sequence > samples[place - 1].sequence


def point(sample: Sample, systems: Sequence[str]) -> HistoryPoint:
    """Put a sample's values into the order of some systems."""
    rows = [sample.rows.get(system, (None, None, None)) for system in systems]
    return HistoryPoint(
        sequence=sample.sequence,
        judgments=sample.judgments,
        at=sample.at,
        scores=[row[0] for row in rows],
        deviations=[row[1] for row in rows],
        ranks=[row[2] for row in rows],
    )
