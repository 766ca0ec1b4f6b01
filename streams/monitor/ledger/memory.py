"""The ledger of the embedded way, in this process's memory."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from streams.monitor.ledger.base import MOST_PAIR_SAMPLES, MOST_SAMPLES, Lease, PairSample, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.monitor.ledger.base import Offer

Kind = TypeVar("Kind", Sample, PairSample)


@dataclass
class _Series(Generic[Kind]):
    """Samples in order, thinned out as `note.lua` has it."""

    most: int
    samples: list[Kind] = field(default_factory=list)
    step: int = 1

    def note(self, sample: Kind) -> bool:
        if self.samples:
            last = self.samples[-1].sequence
            if sample.sequence < last // 2:  # the campaign was begun anew
                self.samples, self.step = [], 1
            elif sample.sequence < last + self.step:
                return False
        self.samples.append(sample)
        if len(self.samples) > self.most:
            self.samples = self.samples[::2]
            self.step = max(1, 2 * sample.sequence // self.most)
        return True


@dataclass
class _LedgerEntry:
    history: _Series[Sample] = field(default_factory=lambda: _Series(MOST_SAMPLES))
    pairs: _Series[PairSample] = field(default_factory=lambda: _Series(MOST_PAIR_SAMPLES))
    leases: dict[str, tuple[str, float]] = field(default_factory=dict)  # of a request: the judge, and until when
    held: dict[str, str] = field(default_factory=dict)  # by a judge: the request
    handed: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # to a judge: the matches


class MemoryLedger:
    """Keeps what it is given as long as the process lives; `clock` gives seconds, of which only differences matter."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._campaigns: defaultdict[str, _LedgerEntry] = defaultdict(_LedgerEntry)

    def note(self, campaign: str, sample: Sample) -> bool:
        """Keep a sample."""
        return self._campaigns[campaign].history.note(sample)

    def samples(self, campaign: str) -> list[Sample]:
        """Give the samples."""
        return list(self._campaigns[campaign].history.samples)

    def note_pairs(self, campaign: str, sample: PairSample) -> bool:
        """Keep the counts of the pairs."""
        return self._campaigns[campaign].pairs.note(sample)

    def pair_samples(self, campaign: str) -> list[PairSample]:
        """Give the counts of the pairs."""
        return list(self._campaigns[campaign].pairs.samples)

    def take(self, campaign: str, offers: Sequence[Offer], *, judge: str, seconds: float) -> Lease | None:
        """Lease a judge a request."""
        kept, now = self._current(campaign), self._clock()
        held = kept.held.get(judge)
        for request, _ in offers:
            if request == held and kept.leases.get(request, ("", 0.0))[0] == judge:
                return Lease(request, kept.leases[request][1] - now)
        for request, match in offers:
            if request not in kept.leases and match not in kept.handed[judge]:
                kept.leases[request] = (judge, now + seconds)
                kept.held[judge] = request
                kept.handed[judge].add(match)
                return Lease(request, seconds)
        return None

    def answered(self, campaign: str, request: str, *, judge: str, seconds: float) -> None:
        """Remember an answer that is on its way."""
        kept = self._current(campaign)
        kept.leases[request] = ("", self._clock() + seconds)
        if kept.held.get(judge) == request:
            del kept.held[judge]

    def leased(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Give the seconds that are left of the leases."""
        kept, now = self._current(campaign), self._clock()
        return {request: kept.leases[request][1] - now for request in requests if request in kept.leases}

    def _current(self, campaign: str) -> _LedgerEntry:
        """Find what is kept of a campaign, without the leases that have run out."""
        kept, now = self._campaigns[campaign], self._clock()
        kept.leases = {request: lease for request, lease in kept.leases.items() if lease[1] > now}
        return kept
