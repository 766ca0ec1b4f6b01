"""What every store promises: a batch is written whole, once, and only by the partition's present owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from streams.stores.commit import PartitionState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    # What the head of a partition holds besides its epoch and its offset, as a Commit and a PartitionState name it.
    from streams.core.campaign.state import CampaignMeta, StoredCampaign
    from streams.stores.commit import Commit

# Fields of a partition's head besides its epoch and offset: the stored name, the name in a Commit, and the type.
HEAD_FIELDS: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("read", "read", int),
    ("rejected", "rejected", int),
    ("rejected_in_a_row", "rejected_in_a_row", int),
    ("rejected_share", "rejected_share", float),
    ("mark", "last_record_fingerprint", str),
)


@dataclass(frozen=True)
class Lease:
    """The right to write a partition's campaigns, until somebody takes a greater epoch."""

    partition: str
    epoch: int


class Contents(NamedTuple):
    """All that is kept of a campaign, as of one moment."""

    stored: StoredCampaign
    scores: dict[str, float]  # of its systems, without those withdrawn


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

    # -- looking, which takes nothing over -------------------------------------------------------------

    def partition(self, partition: str) -> dict[str, str]:
        """Give the head of a partition as it stands: epoch, offset and counts; nothing if nobody opened it."""

    def campaigns(self, partitions: Iterable[str]) -> list[str]:
        """List the campaigns of some partitions, in order."""

    def peek(self, campaign: str) -> StoredCampaign | None:
        """Give a campaign's state."""

    def outline(self, campaign: str) -> StoredCampaign | None:
        """Give a campaign's state to look at, without the ids seen, which only a writer needs and which are many."""

    def read_meta(self, campaign: str) -> CampaignMeta | None:
        """Return what is stored of a campaign besides its tables, in one small read: None if there is no campaign.

        It holds the campaign's status, its counts, its clock and the outstanding match requests as they were sent.
        """

    def head(self, campaign: str) -> dict[str, str]:
        """Give the head of a campaign: epoch, partition and offset; nothing if there is none."""

    def contents(self, campaign: str) -> Contents | None:
        """Give a campaign's state with its scores."""


def encode_head(commit: Commit) -> dict[str, str]:
    """Return the fields of a partition's head after a batch."""
    return {stored: str(getattr(commit, name)) for stored, name, _ in HEAD_FIELDS}


def decode_head(head: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that are stored in a partition's head, as a Commit and a PartitionState name them."""
    return {name: kind(head[stored]) for stored, name, kind in HEAD_FIELDS if stored in head}


def partition_state(head: Mapping[str, str], **more: Any) -> PartitionState:
    """Return the state of a partition from its head."""
    return PartitionState(next_offset=int(head.get("offset", 0)), **decode_head(head), **more)
