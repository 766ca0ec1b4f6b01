"""A partition of the log as a broker keeps it, with all that was ever in it, and what a calm run makes of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from streams.errors import HistoryGone
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.outputs import Output
from tests.state_hash import state_hash

TOPIC = "judgments.v1"
HOME = f"{TOPIC}/0"
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))


class Calm(NamedTuple):
    """The hash of the state and the rejections of one fresh processor."""

    hash: str
    rejections: set[bytes]


@dataclass
class PartitionLog:
    """Some offsets have no record, and the records before `begin` are deleted. `missing` are the accepted gaps."""

    records: list[Record] = field(default_factory=list)
    begin: int = 0
    end: int = 0
    missing: list[range] = field(default_factory=list)

    def append(self, values: Sequence[bytes | None]) -> None:
        """Append records."""
        self.records += [Record(self.end + number, b"key", value) for number, value in enumerate(values)]
        self.end += len(values)

    def abort(self, count: int) -> None:
        """Append records of a transaction that is aborted, and its marker: no reader gets them."""
        self.end += count

    def between(self, start: int, before: int) -> list[Record]:
        """Return the records that are still there."""
        return [record for record in self.records if max(start, self.begin) <= record.offset < before]

    def next_batch(self, start: int, size: int) -> list[Record]:
        """Return some records from an offset on."""
        return self.between(start, self.end)[:size]

    def read(self, start: int, before: int) -> list[list[Record]]:
        """Read the log again."""
        if start < self.begin:
            raise HistoryGone("the beginning of the log has been deleted")
        return [self.between(start, before)]

    @property
    def kept(self) -> list[Record]:
        """The records that were not deleted before they were read."""
        return [record for record in self.records if not any(record.offset in gap for gap in self.missing)]

    def calm(self, before: int) -> Calm:
        """Return what one fresh processor makes of the log before an offset."""
        store, outputs = MemoryStore(), list[Output]()
        processor, _ = Processor.open(TOPIC, 0, store, OPTIONS, read_log=self._read_as_it_was)
        for gap in self.missing:
            if gap.start < before:
                outputs += self._process(processor, gap.start)
                store.report_gap(processor.lease, gap.start, gap.stop)
                store.accept_gap(HOME, gap.start, gap.stop)
                processor.skip(gap.start, gap.stop)
        outputs += self._process(processor, before)
        outputs += finished(processor)
        rejected = {output.value for output in outputs if output.topic == topics.REJECTED.name}
        return Calm(state_hash(store, [HOME]), rejected)

    def _process(self, processor: Processor, before: int) -> Sequence[Output]:
        records = [record for record in self.kept if processor.next_offset <= record.offset < before]
        return processor.process(records) if records else ()

    def _read_as_it_was(self, start: int, before: int) -> list[list[Record]]:
        return [[record for record in self.kept if start <= record.offset < before]]


def finished(processor: Processor) -> list[Output]:
    """Rate campaigns again at once, and return the outputs."""
    return [output for outputs in processor.rate_again().values() for output in outputs]
