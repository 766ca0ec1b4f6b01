"""The interface of every store. A batch is written whole, once, and only by the partition's present owner."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from streams.core.campaign.state import decode_meta
from streams.errors import Conflict, ForeignCampaign, JudgestreamError, StoreCorrupt, StoreNewer, StoreUnavailable
from streams.stores.commit import PartitionState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from streams.core.campaign.state import CampaignChange, CampaignMeta, JudgeRow, StoredCampaign
    from streams.errors import Fenced
    from streams.stores.commit import Commit
    from streams.stores.gaps import Gap
    from streams.stores.workers import WorkerReport
    from streams.wire.outputs import Output

SEEN_SEARCHED = 10_000  # ids that `has_seen` looks at, so that it never takes long

# Fields of a partition's head besides its epoch and offset: the stored name, the name in a Commit, and the type.
HEAD_FIELDS: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("read", "read", int),
    ("rejected", "rejected", int),
    ("forwarded", "forwarded", int),
    ("missing", "missing", int),
    ("empty", "empty", int),
    ("rejected_in_a_row", "rejected_in_a_row", int),
    ("rejected_share", "rejected_share", float),
    ("mark", "last_record_fingerprint", str),
)


@dataclass(frozen=True)
class Lease:
    """The right to write a partition's campaigns. It ends when the partition is opened with a greater epoch."""

    partition: str
    epoch: int


@dataclass(frozen=True, kw_only=True)
class StagedCampaign:
    """A campaign that is being rated again, as it is stored beside the live one: all records before `position`."""

    state: StoredCampaign
    step: int  # how often it was written, from 0
    position: int


@dataclass(frozen=True, kw_only=True)
class CampaignSummary:
    """What is stored of a campaign besides its tables. The store has it at `offset`."""

    meta: CampaignMeta
    outbox: tuple[Output, ...]
    offset: int


class Store(Protocol):
    """Where the state is stored. Every implementation passes the same conformance suite."""

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        """Take a partition over with a new epoch. The former owner can't write from then on.

        If the list of its campaigns is lost, the partition begins at offset 0 again. The new epoch is later than those
        of the listed campaigns. If another campaign turns out to be in a later epoch, `load` raises Conflict, and the
        next epoch is later than that.
        """

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Return a campaign's state and make the lease its writer.

        Return None if there is no such campaign. A state that is lost, not complete or older than its partition knows
        has a `problem`. Raise ForeignCampaign if another partition writes it.
        """

    def survey(self, lease: Lease, campaigns: Iterable[str]) -> Iterator[tuple[str, CampaignSummary | None]]:
        """Make the lease the writer of campaigns, and yield a summary of each.

        There is none of a campaign that can't be claimed, or that has a problem. `load` says why.
        """

    def persist(self, lease: Lease, commit: Commit) -> None:
        """Write all changes of a batch, or none.

        Raise Fenced for a former owner, and Conflict if the stored state is at another offset. If the reply to a
        commit was lost, the same commit may be given again: it is written once.
        """

    def amend(self, lease: Lease, change: CampaignChange) -> None:
        """Write a change of one campaign that no record has made. It stays at its offset, and so does its partition.

        Raise Fenced if a new owner has claimed the campaign, and Conflict if it is at another offset. The same change
        may be given again.
        """

    def persist_all(self, commits: Sequence[tuple[Lease, Commit]]) -> list[JudgestreamError | None]:
        """Write batches of several partitions, each as `persist` does. Return the error of each that was not written.

        One that is refused does not hold up the others. Raise StoreUnavailable if the store does not answer: some may
        have been written then, and the same call may be repeated.
        """

    # -- gaps in the log -------------------------------------------------------------------------------

    def report_gap(self, lease: Lease, start: int, end: int) -> Gap:
        """Write down that records were deleted before they were read, and return the gap as it is stored.

        It takes the place of another gap with the same start: more records were deleted meanwhile. Raise Fenced for a
        former owner.
        """

    def accept_gap(self, partition: str, start: int, end: int) -> bool:
        """Write down an operator's word that the partition goes on without these records.

        Return False if no such gap was reported.
        """

    def read_gaps(self, partition: str) -> list[Gap]:
        """Return the gaps that were accepted, and the one at which the partition is stopped, by their start."""

    def verify(self, lease: Lease, offset: int, campaigns: Mapping[str, int]) -> None:
        """Raise Conflict if the partition or one of these campaigns is not at its offset, or not complete."""

    # -- outputs that come late ------------------------------------------------------------------------

    def check_lease(self, lease: Lease) -> None:
        """Raise Fenced if the partition has a new owner."""

    def check_leases(self, leases: Sequence[Lease]) -> list[Fenced | None]:
        """Return the error of each lease whose partition has a new owner."""

    def report_late(self, partition: str) -> None:
        """Write down that a former owner has emitted outputs of a partition after it had lost it."""

    def read_late(self, partition: str) -> str:
        """Return a word that is new with each report of late outputs, or nothing if there is none to deal with."""

    def clear_late(self, partition: str, report: str) -> None:
        """Remove a report of late outputs, unless there is a newer one."""

    # -- a campaign that is rated again, beside its live state ---------------------------------------------

    def stage(self, lease: Lease, change: CampaignChange, *, position: int) -> None:
        """Write a change beside the live state of a campaign. What an interruption leaves of it is of no use.

        The offsets of the change are steps: -1 before the first write, then 0, 1 and so on. The first one, and any that
        is `whole`, first removes what was staged. Raise Fenced for a former owner, and Conflict if another step is
        staged. The same change may be given again.
        """

    def read_staged(self, lease: Lease, campaign: str) -> StagedCampaign | None:
        """Return what is staged of a campaign and make the lease its writer. Return None if that is of no use."""

    def swap_staged(self, lease: Lease, campaign: str, *, offset: int) -> None:
        """Swap what is staged in for the live state, in one atomic call. The campaign is at `offset` then.

        Raise Fenced for a former owner, and Conflict if the lease has staged nothing.
        """

    def drop_staged(self, lease: Lease, campaign: str) -> None:
        """Remove what is staged of a campaign."""

    def remove(self, lease: Lease, campaign: str) -> None:
        """Remove a campaign of which the log has no record, also what is staged of it."""

    # -- who works -----------------------------------------------------------------------------------------

    def report_worker(self, report: WorkerReport) -> None:
        """Replace the report of a worker. It is forgotten by itself after half a minute."""

    def remove_worker(self, worker: str) -> None:
        """Remove the report of a worker that stops in order."""

    def read_workers(self) -> list[WorkerReport]:
        """Return the reports that are not forgotten, by worker. The store's clock gives their ages."""

    # -- reading without taking anything over ----------------------------------------------------------

    def read(self, campaign: str, *, with_seen: bool = True) -> StoredCampaign | None:
        """Return a campaign's state as of one moment, or None. Only a writer needs the ids seen, which are many.

        A large campaign that changes meanwhile: with the ids seen, raise Conflict. Without them, the systems are of one
        moment, and rows of judges, segments, pairs and cells may be a little older.
        """

    def read_meta(self, campaign: str) -> CampaignMeta | None:
        """Return a campaign's state except its tables, in one small read, or None.

        It holds the campaign's status, its counts, its clock and the outstanding match requests as they were sent.
        """

    def read_judge(self, campaign: str, judge: str) -> JudgeRow | None:
        """Return the row of one judge, by pseudonym, in one small read, or None."""

    def has_seen(self, campaign: str, event: str) -> bool:
        """Return whether an id is among the last ids that a campaign has seen, 10,000 at most."""

    def read_head(self, campaign: str) -> dict[str, str]:
        """Return the epoch, partition and offset of a campaign. The result is empty if there is no such campaign."""

    def read_partition(self, partition: str) -> dict[str, str]:
        """Return the epoch, offset and counts of a partition. The result is empty if it was never opened."""

    def list_campaigns(self, partitions: Iterable[str]) -> list[str]:
        """Return the campaigns of some partitions, sorted."""

    def find_problems(self, partition: str) -> dict[str, str]:
        """Return the campaigns whose state is lost, not complete or older than the partition knows, and why."""


def persist_each(store: Store, commits: Sequence[tuple[Lease, Commit]]) -> list[JudgestreamError | None]:
    """Write batches one after the other. It can be the method `persist_all` of a store."""
    errors: list[JudgestreamError | None] = []
    for lease, commit in commits:
        try:
            store.persist(lease, commit)
            errors.append(None)
        except StoreUnavailable:
            raise
        except JudgestreamError as error:
            errors.append(error)
    return errors


def summarize(campaign: str, stored: StoredCampaign | None) -> CampaignSummary | None:
    """Return the summary of a stored campaign, or None if it has a problem."""
    if stored is not None and stored.problem is None:
        with suppress(StoreCorrupt, StoreNewer):
            meta = decode_meta(campaign, stored.meta)
            return CampaignSummary(meta=meta, outbox=stored.outbox, offset=stored.offset)
    return None


def survey_by_loading(
    store: Store, lease: Lease, campaigns: Iterable[str]
) -> Iterator[tuple[str, CampaignSummary | None]]:
    """Survey campaigns of a store from which it is cheap to load. It can be a method of the store."""
    for name in campaigns:
        found = None
        with suppress(ForeignCampaign, Conflict):
            found = summarize(name, store.load(lease, name))
        yield name, found


def encode_head(commit: Commit) -> dict[str, str]:
    """Return the fields of a partition's head after a batch."""
    return {stored: str(getattr(commit, name)) for stored, name, _ in HEAD_FIELDS}


def decode_head(head: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that are stored in a partition's head, as a Commit and a PartitionState name them."""
    return {name: kind(head[stored]) for stored, name, kind in HEAD_FIELDS if stored in head}


def partition_state(head: Mapping[str, str], **more: Any) -> PartitionState:
    """Return the state of a partition from its head.

    Earlier versions did not count the offsets without a record.
    """
    offset, fields = int(head.get("offset", 0)), decode_head(head)
    fields.setdefault("empty", offset - fields.get("read", 0) - fields.get("missing", 0))
    return PartitionState(next_offset=offset, **fields, **more)
