"""A rerun: a partition's log, rated again by the worker's own processor into a store in memory."""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from streams.errors import ForeignCampaign, StoreCorrupt
from streams.kafka.partitioned_log import read_log
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.rebuild.replacement import Publications
from streams.stores.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from streams.core.campaign.state import StoredCampaign
    from streams.pipeline.record import Record
    from streams.pipeline.routing import Copies
    from streams.settings import Settings
    from streams.stores.base import Lease
    from streams.stores.redis.store import RedisStore

    Advance = Callable[[int], None]  # the offset up to which a partition is rated
    Stop = Callable[[], None]


class FreshStore(MemoryStore):
    """A store in memory, in which each campaign belongs to the same partition as in the live store."""

    def __init__(self, live: RedisStore, homes: Mapping[str, str]) -> None:
        super().__init__()
        self._live = live
        self._homes = homes

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Return a campaign's state and make the lease its writer."""
        home = self._live.read_head(campaign).get("partition") or self._homes.get(campaign)
        if home is not None and home != lease.partition:
            raise ForeignCampaign(campaign, home)
        return super().load(lease, campaign)


class Rerun:
    """Rates a partition's log again from its beginning."""

    def __init__(
        self, settings: Settings, store: MemoryStore, topic: str, number: int, *, emitted: int, copies: Copies
    ) -> None:
        options = ProcessorOptions.from_settings(settings).for_reading_again()
        self._processor, _ = Processor.open(topic, number, store, options, read_log=partial(read_log, settings, number))
        self._processor.recall_copies(copies)
        self._partition = f"{topic}/{number}"
        self._emitted = emitted
        self.publications = Publications()

    @property
    def next_offset(self) -> int:
        """The offset of the next record to rate."""
        return self._processor.next_offset

    @property
    def records(self) -> int:
        """The number of records that are rated."""
        return self._processor.counts().read

    @property
    def failed(self) -> dict[str, str]:
        """The campaigns that this code can't rate or rank either, and the errors."""
        return {name: found.quarantine.error for name, found in self._processor.quarantined.items()}

    def note_quarantines(self, live: RedisStore) -> None:
        """Find out from which record on no worker has emitted the rejections of campaigns that are in quarantine."""
        for name in live.list_campaigns([self._partition]):
            with suppress(StoreCorrupt):
                meta = live.read_meta(name)
                if meta is not None and (quarantine := meta.status.quarantine) is not None:
                    self.publications.hold(name, meta.retractions.first_new_rejection(quarantine.offset))

    def rate(self, batches: Iterable[list[Record]], advance: Advance, stops: Mapping[int, Stop] | None = None) -> None:
        """Rate records. A function in `stops` is called when all records before its offset are rated.

        The records reach up to the last stop. An offset before it without a record is empty.
        """
        stops = stops or {}
        waiting = sorted(stops)
        for records in batches:
            rest = records
            while waiting and waiting[0] <= rest[-1].offset:
                place = bisect_left(rest, waiting[0], key=lambda record: record.offset)
                self._rate(rest[:place])
                self._stop(waiting.pop(0), stops)
                rest = rest[place:]
            self._rate(rest)
            advance(self.next_offset)
        for offset in waiting:
            self._stop(offset, stops)
        self._rate_again()
        self._processor.snapshots()  # a campaign that can't be ranked has failed too

    def _stop(self, offset: int, stops: Mapping[int, Stop]) -> None:
        if self.next_offset < offset:
            self._processor.persist(self._processor.pass_over(offset))
        self._rate_again()
        stops[offset]()

    def _rate(self, records: Sequence[Record]) -> None:
        if records:
            commit = self._processor.prepare(records)
            self._processor.persist(commit)
            self.publications.add(commit, emitted=self._emitted)

    def _rate_again(self) -> None:
        """Finish what retractions in the log have begun."""
        for name, outputs in self._processor.rate_again().items():
            if name in self._processor.campaigns:
                outstanding = self._processor.campaigns[name].outstanding.keys()
                self.publications.add_outputs(name, outputs, outstanding=outstanding, emitted=self._emitted)
