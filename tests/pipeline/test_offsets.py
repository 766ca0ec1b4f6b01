"""Every offset of a partition is counted: as a record read, as empty, or as missing with a word of an operator."""

from __future__ import annotations

from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire.events import encode
from tests.builders import judgment

HOME = "judgments.v1/0"
OPTIONS = ProcessorOptions.from_settings(Settings())


def opened(store: MemoryStore) -> Processor:
    return Processor.open("judgments.v1", 0, store, OPTIONS)[0]


def records(*offsets: int) -> list[Record]:
    return [Record(offset, b"c", encode(judgment(offset))) for offset in offsets]


def assert_every_offset_is_counted(processor: Processor) -> None:
    counts = processor.counts()
    assert processor.next_offset == counts.read + counts.missing + counts.empty
    assert counts.read == counts.applied + counts.duplicate + counts.rejected + counts.held + counts.forwarded


def test_offsets_between_records_are_empty_in_any_batches() -> None:
    log = records(0, 1, 4, 5, 7)
    for sizes in ((5,), (1, 1, 1, 1, 1), (2, 3), (3, 2)):
        processor, rest, outcomes = opened(MemoryStore()), log, []
        for size in sizes:
            commit = processor.prepare(rest[:size])
            processor.persist(commit)
            outcomes.append(commit.outcomes)
            rest = rest[size:]
        assert processor.counts() == Outcomes(read=5, applied=5, empty=3)
        assert Outcomes(*map(sum, zip(*outcomes, strict=True))) == processor.counts()
        assert_every_offset_is_counted(processor)


def test_offsets_without_a_record_at_the_end_of_the_log_are_empty() -> None:
    store = MemoryStore()
    processor = opened(store)
    processor.process(records(0, 1))
    commit = processor.pass_over(5)
    processor.persist(commit)
    assert (commit.before, commit.after, commit.outcomes) == (2, 5, Outcomes(empty=3))
    assert_every_offset_is_counted(processor)
    again = opened(store)
    assert again.next_offset == 5
    assert again.last_record_fingerprint == processor.last_record_fingerprint
    again.process(records(5, 6))
    assert again.counts() == Outcomes(read=4, applied=4, empty=3)


def test_a_gap_is_not_passed_until_an_operator_accepts_it() -> None:
    store = MemoryStore()
    processor = opened(store)
    processor.process(records(0, 1))
    assert processor.skip(2, 10) is None
    assert processor.next_offset == processor.persisted_offset == 2
    assert store.accept_gap(HOME, 2, 10)
    assert processor.skip(2, 12) is None, "more records are gone than were accepted"
    processor.skip(2, 10)
    assert store.accept_gap(HOME, 2, 10)
    commit = processor.skip(2, 10)
    assert commit is not None
    assert commit.outcomes == Outcomes(missing=8)
    processor.process(records(10, 11, 13))
    assert processor.counts() == Outcomes(read=5, applied=5, missing=8, empty=1)
    assert_every_offset_is_counted(processor)


def test_the_next_owner_knows_what_is_missing() -> None:
    store = MemoryStore()
    processor = opened(store)
    processor.skip(0, 4)
    store.accept_gap(HOME, 0, 4)
    processor.skip(0, 4)
    processor.process(records(5, 6))
    again = opened(store)
    assert again.counts() == processor.counts() == Outcomes(read=2, applied=2, missing=4, empty=1)
    assert [(gap.start, gap.end) for gap in store.read_gaps(HOME)] == [(0, 4)]
    assert_every_offset_is_counted(again)


def test_a_skip_whose_reply_was_lost_is_counted_once() -> None:
    store = MemoryStore()
    processor = opened(store)
    store.report_gap(processor.lease, 0, 4)
    store.accept_gap(HOME, 0, 4)
    processor.skip(0, 4)
    processor.skip(0, 4)
    assert processor.counts() == Outcomes(missing=4)
    assert store.read_partition(HOME)["missing"] == "4"
