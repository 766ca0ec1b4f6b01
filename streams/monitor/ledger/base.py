"""What the monitors of one namespace share besides the state: a campaign's history, and who has which match request."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_SAMPLES = 400
MOST_PAIR_SAMPLES = 16
REMEMBERED_SECONDS = 30 * 86400.0  # for so long after the last match a judge is not given the same one again


class Sample(Struct, frozen=True, kw_only=True, gc=False):
    """One leaderboard of the past: of each system the score, the deviation and the rank."""

    sequence: int
    judgments: int
    at: datetime
    rows: dict[str, tuple[float, float, int]]


class PairSample(Struct, frozen=True, kw_only=True, gc=False):
    """How often each two systems had met by then, row after row of the upper triangle in the order of `systems`."""

    sequence: int
    judgments: int
    systems: tuple[str, ...]
    met: tuple[int, ...]


class Offer(NamedTuple):
    """A match request that may be handed out; a judge gets no two of the same `match`."""

    request: str
    match: str


class Lease(NamedTuple):
    """A request that a judge has, for so many seconds more."""

    request: str
    seconds: float


class Ledger(Protocol):
    """Kept in memory or in Redis; both pass the same suite."""

    def note(self, campaign: str, sample: Sample) -> bool:
        """Keep a sample, unless it is not newer or too near; of too many every other one goes. Say whether it was."""

    def samples(self, campaign: str) -> list[Sample]:
        """Give the samples, the oldest first."""

    def note_pairs(self, campaign: str, sample: PairSample) -> bool:
        """Keep the counts of the pairs, in the same way."""

    def pair_samples(self, campaign: str) -> list[PairSample]:
        """Give the counts of the pairs, the oldest first."""

    def take(self, campaign: str, offers: Sequence[Offer], *, judge: str, seconds: float) -> Lease | None:
        """Lease a judge the request that they have already, or else the first that is free and new to them."""

    def answered(self, campaign: str, request: str, *, judge: str, seconds: float) -> None:
        """Remember an answer that is on its way: the judge is free, and nobody else is asked for so long."""

    def leased(self, campaign: str, requests: Sequence[str]) -> dict[str, float]:
        """Give the seconds that are left of the leases on some requests."""
