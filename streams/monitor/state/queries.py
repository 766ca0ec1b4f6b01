"""What can be read, made from what the monitor knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from streams.monitor.state.payloads import (
    CampaignAnswer,
    Campaigns,
    HistoryAnswer,
    Judges,
    PairAnswer,
    Pairs,
    Point,
    Ratings,
    RejectionsAnswer,
    RequestAnswer,
    Requests,
    Segments,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.ledger.base import PairSample, Sample
    from streams.monitor.state.monitor import Monitor
    from streams.monitor.state.snapshot import Look
    from streams.reports.views import SegmentView
    from streams.wire.events import Leaderboard

    Order = Literal["information", "judgments"]

MOST_LEASES_SHOWN = 500


class Reads:
    """The answers, made from what the monitor knows."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    async def campaigns(self) -> Campaigns:
        """List the campaigns."""
        return Campaigns(campaigns=await self._monitor.overviews())

    async def campaign(self, name: str) -> CampaignAnswer:
        """Give one."""
        look = await self._monitor.look(name)
        summed = (await self._monitor.watched(name)).overview(self._monitor.now())
        return CampaignAnswer(**structs.asdict(summed), settings=look.settings)

    async def leaderboard(self, name: str) -> Leaderboard:
        """Give the newest leaderboard, be it from the log or from the store."""
        await self._monitor.look(name)
        return (await self._monitor.watched(name)).board

    async def ratings(self, name: str) -> Ratings:
        """Give the ratings."""
        look = await self._monitor.look(name)
        return Ratings(ratings=await self._monitor.backend.run(lambda: look.ratings))

    async def judges(self, name: str) -> Judges:
        """Give the judges."""
        look = await self._monitor.look(name)
        return Judges(judges=await self._monitor.backend.run(lambda: look.judges))

    async def segments(self, name: str, *, order: Order, limit: int) -> Segments:
        """Give the segments that tell most, or were judged most often."""
        look = await self._monitor.look(name)
        found = await self._monitor.backend.run(lambda: look.segments)

        def worth(view: SegmentView) -> float:
            return float(view.judgments) if order == "judgments" else view.information or 0.0

        return Segments(segments=sorted(found, key=worth, reverse=True)[:limit], total=len(found))

    async def pairs(self, name: str) -> Pairs:
        """Give the pairs."""
        look = await self._monitor.look(name)
        backend = self._monitor.backend
        return await backend.run(lambda: _pairs(look, backend.ledger.pair_samples(name)))

    async def history(self, name: str, *, after: int) -> HistoryAnswer:
        """Give the samples after a sequence; the present one comes last, whether it will be kept or not."""
        await self._monitor.look(name)
        watched = await self._monitor.watched(name)
        backend = self._monitor.backend
        present = self._monitor.sample_now(watched)
        return await backend.run(lambda: history([*backend.ledger.samples(name), present], after=after))

    async def requests(self, name: str) -> Requests:
        """Give the match requests that are out."""
        look = await self._monitor.look(name)
        found = self._monitor.outputs(name).requests(look)
        ids = [request.id for request in found[:MOST_LEASES_SHOWN]]
        left = await self._monitor.backend.run(self._monitor.backend.ledger.leased, name, ids)
        now = datetime.now(UTC)
        until = {request: now + timedelta(seconds=seconds) for request, seconds in left.items()}
        return Requests(
            requests=[RequestAnswer(**structs.asdict(request), leased_until=until.get(request.id)) for request in found]
        )

    async def rejections(self, name: str, *, limit: int) -> RejectionsAnswer:
        """Give the rejections."""
        look = await self._monitor.look(name)
        found = self._monitor.outputs(name).rejections
        return RejectionsAnswer(
            total=max(found.total, look.view.rejected),
            reasons=dict(found.reasons.most_common()),
            latest=list(found.latest)[:limit],
        )


def _pairs(look: Look, samples: Sequence[PairSample]) -> Pairs:
    half = _half(samples, look.leaderboard.judgments)
    before = _met(half) if half else {}
    pairs = []
    for view in look.pairs:
        total = view.wins + view.ties + view.losses
        early = min(total, before.get(frozenset((view.system, view.opponent)), 0)) if half else None
        late = None if early is None else total - early
        pairs.append(PairAnswer(**structs.asdict(view), early=early, late=late))
    return Pairs(
        systems=[row.system for row in look.leaderboard.rows], pairs=pairs, half=half.judgments if half else None
    )


def _half(samples: Sequence[PairSample], judgments: int) -> PairSample | None:
    """Find the sample at half of the campaign, if there is one that is near."""
    near = [sample for sample in samples if 0.25 <= sample.judgments / max(1, judgments) <= 0.75]
    return min(near, key=lambda sample: abs(2 * sample.judgments - judgments), default=None)


def _met(sample: PairSample) -> dict[frozenset[str], int]:
    counts = iter(sample.met)
    names = sample.systems
    return {frozenset((names[i], other)): next(counts) for i in range(len(names)) for other in names[i + 1 :]}


def history(samples: Sequence[Sample], *, after: int = -1) -> HistoryAnswer:
    """Lay samples out side by side."""
    kept = [sample for i, sample in enumerate(samples) if sample.sequence > after and _is_newer(samples, i)]
    systems = list(dict.fromkeys(system for sample in reversed(kept) for system in sample.rows))
    return HistoryAnswer(systems=systems, samples=[point(sample, systems) for sample in kept])


def _is_newer(samples: Sequence[Sample], place: int) -> bool:
    return place == 0 or samples[place].sequence > samples[place - 1].sequence


def point(sample: Sample, systems: Sequence[str]) -> Point:
    """Put a sample's values into the order of some systems."""
    rows = [sample.rows.get(system, (None, None, None)) for system in systems]
    return Point(
        sequence=sample.sequence,
        judgments=sample.judgments,
        at=sample.at,
        scores=[row[0] for row in rows],
        deviations=[row[1] for row in rows],
        ranks=[row[2] for row in rows],
    )
