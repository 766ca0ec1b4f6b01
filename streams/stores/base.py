"""What every store promises: a batch is written whole, once, and only by the partition's present owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from streams.state import Commit, PartitionState, StoredCampaign


@dataclass(frozen=True)
class Lease:
    """The right to write a partition's campaigns, until somebody takes a greater epoch."""

    partition: str
    epoch: int


class Store(Protocol):
    """Where the state is kept; every implementation passes the same suite."""

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        """Take a partition over with a new epoch, which fences the former owner off."""

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Give a campaign's state and make the lease its writer; ForeignCampaign if another partition writes it."""

    def persist(self, lease: Lease, commit: Commit) -> None:
        """Write a batch whole or not at all: Fenced for a former owner, Conflict if the state is elsewhere.

        The same commit may be given again (a lost reply): it is written once.
        """
