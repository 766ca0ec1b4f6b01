"""The walk of one batch: decode ▶ dedupe ▶ rate ▶ persist ▶ emit, the same for every log and every store.

1. **Source** hands over raw records of one partition, in order.
2. **Decode**: bytes become events, or a Rejection. An event of another partition's campaign is forwarded there.
3. **Dedupe**: an offset that the campaign has applied is skipped; so is a judgment id that it has seen.
4. **Rate**: `Campaign.apply`, pure, on arrays. A fault in its code quarantines that campaign alone.
5. **Persist**: one atomic call, refused if another worker has taken the partition over.
6. **Emit**: what the batch brought about, with ids derived from its place in the log.

After step 5 the source's offset may be committed: the next owner emits again what may not have been emitted. Steps 3
and 4 are in `streams.core.campaign.campaign`, and `streams.pipeline.campaign_batches` says what a fault does.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from streams.errors import Fenced, RecordError
from streams.pipeline.campaign_batches import CampaignBatches
from streams.pipeline.decoding import decode_records, scan_records
from streams.pipeline.partition_boards import PartitionBoards
from streams.pipeline.partition_campaigns import PartitionCampaigns
from streams.pipeline.partition_requests import PartitionRequests
from streams.pipeline.record import RecordBlock, record_fingerprint
from streams.pipeline.reruns import PartitionReruns
from streams.pipeline.routing import Router
from streams.pipeline.undecodable_limits import Tally
from streams.stores.commit import Commit, Outcomes
from streams.wire.scanner import Scanner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.quarantined import QuarantinedCampaign
    from streams.core.campaign.state import CampaignChange, CampaignMeta
    from streams.pipeline.campaign_batches import ReadLog
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.pipeline.routing import Copies
    from streams.stores import Lease, Store
    from streams.stores.commit import PartitionState
    from streams.wire.outputs import Output


class Processor:
    """The only writer of the campaigns of one partition, until another one opens the partition."""

    def __init__(
        self,
        topic: str,
        partition: int,
        store: Store,
        options: ProcessorOptions,
        *,
        lease: Lease,
        state: PartitionState,
        campaigns: PartitionCampaigns,
        read_log: ReadLog | None,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.next_offset = self.persisted_offset = state.next_offset
        self.last_record_fingerprint = state.last_record_fingerprint
        self.store = store
        self._options = options
        self.lease = lease
        self._campaigns = campaigns
        self.boards = PartitionBoards(campaigns, origin=lease.partition)
        self._batches = CampaignBatches(campaigns, options, origin=lease.partition, read_log=read_log)
        self._read_log = read_log
        self.requests = PartitionRequests(campaigns, store, lease, origin=lease.partition)
        self.reruns = PartitionReruns(topic, partition, store, options, lease=lease, campaigns=campaigns)
        self._router = Router(topic, partition, campaigns, pseudonyms=options.campaign.pseudonyms)
        self._scanner = Scanner()
        self._read, self._rejected, self._forwarded = state.read, state.rejected, state.forwarded
        self._missing, self._empty = state.missing, state.empty
        self._tally = Tally(state.rejected_in_a_row, state.rejected_share)

    @classmethod
    def open(
        cls,
        topic: str,
        partition: int,
        store: Store,
        options: ProcessorOptions,
        *,
        read_log: ReadLog | None = None,
    ) -> tuple[Processor, tuple[Output, ...]]:
        """Take a partition over with a new epoch, and load its state.

        Return the processor, and the outputs that the former owner may not have emitted.
        """
        lease, state = store.open(f"{topic}/{partition}")
        campaigns = PartitionCampaigns(topic, partition, store, options, lease=lease)
        outputs = (*state.outbox, *campaigns.open(state.campaigns))
        processor = cls(
            topic, partition, store, options, lease=lease, state=state, campaigns=campaigns, read_log=read_log
        )
        return processor, outputs

    def recall_copies(self, copies: Copies) -> None:
        """Learn from the log where campaigns live and what was forwarded, before it is read from its beginning."""
        self._router.copies = copies
        self._campaigns.homes = copies.homes

    @property
    def campaigns(self) -> dict[str, Campaign]:
        """The campaigns in memory that are rated, by name."""
        return self._campaigns.rated

    @property
    def campaign_names(self) -> list[str]:
        """The names of all campaigns of the partition: rated, in quarantine, or at rest in the store."""
        return self._campaigns.names()

    @property
    def quarantined(self) -> dict[str, QuarantinedCampaign]:
        """The campaigns that are not rated now, by name."""
        return self._campaigns.quarantined

    def prepare(self, records: Sequence[Record] | RecordBlock) -> Commit:
        """Decode, dedupe and rate the next records. Nothing is written yet.

        The caller knows that no record between the last one and these was deleted. An offset without one is empty.
        """
        fresh = RecordBlock.of(records).since(self.next_offset)
        max_bytes = self._options.max_record_bytes
        without_campaign: dict[int, RecordError] = {}  # rejections that belong to no campaign
        scanned = scan_records(fresh, self._scanner, max_bytes=max_bytes)
        decoded = decode_records(fresh, without_campaign, max_bytes=max_bytes, scanned=scanned)
        tally = self._tally
        if without_campaign or any(tally):
            tally = tally.after(map(without_campaign.get, fresh), self._options.limits)
        routed = self._router.route(decoded, fresh, scanned=scanned)
        self._tally = tally  # from here on no server is asked, so the call is not repeated
        without_campaign |= routed.rejections
        self._rejected += len(without_campaign)
        self._forwarded += routed.forwarded
        rejections, changes, applied, duplicates, held = dict(without_campaign), [], 0, 0, 0
        for name, (offsets, events) in routed.mine.items():
            result, change = self._batches.apply(name, offsets, events, fresh)
            self._rejected += result.rejected_without_campaign
            rejections |= result.rejections
            applied += result.applied
            duplicates += result.duplicates
            held += result.held
            if change is None:
                without_campaign |= result.rejections
            else:
                changes.append(change)
        before, empty = self.next_offset, 0
        if fresh:
            last = fresh.at(-1)
            self.next_offset, self.last_record_fingerprint = last.offset + 1, record_fingerprint(last)
            empty = self.next_offset - before - len(fresh)
        self._read += len(fresh)
        self._empty += empty
        return self._commit(
            before,
            campaigns=tuple(changes),
            outbox=(*self._campaigns.reject(fresh, without_campaign), *routed.copies),
            outcomes=Outcomes(
                read=len(fresh),
                applied=applied,
                duplicate=duplicates,
                rejected=len(rejections),
                held=held,
                forwarded=routed.forwarded,
                empty=empty,
            ),
            reasons=Counter(error.reason for error in rejections.values()) if rejections else None,
        )

    def _commit(
        self,
        before: int,
        *,
        outcomes: Outcomes,
        campaigns: tuple[CampaignChange, ...] = (),
        outbox: tuple[Output, ...] = (),
        reasons: Mapping[str, int] | None = None,
    ) -> Commit:
        """Return the commit that moves the partition from an offset to the next one, with the counts so far."""
        return Commit(
            before=before,
            after=self.next_offset,
            read=self._read,
            rejected=self._rejected,
            forwarded=self._forwarded,
            missing=self._missing,
            empty=self._empty,
            rejected_in_a_row=self._tally.in_a_row,
            rejected_share=self._tally.share,
            last_record_fingerprint=self.last_record_fingerprint,
            campaigns=campaigns,
            outbox=outbox,
            outcomes=outcomes,
            reasons=reasons or {},
        )

    def pass_over(self, end: int) -> Commit:
        """Move over offsets without a record, up to `end`. Nothing is written yet.

        The caller knows that no record there was deleted: a transaction ended there, with its marker or aborted.
        """
        before, self.next_offset = self.next_offset, end
        self._empty += end - before
        return self._commit(before, outcomes=Outcomes(empty=end - before))

    def skip(self, start: int, end: int) -> Commit | None:
        """Move over records that were deleted before they were read, if an operator has accepted that.

        Otherwise write the gap down for them, and return None. Nothing of this processor has changed then. If the store
        did not answer, the call may be repeated.
        """
        if self.store.report_gap(self.lease, start, end).accepted is None:
            return None
        if self.next_offset == start:
            self.next_offset = end
            self._missing += end - start
        commit = self._commit(start, outcomes=Outcomes(missing=end - start))
        self.persist(commit)
        return commit

    def persist(self, commit: Commit) -> None:
        """Write a prepared batch. If the store did not answer, the call may be repeated."""
        self.store.persist(self.lease, commit)
        self.persisted_offset = commit.after

    def verify(self) -> None:
        """Raise Conflict if the store is not where this processor left it, for example after a restored backup."""
        self.store.verify(self.lease, self.persisted_offset, self._campaigns.offsets_to_verify())

    def process(self, records: Sequence[Record]) -> tuple[Output, ...]:
        """Prepare and persist one batch. Return what is to be emitted. After that the source may be committed."""
        commit = self.prepare(records)
        self.persist(commit)
        return (*commit.outputs, *self.requests.open_all())

    def rate_again(self) -> dict[str, tuple[Output, ...]]:
        """Rate the campaigns again that wait for it, and end their quarantines. Return their outputs, by campaign."""
        if self._read_log is None:
            return {}
        return self.reruns.finish_all(self._read_log, until=self.next_offset)

    def check_owner(self) -> None:
        """Raise Fenced if the partition has a new owner, which emits what this processor has not emitted."""
        self.store.check_lease(self.lease)

    def confirm_emitted(self) -> None:
        """Raise Fenced if the partition had a new owner before the outputs were emitted, and report that they are late.

        Newer outputs may come before them in their topics. If the store did not answer, the call may be repeated.
        """
        try:
            self.store.check_lease(self.lease)
        except Fenced:
            self.store.report_late(self.lease.partition)
            raise

    def late_report(self) -> str:
        """Return the report that a former owner has emitted late outputs, or nothing."""
        return self.store.read_late(self.lease.partition)

    def clear_late(self, report: str) -> None:
        """Remove the report after the present outputs were emitted."""
        self.store.clear_late(self.lease.partition, report)

    def counts(self) -> Outcomes:
        """Return what became of every offset of the partition so far."""
        found = self._campaigns.counts()
        return found._replace(
            read=self._read,
            rejected=self._rejected + found.rejected,
            forwarded=self._forwarded,
            missing=self._missing,
            empty=self._empty,
        )

    def snapshots(self) -> tuple[Output, ...]:
        """Return the leaderboards of the campaigns that changed since the last call. They are settled at once."""
        return self.boards.snapshots()

    def rest(self, now: float) -> tuple[Output, ...]:
        """Remove idle campaigns from memory. Return their leaderboards that are not emitted yet. All is persisted."""
        return self._campaigns.rest(now)

    def suspending(self) -> dict[str, int]:
        """Return the number of judgments of each campaign that suspends flagged judges by itself."""
        return self._campaigns.suspending()

    def read_meta(self, campaign: str) -> CampaignMeta | None:
        """Return the state of a campaign except its tables."""
        return self._campaigns.read_meta(campaign)

    def load(self, campaign: str) -> None:
        """Bring a campaign back to memory."""
        self._campaigns.load(campaign)
