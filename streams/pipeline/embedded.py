"""An embedded stream: the worker's processor between an in-process log and a memory store, without servers."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from streams.pipeline.memory_log import MemoryLog
from streams.pipeline.one_judge import LogOfOneJudge, options_of_one_judge
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.past import find_campaign, rate_until
from streams.pipeline.processor import Processor
from streams.pipeline.taking_back import make_retractions
from streams.settings import Settings
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import encode

if TYPE_CHECKING:
    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.forgotten_verdicts import ForgottenVerdicts
    from streams.pipeline.record import Record
    from streams.stores import Store
    from streams.wire.events import Command, Judgment


class Embedded:
    """A whole Judgestream in one process: publish events, `run`, read the output topics.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> stream = Embedded()
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> stream.publish(verdict)
    >>> stream.run()
    1
    >>> [row.system for row in stream.campaign("c").leaderboard().rows]
    ['a', 'b']
    """

    def __init__(self, settings: Settings | None = None, *, partitions: int = 1, store: Store | None = None) -> None:
        self.settings = settings or Settings()
        self.log = MemoryLog(partitions)
        self._taken_back: dict[str, ForgottenVerdicts] = {}  # verdicts for which commands were sent, by campaign
        options = ProcessorOptions.from_settings(self.settings)
        self.store = store or MemoryStore()
        self.processors = [
            Processor.open(
                topics.JUDGMENTS.name, partition, self.store, options, read_log=partial(self._read_log, partition)
            )[0]
            for partition in range(partitions)
        ]

    def _read_log(self, partition: int, start: int, before: int) -> list[list[Record]]:
        return [self.log.read(topics.JUDGMENTS.name, partition, start=start, limit=before - start)]

    def publish(self, event: Judgment | Command) -> None:
        """Append an event to the log, under its campaign."""
        self.log.append(topics.JUDGMENTS.name, event.campaign.encode(), encode(event))

    def run(self) -> int:
        """Process the records of the log and append the outputs. Return the number of records."""
        done = 0
        while True:
            while found := sum(map(self._run_partition, self.processors)):  # one may forward records to another
                done += found
            if not self._take_back():
                return done

    def _take_back(self) -> int:
        """Append the commands for changed verdicts that campaigns no longer remember. Return how many there are."""
        sent = 0
        for processor in self.processors:
            for name in processor.reruns.awaiting():
                meta = processor.read_meta(name)
                if meta is not None and self._taken_back.get(name) != meta.verdicts:  # equal: they were refused
                    self._taken_back[name] = meta.verdicts
                    for command in make_retractions(meta, at=meta.clock):
                        self.publish(command)
                        sent += 1
        return sent

    def _run_partition(self, processor: Processor) -> int:
        done = 0
        while records := self.log.read(
            topics.JUDGMENTS.name,
            processor.partition,
            start=processor.next_offset,
            limit=self.settings.batch_records,
        ):
            outputs = processor.process(records)
            for output in (*outputs, *chain.from_iterable(processor.rate_again().values())):
                self.log.append_output(output)
            done += len(records)
        return done

    def snapshot(self) -> None:
        """Emit the leaderboards of the campaigns that changed."""
        for processor in self.processors:
            for output in processor.snapshots():
                self.log.append_output(output)

    def campaign(self, name: str) -> Campaign:
        """Return a campaign by name. Raise KeyError if there is none, and JudgestreamError if it is quarantined."""
        for processor in self.processors:
            if (found := find_campaign(processor, name)) is not None:
                return found
        raise KeyError(name)

    def campaign_of_judge(self, name: str, judge: str) -> Campaign | None:
        """Return a campaign with the judgments of one judge alone, by pseudonym, rated again from the log, or None."""
        number = int(self.store.read_head(name)["partition"].rpartition("/")[2])
        options = options_of_one_judge(ProcessorOptions.from_settings(self.settings), judge)
        return rate_until(
            self.processors[number].next_offset,
            name,
            topic=topics.JUDGMENTS.name,
            partition=number,
            store=MemoryStore(),
            options=options,
            read_log=LogOfOneJudge(partial(self._read_log, number), name, options),
        )

    def counts(self) -> Outcomes:
        """Return what became of every record."""
        return Outcomes(*map(sum, zip(*(processor.counts() for processor in self.processors), strict=True)))
