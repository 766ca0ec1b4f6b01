"""Rate a log in this process, with the worker's processor and a memory store: what the code costs without servers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from streams.bench.measuring import Timing
from streams.errors import JudgestreamError
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import RecordBlock
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.bench.synthetic_log import SyntheticLog
    from streams.stores import Store

# A campaign is idle for no benchmark, and no limit on its size may be reached.
SETTINGS = Settings(judge_key="benchmark", max_judges=10_000_000, max_loaded_campaigns=100_000, max_campaigns=100_000)


class EmbeddedRun:
    """One processor that rates a log of one partition, chunk by chunk. Only its own work is timed."""

    def __init__(self, log: SyntheticLog, *, store: Store | None = None, settings: Settings = SETTINGS) -> None:
        self._log = log
        self.store = store or MemoryStore()
        self.options = ProcessorOptions.from_settings(settings)
        self.processor, _ = Processor.open(topics.JUDGMENTS.name, 0, self.store, self.options)

    def steps(self) -> Iterator[Timing]:
        """Rate the log, with match requests and persisted state. Yield the time of each chunk, without making it."""
        for values in self._log.values():
            start = self.processor.next_offset
            records = RecordBlock(
                offsets=range(start, start + len(values)),
                raw_keys=[None] * len(values),
                raw_values=values,
                written_at=[None] * len(values),
            )
            began, used = time.perf_counter(), time.process_time()
            commit = self.processor.prepare(records)
            self.processor.persist(commit)
            self.processor.requests.open_all()
            yield Timing(time.perf_counter() - began, time.process_time() - used)

    def rate(self) -> Timing:
        """Rate the log. Return the time of all chunks."""
        timings = list(self.steps())
        counts = self.processor.counts()
        if counts.applied != self._log.count:
            raise JudgestreamError(f"of {self._log.count:,} judgments, {counts.applied:,} were applied: {counts}")
        return Timing(*map(sum, zip(*timings, strict=True)))

    def settle(self) -> Timing:
        """Return the time of the leaderboards of all campaigns."""
        began, used = time.perf_counter(), time.process_time()
        self.processor.snapshots()
        return Timing(time.perf_counter() - began, time.process_time() - used)

    def recover(self) -> Timing:
        """Open the partition again from its store, with all campaigns in memory. Return the time."""
        began, used = time.perf_counter(), time.process_time()
        processor, _ = Processor.open(topics.JUDGMENTS.name, 0, self.store, self.options)
        for name in processor.campaign_names:
            processor.load(name)
        return Timing(time.perf_counter() - began, time.process_time() - used)
