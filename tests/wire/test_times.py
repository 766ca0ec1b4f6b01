"""An event that is minutes ahead of the broker's clock is rejected, by a worker and by a rerun alike."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from streams.errors import RecordError
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import Rejection, encode
from streams.wire.times import FUTURE, are_in_time, check_time
from tests.builders import NOON, judgment, log_reader

NOW = NOON.timestamp()
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))
LATE, EARLY = judgment(1, at=NOON + FUTURE), judgment(2, at=NOON + FUTURE + timedelta(seconds=1))


def test_five_minutes_ahead_are_accepted_and_a_second_more_is_not() -> None:
    check_time(LATE, NOW)
    check_time(EARLY, None)
    with pytest.raises(RecordError, match=r"`at` is 2019-12-20 12:05:01\+0000, but .* at 2019-12-20 12:00:00") as found:
        check_time(EARLY, NOW)
    assert (found.value.reason, found.value.field) == ("in_the_future", "at")


def test_a_batch_is_in_time_if_its_latest_event_is_before_its_earliest_record() -> None:
    assert are_in_time([LATE, LATE], [NOW + 10, NOW])
    assert not are_in_time([LATE, EARLY], [NOW + 10, NOW])
    assert are_in_time([EARLY], [None])
    assert are_in_time([], [])


@pytest.mark.parametrize("batch", [1, 3, 10])
def test_an_event_from_the_future_is_rejected_and_its_neighbours_are_applied(batch: int) -> None:
    command = events.Pause(id="p", campaign="c", at=NOON + timedelta(hours=1))
    log = [judgment(0), EARLY, LATE, command, judgment(4)]
    records = [Record(offset, b"c", encode(event), NOW) for offset, event in enumerate(log)]
    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS)
    outputs = [
        output for start in range(0, len(log), batch) for output in processor.process(records[start : start + batch])
    ]
    found = [msgspec.json.decode(each.value, type=Rejection) for each in outputs if each.topic == topics.REJECTED.name]
    assert [(each.reason, each.judgment) for each in found] == [("in_the_future", "id-2"), ("in_the_future", "p")]
    assert processor.counts() == Outcomes(read=5, applied=3, rejected=2)
    assert processor.campaigns["c"].clock == LATE.at


def test_without_a_timestamp_of_the_broker_nothing_is_checked() -> None:
    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS)
    processor.process([Record(0, b"c", encode(EARLY))])
    assert processor.counts() == Outcomes(read=1, applied=1)


def test_a_rerun_rejects_what_the_worker_rejected() -> None:
    log = [judgment(0), EARLY, judgment(3), events.Retract(id="r", campaign="c", at=NOON, judgments=("id-3",))]
    records = [Record(offset, b"c", encode(event), NOW) for offset, event in enumerate(log)]
    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS, read_log=log_reader(records))
    processor.process(records)
    processor.rate_again()
    counts = processor.counts()
    assert (counts.applied, counts.rejected) == (3, 1)
    assert processor.campaigns["c"].clock == judgment(3).at
