"""A record on the wrong partition is forwarded to the partition of its campaign, once, and counts once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from streams.core.campaign.state import StoredCampaign
from streams.pipeline.embedded import Embedded
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.pipeline.routing import Copies
from streams.settings import Settings
from streams.stores import Lease
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import Rejection, encode
from streams.wire.outputs import FORWARDED_FROM, Output
from tests.builders import NOON, crowd_log, judgment
from tests.state_hash import state_hash

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))
JUDGMENTS = topics.JUDGMENTS.name


def opened(store: MemoryStore, partition: int) -> Processor:
    return Processor.open(JUDGMENTS, partition, store, OPTIONS)[0]


def records(*entries: events.Judgment | events.Command, start: int = 0, is_forwarded: bool = False) -> list[Record]:
    return [
        Record(start + number, b"wrong key", encode(entry), is_forwarded=is_forwarded)
        for number, entry in enumerate(entries)
    ]


def forwarded(outputs: Sequence[Output]) -> list[Output]:
    return [output for output in outputs if output.topic == JUDGMENTS]


def test_a_record_of_a_campaign_on_another_partition_is_forwarded_there() -> None:
    store = MemoryStore()
    opened(store, 2).process(records(judgment(1)))
    other = opened(store, 1)
    outputs = other.process(records(judgment(2), judgment(3)))
    assert len(outputs) == len(forwarded(outputs)) == 2
    first, _ = outputs
    assert (first.key, first.partition) == (b"c", 2)
    assert first.headers == ((FORWARDED_FROM, b"judgments.v1/1/0"),)
    assert msgspec.json.decode(first.value, type=events.Judgment).id == "id-2"
    assert other.counts() == Outcomes(read=2, forwarded=2)
    assert store.read_partition("judgments.v1/1")["forwarded"] == "2"
    assert opened(store, 1).counts() == Outcomes(read=2, forwarded=2)


def test_a_forwarded_record_does_not_hold_the_id_of_the_judge() -> None:
    store = MemoryStore()
    opened(store, 0).process(records(judgment(1)))
    exclude = events.ExcludeJudge(id="x", campaign="c", at=NOON, judge="alice")
    outputs = opened(store, 1).process(records(judgment(2, judge="alice"), exclude))
    assert len(forwarded(outputs)) == 2
    assert not any(b"alice" in output.value for output in outputs)


def test_commands_on_the_wrong_partition_are_forwarded_too() -> None:
    store = MemoryStore()
    home = opened(store, 0)
    home.process(records(judgment(1)))
    (output,) = opened(store, 1).process(records(events.Close(id="x", campaign="c", at=NOON)))
    home.process([Record(1, output.key, output.value, is_forwarded=True)])
    assert home.campaigns["c"].status.state == "closed"


def test_a_new_owner_forwards_again_what_may_not_have_been_sent_and_it_counts_once() -> None:
    store = MemoryStore()
    home = opened(store, 0)
    home.process(records(judgment(1)))
    sent = opened(store, 1).process(records(judgment(2)))
    _, again = Processor.open(JUDGMENTS, 1, store, OPTIONS)
    assert again == sent
    copies = [Record(at, each.key, each.value, is_forwarded=True) for at, each in enumerate((*sent, *again), start=1)]
    home.process(copies)
    assert home.counts() == Outcomes(read=3, applied=2, duplicate=1)


def test_a_record_is_not_forwarded_twice() -> None:
    store = MemoryStore()
    opened(store, 0).process(records(judgment(1)))
    other = opened(store, 1)
    (output,) = other.process(records(judgment(2), is_forwarded=True))
    rejection = msgspec.json.decode(output.value, type=Rejection)
    assert (rejection.reason, rejection.judgment) == ("wrong_partition", "id-2")
    for words in ("judgments.v1/0", "judgments.v1/1", "partitioner=murmur2_random"):
        assert words in rejection.message
    assert other.counts() == Outcomes(read=1, rejected=1)


def test_the_store_is_asked_once_per_batch_for_a_foreign_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    opened(store, 0).process(records(judgment(1)))
    other = opened(store, 1)
    asked: list[str] = []
    load = store.load

    def counted(lease: Lease, name: str) -> StoredCampaign | None:
        asked.append(name)
        return load(lease, name)

    monkeypatch.setattr(store, "load", counted)
    assert len(other.process(records(*(judgment(number) for number in range(2, 50))))) == 48
    assert asked == ["c"]


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_every_record_finds_its_way_and_counts_once(batch: int) -> None:
    log = crowd_log(120, campaigns=5, seed=3)
    stream = Embedded(Settings(judge_key="key", batch_records=batch), partitions=4)
    for number, entry in enumerate(log):
        stream.log.append(JUDGMENTS, b"", encode(entry), partition=number % 4)
    stream.run()
    counts = stream.counts()
    assert (counts.applied, counts.duplicate, counts.rejected) == (120, 0, 0)
    assert counts.read == 120 + counts.forwarded
    assert 0 < counts.forwarded < 120
    assert sum(len(processor.campaigns) for processor in stream.processors) == 5


def test_the_records_that_one_partition_forwards_keep_their_order() -> None:
    log = crowd_log(60, seed=4)
    stream = Embedded(Settings(judge_key="key", batch_records=9), partitions=2)
    stream.log.append(JUDGMENTS, b"", encode(log[0]), partition=0)
    stream.run()
    for entry in log[1:]:
        stream.log.append(JUDGMENTS, b"", encode(entry), partition=1)
    stream.run()
    orderly = Embedded(Settings(judge_key="key"))
    for entry in log:
        orderly.publish(entry)
    orderly.run()
    found, wanted = (each.campaign("campaign-0").leaderboard().rows for each in (stream, orderly))
    assert found == wanted


def test_more_partitions_leave_campaigns_where_they_are() -> None:
    store, before, after = MemoryStore(), crowd_log(40, campaigns=6, seed=5), crowd_log(100, campaigns=12, seed=6)
    few = Embedded(Settings(judge_key="key"), partitions=2, store=store)
    for entry in before:
        few.publish(entry)
    few.run()
    listed = store.list_campaigns(["judgments.v1/0", "judgments.v1/1"])
    homes = {name: store.read_head(name)["partition"] for name in listed}
    many = Embedded(Settings(judge_key="key"), partitions=5, store=store)
    for number in (0, 1):
        for record in few.log.read(JUDGMENTS, number, start=0, limit=1000):
            many.log.append(JUDGMENTS, record.key, record.value, partition=number)
    fresh = [msgspec.structs.replace(entry, id=f"new-{entry.id}") for entry in after]
    for entry in fresh:
        many.publish(entry)
    many.run()
    counts = many.counts()
    assert (counts.applied, counts.duplicate, counts.rejected) == (140, 0, 0)
    assert counts.forwarded > 0
    assert {name: store.read_head(name)["partition"] for name in homes} == homes
    new = {f"campaign-{number}" for number in range(12)} - homes.keys()
    assert {store.read_head(name)["partition"] for name in new} - set(homes.values())


PARTITIONS = [f"{JUDGMENTS}/{number}" for number in range(3)]


class Log:
    """The log of three partitions, and the copies that it holds."""

    def __init__(self) -> None:
        self.records: list[list[Record]] = [[], [], []]
        self.copies = Copies()

    def append(self, partition: int, value: bytes, *, is_forwarded: bool = False) -> None:
        mine = self.records[partition]
        mine.append(Record(len(mine), b"", value, is_forwarded=is_forwarded))

    def run(self, processor: Processor) -> int:
        """Process what is left of a partition. Return how many copies were sent."""
        copies = forwarded(processor.process(self.records[processor.partition][processor.next_offset :]))
        for output in copies:
            assert output.partition is not None
            self.append(output.partition, output.value, is_forwarded=True)
            self.copies.add(output.key or b"", PARTITIONS[output.partition], origin=output.headers[0][1])
        return len(copies)


def test_after_the_loss_of_all_state_nothing_is_forwarded_again_and_the_state_is_the_same() -> None:
    options = ProcessorOptions.from_settings(Settings(judge_key="key", seen_ids=10))
    store, log = MemoryStore(), Log()
    processors = [Processor.open(JUDGMENTS, number, store, options)[0] for number in range(3)]
    for number, entry in enumerate(crowd_log(90, campaigns=2, seed=7)):
        log.append((number * 7) % 3, encode(entry))
        if number % 4 == 0:
            for processor in (*processors, *processors):
                log.run(processor)
    while sum(map(log.run, processors)):
        pass
    before = state_hash(store, PARTITIONS)
    assert sum(processor.counts().forwarded for processor in processors) > 20

    # The partitions are read in another order than before, and each campaign has more ids than it remembers.
    lost = MemoryStore()
    again = [Processor.open(JUDGMENTS, number, lost, options)[0] for number in (2, 1, 0)]
    for processor in again:
        processor.recall_copies(log.copies)
        assert log.run(processor) == 0
    assert state_hash(lost, PARTITIONS) == before


def test_a_lost_head_forwards_nothing_again_and_what_is_new_is_forwarded() -> None:
    store, log = MemoryStore(), Log()
    log.append(0, encode(judgment(1)))
    log.append(2, encode(judgment(2)))
    home, other = opened(store, 0), opened(store, 2)
    log.run(home)
    assert log.run(other) == 1
    log.append(2, encode(judgment(3)))
    del store._partitions[PARTITIONS[2]]
    other = opened(store, 2)
    assert other.next_offset == 0
    other.recall_copies(log.copies)
    assert log.run(other) == 1, "the second one is new"
    assert other.counts() == Outcomes(read=2, forwarded=2)
    log.run(home)
    assert home.counts() == Outcomes(read=3, applied=3)
