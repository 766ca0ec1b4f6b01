"""Too many undecodable records stop their partition. Records that can be decoded and are wrong do not."""

from __future__ import annotations

from typing import get_args

import pytest

from streams.errors import RecordError, TooManyUndecodable
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.pipeline.undecodable_limits import UNDECODABLE, Tally, UndecodableLimits
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import encode
from streams.wire.reasons import Reason
from tests.builders import NOON, judgment

BAD = RecordError("invalid_json", "not JSON")
OFF = UndecodableLimits(in_a_row=0, share=1.0)


def test_one_undecodable_record_more_than_the_limit_is_too_many() -> None:
    limits = UndecodableLimits(in_a_row=3, share=1.0)
    tally = Tally().after([BAD] * 3, limits)
    assert tally.in_a_row == 3
    with pytest.raises(TooManyUndecodable, match=r"max_undecodable_in_a_row = 3 .*: invalid_json: not JSON.* restart"):
        tally.after([BAD], limits)
    assert tally.after([None], limits).in_a_row == 0


def test_a_share_of_undecodable_records_is_too_many_however_they_are_mixed() -> None:
    limits = UndecodableLimits(in_a_row=0, share=0.5, window=100)
    tally = Tally()
    for _ in range(300):
        tally = tally.after([BAD, None, None], limits)
    assert tally.share == pytest.approx(1 / 3, abs=0.01)
    with pytest.raises(TooManyUndecodable, match=r"max_undecodable_share = 0\.5"):
        tally.after([BAD, BAD, None] * 100, limits)


def test_the_split_into_batches_does_not_matter() -> None:
    outcomes = [BAD, None, BAD, BAD, None, None, BAD]
    split = Tally()
    for outcome in outcomes:
        split = split.after([outcome], OFF)
    assert split == Tally().after(outcomes, OFF)


@pytest.mark.parametrize("reason", sorted(set(get_args(Reason)) - UNDECODABLE))
def test_a_record_that_can_be_decoded_never_counts(reason: Reason) -> None:
    assert Tally().after([RecordError(reason, "no")] * 100, UndecodableLimits(in_a_row=3)) == Tally()


def processor(store: MemoryStore, **settings: int) -> Processor:
    options = ProcessorOptions.from_settings(Settings(**settings))  # type: ignore[arg-type]
    return Processor.open(topics.JUDGMENTS.name, 0, store, options)[0]


def test_the_batch_that_passes_a_limit_changes_nothing_and_a_restart_does_not_forget() -> None:
    store = MemoryStore()
    poison = [Record(offset, b"c", b"{") for offset in range(10)]
    first = processor(store, max_undecodable_in_a_row=5)
    assert len(first.process(poison[:5])) == 5
    for _ in range(3):
        again = processor(store, max_undecodable_in_a_row=5)
        assert again.next_offset == 5
        for _ in range(2):
            with pytest.raises(TooManyUndecodable):
                again.process([*poison[5:6], Record(6, b"c", encode(judgment()))])
        assert (again.next_offset, again.campaigns, again.counts().read) == (5, {}, 5)
    assert len(processor(store, max_undecodable_in_a_row=0).process(poison[5:])) == 5


def test_a_thousand_and_one_judgments_of_an_unknown_system_stop_nothing() -> None:
    made = processor(MemoryStore())
    create = events.Create(id="1", campaign="c", at=NOON, settings=events.CampaignSettings(systems=("a", "b")))
    log = [create, *(judgment(number, systems=("a", "typo")) for number in range(1001)), judgment(2000)]
    made.process([Record(offset, b"c", encode(event)) for offset, event in enumerate(log)])
    assert (made.counts().rejected, made.counts().applied) == (1001, 2)


def test_judges_who_were_excluded_do_not_stop_the_partition() -> None:
    made = processor(MemoryStore(), max_undecodable_in_a_row=5)
    log = [judgment(0), events.ExcludeJudge(id="1", campaign="c", at=NOON, judge="judge")]
    log += [judgment(number) for number in range(1, 50)]
    made.process([Record(offset, b"c", encode(event)) for offset, event in enumerate(log)])
    assert made.counts().rejected == 49
