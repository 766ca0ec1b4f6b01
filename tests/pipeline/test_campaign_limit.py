"""A partition has a limited number of campaigns. Which ones they are does not depend on the batches."""

from __future__ import annotations

import dataclasses

import pytest

from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events
from streams.wire.events import CampaignSettings, encode
from tests.builders import NOON, judgment, log_reader

OPTIONS = dataclasses.replace(ProcessorOptions.from_settings(Settings(judge_key="key")), max_campaigns=2)

# The first record of `a` does not open it. So `b` and `c` come first, and `a` is one too many.
LOG: list[events.Judgment | events.Command] = [
    judgment(0, campaign="a", systems=("x",), ranks=None, score=3.0),
    events.Create(id="1", campaign="c", at=NOON, settings=CampaignSettings(systems=("x",), replicas=-1)),
    judgment(2, campaign="b"),
    events.Create(id="3", campaign="c", at=NOON, settings=CampaignSettings(systems=("x", "y"))),
    judgment(4, campaign="a"),
    judgment(5, campaign="b"),
    events.Create(id="6", campaign="d", at=NOON, settings=CampaignSettings()),
    judgment(7, campaign="c", systems=("x", "y")),
]
RECORDS = [Record(offset, each.campaign.encode(), encode(each)) for offset, each in enumerate(LOG)]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_a_record_that_begins_one_campaign_too_many_is_rejected(size: int) -> None:
    store, reasons = MemoryStore(), dict[str, int]()
    for start in range(0, len(RECORDS), size):
        processor, _ = Processor.open("log", 0, store, OPTIONS)  # as after a restart before each batch
        commit = processor.prepare(RECORDS[start : start + size])
        processor.persist(commit)
        for reason, number in commit.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + number
        processor.verify()
    assert store.list_campaigns(["log/0"]) == ["b", "c"]
    assert reasons == {"unsuited_to_model": 1, "invalid_value": 1, "too_many_campaigns": 2}
    assert processor.counts().rejected == 4


def test_the_rejection_names_the_setting_and_the_way_out() -> None:
    processor, _ = Processor.open("log", 0, MemoryStore(), OPTIONS)
    rejections = [each.value for each in processor.process(RECORDS) if each.topic.startswith("rejected")]
    assert any(b"`max_campaigns` allows 2; raise it on all workers, or delete campaigns" in each for each in rejections)


def test_a_campaign_that_began_when_there_was_room_again_is_rated_again_from_there() -> None:
    """Its earlier records were rejected, and a retraction does not change that."""
    retract = events.Retract(id="9", campaign="a", at=NOON, judgments=("id-9",))
    more = [judgment(8, campaign="a"), judgment(9, campaign="a"), judgment(10, campaign="a"), retract]
    records = [*RECORDS, *(Record(8 + k, b"a", encode(each)) for k, each in enumerate(more))]
    store = MemoryStore()
    Processor.open("log", 0, store, OPTIONS)[0].process(RECORDS)
    raised = dataclasses.replace(OPTIONS, max_campaigns=3)
    processor, _ = Processor.open("log", 0, store, raised, read_log=log_reader(records))
    processor.process(records[8:])
    processor.rate_again()
    counts = processor.campaigns["a"].counts
    assert (counts.judgments, counts.retracted, counts.rejected) == (2, 1, 0)
