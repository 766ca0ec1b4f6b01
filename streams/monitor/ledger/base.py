"""What the monitors of one namespace share: histories of campaigns, leases of match requests, and sessions."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_SAMPLES = 400
MOST_PAIR_SAMPLES = 16
DAY_SECONDS = 86400.0
REMEMBERED_SECONDS = 30 * 86400.0  # after their last match, a judge may get a match again


class Sample(Struct, frozen=True, kw_only=True, gc=False):
    """A past leaderboard: score, deviation and rank of each system."""

    sequence: int
    judgments: int
    at: datetime
    rows: dict[str, tuple[float, float, int]]


class PairSample(Struct, frozen=True, kw_only=True, gc=False):
    """How often each two systems had met: the upper triangle, row by row, in the order of `systems`."""

    sequence: int
    judgments: int
    systems: tuple[str, ...]
    met: tuple[int, ...]


class Offer(NamedTuple):
    """A match request that may be leased. A judge never gets two requests with the same `match`."""

    request: str
    match: str


class MatchLease(NamedTuple):
    """A request that one judge holds for the given number of seconds."""

    request: str
    seconds: float


class Ledger(Protocol):
    """Stored in memory or in Redis. Both pass the same tests."""

    def add_sample(self, campaign: str, sample: Sample) -> bool:
        """Add a leaderboard to the history and return True, unless it is not newer or too near to the last one.

        If the history is too long, every other sample is dropped.
        """

    def samples(self, campaign: str) -> list[Sample]:
        """Return the history, oldest first."""

    def add_pair_sample(self, campaign: str, sample: PairSample) -> bool:
        """Add the counts of the pairs to their history, by the same rules."""

    def pair_samples(self, campaign: str) -> list[PairSample]:
        """Return the history of the pairs, oldest first."""

    def lease(
        self, campaign: str, offers: Sequence[Offer], *, judge: str, count: int, seconds: float
    ) -> list[MatchLease]:
        """Return the leases that a judge holds, and lease requests that are free and new to them, up to `count`."""

    def holders(self, campaign: str, requests: Sequence[str]) -> dict[str, str]:
        """Return the judge who holds each leased request. The judge is empty if the request was answered."""

    def release(self, campaign: str, request: str, *, judge: str, again: bool) -> bool:
        """End a lease, so that others may have the request at once. Return False if this judge does not hold it.

        The judge may get the same match `again`, or never.
        """

    def complete(self, campaign: str, request: str, *, seconds: float) -> None:
        """Record that a request was answered.

        It is not leased again for the given number of seconds, in which the answer is applied.
        """

    def remove(self, campaign: str) -> None:
        """Remove all that is kept about a campaign that was deleted."""

    def forget_judge(self, campaign: str, judge: str) -> None:
        """Forget which matches a judge got. A lease that they hold, and that they asked, expires by itself."""

    def seconds_left(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Return the remaining seconds of each leased request."""

    def begin_campaign(self, token: str, campaign: str, *, most: int) -> float:
        """Record that a token begins a campaign, and return 0.

        If it has begun `most` others within a day, return the seconds until it may begin one.
        """

    def add_session(self, session: str, token: str, *, seconds: float) -> None:
        """Keep a session and the token that opened it, both by their hash, for the given number of seconds."""

    def session_tokens(self, sessions: Sequence[str]) -> list[str | None]:
        """Return the token of each session. It is None for a session that has ended."""

    def end_session(self, session: str) -> None:
        """End a session."""

    def ask(self, campaign: str, *, judge: str, count: int, seconds: float, most: int) -> int:
        """Record that a judge asks for a number of matches, and return `asking`. At most `most` are counted."""

    def asking(self, campaign: str, *, seconds: float) -> int:
        """Return the number of matches that judges have asked for in the last seconds. Each judge counts once."""
