"""An ownership goes through its phases in one direction, and is over where nothing may be written."""

from __future__ import annotations

import pytest

from streams.kafka.partitions import Partition
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.worker.ownership import Abandoned, PartitionOwnership, Phase

PARTITION = Partition("judgments.v1", 0)


def opened() -> PartitionOwnership:
    ownership = PartitionOwnership(PARTITION)
    processor, _ = Processor.open(
        PARTITION.topic, PARTITION.number, MemoryStore(), ProcessorOptions.from_settings(Settings())
    )
    ownership.open(processor)
    return ownership


def test_one_that_is_opening_writes_nothing_and_has_no_processor() -> None:
    ownership = PartitionOwnership(PARTITION)
    assert ownership.is_opening
    assert not ownership.may_write
    assert ownership.log_fields() == {"topic": "judgments.v1", "partition": 0, "offset": None}
    with pytest.raises(AssertionError, match=r"judgments\.v1/0 is not loaded"):
        _ = ownership.processor


def test_one_that_closes_may_end_its_batch_and_begins_no_other() -> None:
    ownership = opened()
    assert ownership.is_open
    ownership.close()
    assert not ownership.is_open
    assert ownership.may_write
    ownership.check_not_over()
    ownership.end()
    assert not ownership.may_write
    with pytest.raises(Abandoned):
        ownership.check_not_over()


def test_one_that_closes_before_it_is_open_is_over() -> None:
    ownership = PartitionOwnership(PARTITION)
    ownership.close()
    assert ownership.phase is Phase.OVER


def test_the_state_of_one_that_is_stopped_is_known_and_nothing_is_written() -> None:
    ownership = PartitionOwnership(PARTITION)
    assert not ownership.is_loaded
    ownership.load(opened().processor)
    assert ownership.is_loaded
    assert not ownership.may_write
    ownership.close()
    assert not ownership.is_loaded


def test_no_phase_comes_back() -> None:
    ownership = opened()
    ownership.end()
    ownership.close()
    assert ownership.phase is Phase.OVER
    with pytest.raises(AssertionError):
        ownership.open(ownership.processor)
