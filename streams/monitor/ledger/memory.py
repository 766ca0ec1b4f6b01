"""The ledger without Redis, in the memory of this process."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from streams.monitor.ledger.base import MOST_PAIR_SAMPLES, MOST_SAMPLES, MatchLease, PairSample, Sample
from streams.reports.thinning import ThinnedSeries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.monitor.ledger.base import Offer

AnySample = TypeVar("AnySample", Sample, PairSample)


@dataclass
class _LedgerEntry:
    """All that is kept about one campaign."""

    history: ThinnedSeries[Sample] = field(default_factory=lambda: ThinnedSeries(MOST_SAMPLES))
    pairs: ThinnedSeries[PairSample] = field(default_factory=lambda: ThinnedSeries(MOST_PAIR_SAMPLES))
    leases: dict[str, tuple[str, float]] = field(default_factory=dict)  # request -> judge, expiry
    held: dict[str, str] = field(default_factory=dict)  # judge -> request
    handed: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # judge -> matches


class MemoryLedger:
    """Keeps everything as long as the process runs. `clock` returns seconds; only differences matter."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._campaigns: defaultdict[str, _LedgerEntry] = defaultdict(_LedgerEntry)
        self._sessions: dict[str, tuple[str, float]] = {}  # session -> token, expiry

    def add_sample(self, campaign: str, sample: Sample) -> bool:
        """Add a leaderboard to the history."""
        return _add(self._campaigns[campaign].history, sample)

    def samples(self, campaign: str) -> list[Sample]:
        """Return the history."""
        return list(self._campaigns[campaign].history.items)

    def add_pair_sample(self, campaign: str, sample: PairSample) -> bool:
        """Add the counts of the pairs to their history."""
        return _add(self._campaigns[campaign].pairs, sample)

    def pair_samples(self, campaign: str) -> list[PairSample]:
        """Return the history of the pairs."""
        return list(self._campaigns[campaign].pairs.items)

    def lease(self, campaign: str, offers: Sequence[Offer], *, judge: str, seconds: float) -> MatchLease | None:
        """Lease a request to a judge."""
        entry, now = self._current(campaign), self._clock()
        held = entry.held.get(judge)
        for offer in offers:
            if offer.request == held and entry.leases.get(held, ("", 0.0))[0] == judge:
                return MatchLease(held, entry.leases[held][1] - now)
        for offer in offers:
            if offer.request not in entry.leases and offer.match not in entry.handed[judge]:
                entry.leases[offer.request] = (judge, now + seconds)
                entry.held[judge] = offer.request
                entry.handed[judge].add(offer.match)
                return MatchLease(offer.request, seconds)
        return None

    def complete(self, campaign: str, request: str, *, judge: str, seconds: float) -> None:
        """Record that a judge has answered a request."""
        entry = self._current(campaign)
        entry.leases[request] = ("", self._clock() + seconds)
        if entry.held.get(judge) == request:
            del entry.held[judge]

    def forget_judge(self, campaign: str, judge: str) -> None:
        """Forget what a judge holds and which matches they got."""
        entry = self._campaigns[campaign]
        entry.held.pop(judge, None)
        entry.handed.pop(judge, None)

    def seconds_left(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Return the remaining seconds of each leased request."""
        entry, now = self._current(campaign), self._clock()
        return {request: entry.leases[request][1] - now for request in requests if request in entry.leases}

    def add_session(self, session: str, token: str, *, seconds: float) -> None:
        """Keep a session."""
        now = self._clock()
        self._sessions = {key: value for key, value in self._sessions.items() if value[1] > now}
        self._sessions[session] = (token, now + seconds)

    def session_tokens(self, sessions: Sequence[str]) -> list[str | None]:
        """Return the token of each session."""
        now, ended = self._clock(), ("", 0.0)
        return [token if until > now else None for token, until in (self._sessions.get(key, ended) for key in sessions)]

    def end_session(self, session: str) -> None:
        """End a session."""
        self._sessions.pop(session, None)

    def _current(self, campaign: str) -> _LedgerEntry:
        """Return the entry of a campaign, without expired leases."""
        entry, now = self._campaigns[campaign], self._clock()
        entry.leases = {request: lease for request, lease in entry.leases.items() if lease[1] > now}
        return entry


def _add(series: ThinnedSeries[AnySample], sample: AnySample) -> bool:
    """Add a sample as `add_sample.lua` does."""
    if sample.sequence < series.last // 2:  # the campaign was started again
        series.clear()
    return series.add(sample.sequence, sample)
