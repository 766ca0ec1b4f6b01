"""The ledger without Redis, in the memory of this process."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from streams.monitor.ledger.base import DAY_SECONDS, MOST_PAIR_SAMPLES, MOST_SAMPLES, MatchLease, PairSample, Sample
from streams.reports.thinning import ThinnedSeries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.monitor.ledger.base import Offer

AnySample = TypeVar("AnySample", Sample, PairSample)


class _Lease(NamedTuple):
    judge: str  # empty: the request was answered
    match: str
    expires: float


@dataclass
class _LedgerEntry:
    """All that is kept about one campaign."""

    history: ThinnedSeries[Sample] = field(default_factory=lambda: ThinnedSeries(MOST_SAMPLES))
    pairs: ThinnedSeries[PairSample] = field(default_factory=lambda: ThinnedSeries(MOST_PAIR_SAMPLES))
    leases: dict[str, _Lease] = field(default_factory=dict)  # by request
    handed: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # judge -> matches
    asked: dict[tuple[str, int], float] = field(default_factory=dict)  # judge and number -> time, the oldest first


class MemoryLedger:
    """Keeps everything as long as the process runs. `clock` returns seconds; only differences matter."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._campaigns: defaultdict[str, _LedgerEntry] = defaultdict(_LedgerEntry)
        self._begun: dict[str, tuple[set[str], float]] = {}  # token -> campaigns, end of the day
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

    def lease(
        self, campaign: str, offers: Sequence[Offer], *, judge: str, count: int, seconds: float
    ) -> list[MatchLease]:
        """Lease requests to a judge."""
        entry, now = self._current(campaign), self._clock()
        found = [
            MatchLease(offer.request, lease.expires - now)
            for offer in offers
            if (lease := entry.leases.get(offer.request)) is not None
            and (lease.judge, lease.match) == (judge, offer.match)
        ][:count]
        for offer in offers:
            if len(found) < count and offer.request not in entry.leases and offer.match not in entry.handed[judge]:
                entry.leases[offer.request] = _Lease(judge, offer.match, now + seconds)
                entry.handed[judge].add(offer.match)
                found.append(MatchLease(offer.request, seconds))
        return found

    def holders(self, campaign: str, requests: Sequence[str]) -> dict[str, str]:
        """Return the judge who holds each leased request."""
        leases = self._current(campaign).leases
        return {request: leases[request].judge for request in requests if request in leases}

    def release(self, campaign: str, request: str, *, judge: str, again: bool) -> bool:
        """End a lease."""
        entry = self._current(campaign)
        lease = entry.leases.get(request)
        if lease is None or lease.judge != judge:
            return False
        del entry.leases[request]
        if again:
            entry.handed[judge].discard(lease.match)
        return True

    def complete(self, campaign: str, request: str, *, seconds: float) -> None:
        """Record that a request was answered."""
        self._current(campaign).leases[request] = _Lease("", "", self._clock() + seconds)

    def remove(self, campaign: str) -> None:
        """Remove all that is kept about a campaign."""
        self._campaigns.pop(campaign, None)

    def forget_judge(self, campaign: str, judge: str) -> None:
        """Forget which matches a judge got."""
        self._campaigns[campaign].handed.pop(judge, None)

    def seconds_left(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Return the remaining seconds of each leased request."""
        entry, now = self._current(campaign), self._clock()
        return {request: entry.leases[request].expires - now for request in requests if request in entry.leases}

    def ask(self, campaign: str, *, judge: str, count: int, seconds: float, most: int) -> int:
        """Record that a judge asks for a number of matches."""
        asked = self._campaigns[campaign].asked
        for number in range(count):
            asked.pop((judge, number), None)  # so that it moves to the end
            asked[judge, number] = self._clock()
        for oldest in list(asked)[: max(0, len(asked) - most)]:
            del asked[oldest]
        return self.asking(campaign, seconds=seconds)

    def asking(self, campaign: str, *, seconds: float) -> int:
        """Return the number of matches that judges have asked for in the last seconds."""
        entry, now = self._campaigns[campaign], self._clock()
        entry.asked = {key: at for key, at in entry.asked.items() if at > now - seconds}
        return len(entry.asked)

    def begin_campaign(self, token: str, campaign: str, *, most: int) -> float:
        """Record that a token begins a campaign."""
        now = self._clock()
        begun, end = self._begun.get(token, (set(), 0.0))
        if end <= now:
            begun, end = set(), now + DAY_SECONDS
        if campaign not in begun and len(begun) >= most:
            return end - now
        self._begun[token] = (begun | {campaign}, end)
        return 0.0

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
        entry.leases = {request: lease for request, lease in entry.leases.items() if lease.expires > now}
        return entry


def _add(series: ThinnedSeries[AnySample], sample: AnySample) -> bool:
    """Add a sample as `add_sample.lua` does."""
    if sample.sequence < series.last // 2:  # the campaign was started again
        series.clear()
    return series.add(sample.sequence, sample)
