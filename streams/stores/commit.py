"""What a store writes for one batch, and what it returns to a partition's new owner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.campaign.state import CampaignChange
    from streams.wire.outputs import Output

MOST_ROWS = 3_000  # that one write should have, so that others soon get answers; Redis takes 3 to 6 ms for them


class Outcomes(NamedTuple):
    """Numbers of records. Every one that was read is applied, a duplicate, rejected, held, or forwarded.

    Of a campaign that was deleted only the number of its records is known. They are `deleted`.

    Of the other offsets, `missing` were deleted from the log before they were read, and `empty` never had a record that
    counts: they are markers of transactions, or records of transactions that were aborted.
    """

    read: int = 0
    applied: int = 0
    duplicate: int = 0
    rejected: int = 0
    held: int = 0
    forwarded: int = 0  # to the partition of their campaign
    missing: int = 0
    empty: int = 0
    deleted: int = 0


@dataclass(frozen=True, kw_only=True)
class PartitionState:
    """The stored state of a partition, for its new owner."""

    next_offset: int = 0
    read: int = 0
    rejected: int = 0
    forwarded: int = 0
    missing: int = 0
    empty: int = 0
    rejected_in_a_row: int = 0
    rejected_share: float = 0.0
    last_record_fingerprint: str = ""
    campaigns: tuple[str, ...] = ()
    outbox: tuple[Output, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Commit:
    """All changes that one batch of a partition makes. They are persisted together or not at all.

    `read` is the number of records of the partition so far, `rejected` the number of those that belong to no campaign,
    and `forwarded` the number of those that belong to another partition. `missing` and `empty` are the numbers of
    offsets without a record, so that `after` is the sum of `read`, `missing` and `empty`. `rejected_in_a_row` and
    `rejected_share` count the undecodable ones of the most recent records. `outcomes` and `reasons` describe this batch
    alone: they are for metrics, and are not stored.
    """

    before: int
    after: int
    read: int
    rejected: int
    forwarded: int = 0
    missing: int = 0
    empty: int = 0
    rejected_in_a_row: int = 0
    rejected_share: float = 0.0
    last_record_fingerprint: str = ""
    campaigns: tuple[CampaignChange, ...]
    outbox: tuple[Output, ...]
    outcomes: Outcomes = field(default_factory=Outcomes)
    reasons: Mapping[str, int] = field(default_factory=dict)  # number of rejections by reason

    @property
    def rows(self) -> int:
        """Return how many rows of campaigns are written."""
        return sum(change.rows for change in self.campaigns)

    @property
    def most_rows(self) -> int:
        """Return how many rows of one campaign are written, at most."""
        return max((change.rows for change in self.campaigns), default=0)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Return everything that is to be emitted once this is persisted."""
        return (*self.outbox, *(output for change in self.campaigns for output in change.outbox))
