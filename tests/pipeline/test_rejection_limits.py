"""Too many rejections stop the worker, and what a campaign refuses to single judges does not."""

from __future__ import annotations

import pytest

from streams.errors import RecordError, TooManyRejections
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.pipeline.rejection_limits import BLAMELESS, RejectionLimits, Tally
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import encode
from streams.wire.reasons import Reason
from tests.builders import NOON, judgment

BAD = RecordError("invalid_json", "not JSON")
OFF = RejectionLimits(in_a_row=0, share=1.0)


def test_one_bad_record_more_than_the_limit_is_too_many() -> None:
    limits = RejectionLimits(in_a_row=3, share=1.0)
    tally = Tally().after([BAD] * 3, limits)
    assert tally.in_a_row == 3
    with pytest.raises(TooManyRejections, match=r"max_rejected_in_a_row = 3; the last one: invalid_json: not JSON"):
        tally.after([BAD], limits)
    assert tally.after([None], limits).in_a_row == 0


def test_a_share_of_bad_records_is_too_many_however_they_are_mixed() -> None:
    limits = RejectionLimits(in_a_row=0, share=0.5, window=100)
    tally = Tally()
    for _ in range(300):
        tally = tally.after([BAD, None, None], limits)
    assert tally.share == pytest.approx(1 / 3, abs=0.01)
    with pytest.raises(TooManyRejections, match=r"max_rejected_share = 0\.5"):
        tally.after([BAD, BAD, None] * 100, limits)


def test_the_split_into_batches_does_not_matter() -> None:
    outcomes = [BAD, None, BAD, BAD, None, None, BAD]
    split = Tally()
    for outcome in outcomes:
        split = split.after([outcome], OFF)
    assert split == Tally().after(outcomes, OFF)


@pytest.mark.parametrize("reason", sorted(BLAMELESS))
def test_what_is_refused_to_a_judge_does_not_count(reason: Reason) -> None:
    assert Tally().after([RecordError(reason, "no")] * 100, RejectionLimits(in_a_row=3)) == Tally()


def processor(store: MemoryStore, **settings: int) -> Processor:
    options = ProcessorOptions.from_settings(Settings(**settings))  # type: ignore[arg-type]
    return Processor.open(topics.JUDGMENTS.name, 0, store, options)[0]


def test_the_batch_that_passes_a_limit_is_not_written_and_a_restart_does_not_forget() -> None:
    store = MemoryStore()
    poison = [Record(offset, b"c", b"{") for offset in range(10)]
    first = processor(store, max_rejected_in_a_row=5)
    assert len(first.process(poison[:5])) == 5
    for _ in range(3):
        again = processor(store, max_rejected_in_a_row=5)
        assert again.next_offset == 5
        with pytest.raises(TooManyRejections):
            again.process(poison[5:6])
    assert len(processor(store, max_rejected_in_a_row=0).process(poison[5:])) == 5


def test_judges_who_were_excluded_do_not_stop_the_worker() -> None:
    made = processor(MemoryStore(), max_rejected_in_a_row=5)
    log = [judgment(0), events.ExcludeJudge(id="1", campaign="c", at=NOON, judge="judge")]
    log += [judgment(number) for number in range(1, 50)]
    made.process([Record(offset, b"c", encode(event)) for offset, event in enumerate(log)])
    assert made.counts().rejected == 49
