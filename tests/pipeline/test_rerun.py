"""A campaign is rated again beside its live state: however it is cut and interrupted, it ends as in a calm run."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core.campaign.retractions import Retractions
from streams.core.models import MODELS, JudgmentBatch
from streams.core.models.trueskill import TrueSkill
from streams.errors import Fenced, HistoryGone
from streams.pipeline.embedded import Embedded
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.faulty_model import faulty
from tests.state_hash import state_hash
from tests.stores.losses import lose_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.outputs import Output

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key", snapshot_judgments=0))
HOME = "judgments.v1/0"
NAME = "campaign-1"


def retract(number: int, **what: object) -> events.Retract:
    return events.Retract(id=f"retract-{number}", campaign=NAME, at=NOON, **what)  # type: ignore[arg-type]


def log_of(entries: Iterable[events.Judgment | events.Command]) -> list[Record]:
    return [Record(offset, entry.campaign.encode(), encode(entry)) for offset, entry in enumerate(entries)]


CROWD = crowd_log(240, campaigns=3, seed=7, ways=3, systems=6)
MINE = [entry for entry in CROWD if entry.campaign == NAME]
LOG = log_of(
    [
        events.Create(id="create", campaign=NAME, at=NOON, settings=events.CampaignSettings(outstanding=3)),
        *CROWD[:120],
        retract(1, judgments=(MINE[2].id, MINE[9].id)),
        *CROWD[120:150],
        MINE[3],  # a duplicate while it is held
        judgment(900, campaign=NAME, systems=("a",), ranks=None, score=1.0),  # rejected while it is held
        events.ExcludeJudge(id="exclude", campaign=NAME, at=NOON, judge=MINE[0].judge),
        *CROWD[150:180],
        retract(2, judge=MINE[1].judge),
        retract(1, judgments=("other",)),  # a duplicate
        *CROWD[180:],
    ]
)
PLACE = next(record.offset for record in LOG if b'"retract-1"' in (record.value or b""))


def opened(store: MemoryStore, log: Sequence[Record] = LOG) -> tuple[Processor, list[Output]]:
    processor, outputs = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(log))
    return processor, [*outputs]


def calm(log: Sequence[Record] = LOG) -> tuple[MemoryStore, list[Output]]:
    """Process a log in one go."""
    store = MemoryStore()
    processor, outputs = opened(store, log)
    outputs += [*processor.process(log), *chain.from_iterable(processor.rate_again().values())]
    return store, outputs


def rejected(outputs: Iterable[Output]) -> set[tuple[int, str]]:
    found = [msgspec.json.decode(each.value, type=events.Rejection) for each in outputs if each.topic == "rejected.v1"]
    return {(each.offset, each.reason) for each in found}


def last(outputs: Iterable[Output], topic: topics.Topic) -> dict[bytes | None, bytes]:
    """Return the newest output per key, as a compacted topic keeps it."""
    return {output.key: output.value for output in outputs if output.topic == topic.name}


def counts_add_up(processor: Processor) -> bool:
    counts = processor.counts()
    return counts.read == counts.applied + counts.duplicate + counts.rejected + counts.held + counts.forwarded


def test_only_the_campaign_waits_and_its_neighbours_go_on() -> None:
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG)
    assert processor.reruns.waiting() == [NAME]
    assert sorted(processor.campaigns) == ["campaign-0", "campaign-2"]
    meta = store.read_meta(NAME)
    assert meta is not None
    assert meta.status.quarantine is not None
    assert (meta.status.quarantine.offset, meta.status.quarantine.cause) == (PLACE, "retraction")
    assert meta.retractions.ids == (MINE[2].id, MINE[9].id)
    assert meta.counts.held == sum(record.key == NAME.encode() for record in LOG[PLACE:])
    assert counts_add_up(processor)
    other, _ = calm()
    for name in processor.campaigns:
        assert store.read(name) == other.read(name)


def test_afterwards_nothing_is_held_and_the_counts_add_up() -> None:
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG)
    outputs = processor.rate_again()[NAME]
    assert processor.quarantined == {}
    assert processor.counts().held == 0
    assert counts_add_up(processor)
    counts = processor.campaigns[NAME].counts
    assert (counts.commands, counts.duplicates) == (4, 2)
    assert counts.retracted > 2
    assert {offset for offset, _ in rejected(outputs)} >= {PLACE + 32}
    assert [output.topic for output in outputs if output.topic == topics.LEADERBOARDS.name]
    status = msgspec.json.decode(last(outputs, topics.CAMPAIGNS)[NAME.encode()], type=events.CampaignStatus)
    assert (status.quarantine, status.command) == (None, "retract-2")
    assert processor.rate_again() == {}


@pytest.mark.parametrize("size", [1, 7, 50])
def test_the_size_of_batches_and_the_moment_of_the_rerun_do_not_matter(size: int) -> None:
    expected, outputs = calm()
    store = MemoryStore()
    processor, emitted = opened(store)
    for start in range(0, len(LOG), size):
        emitted += processor.process(LOG[start : start + size])
        if start % 3 == 0:
            emitted += chain.from_iterable(processor.rate_again().values())
        assert counts_add_up(processor)
    emitted += chain.from_iterable(processor.rate_again().values())
    assert state_hash(store, [HOME]) == state_hash(expected, [HOME])
    assert rejected(emitted) == rejected(outputs)
    assert last(emitted, topics.CAMPAIGNS) == last(outputs, topics.CAMPAIGNS)
    means = [
        {key: msgspec.json.decode(value)["mean"] for key, value in last(found, topics.RATINGS).items()}
        for found in (emitted, outputs)
    ]
    assert means[0] == means[1]


@pytest.mark.long
@given(data=st.data())
def test_steps_batches_and_crashes_in_any_order_end_in_the_same_state(data: st.DataObject) -> None:
    expected, outputs = calm()
    store = MemoryStore()
    processor, emitted = opened(store)
    rerun = None
    steps = data.draw(st.lists(st.sampled_from(["batch", "batch", "step", "step", "stage", "finish", "crash"])))
    for step in [*steps, *["batch"] * 10]:
        if step == "batch":
            emitted += processor.process(LOG[processor.next_offset :][: data.draw(st.integers(1, 60))])
        elif step == "crash":
            (processor, unsent), rerun = opened(store), None
            emitted += unsent
        elif rerun is None:
            for name in processor.reruns.waiting():
                rerun = processor.reruns.begin(name, until=processor.next_offset)
        elif step == "step":
            end = min(processor.next_offset, rerun.next_offset + data.draw(st.integers(1, 80)))
            emitted += rerun.apply(LOG[rerun.next_offset : end])
        elif step == "stage" and not rerun.is_outdated:
            processor.reruns.stage(rerun)
        elif step == "finish" and rerun.next_offset == processor.next_offset and not rerun.begin_again_if_outdated():
            emitted += processor.reruns.finish(rerun, ())
            rerun = None
        assert counts_add_up(processor)
    emitted += processor.process(LOG[processor.next_offset :])
    emitted += chain.from_iterable(processor.rate_again().values())
    assert state_hash(store, [HOME]) == state_hash(expected, [HOME])
    assert rejected(emitted) == rejected(outputs)


@pytest.mark.parametrize("size", [1, 100])
def test_a_rejected_judgment_that_is_retracted_counts_as_retracted_and_all_others_are_emitted(size: int) -> None:
    one, other = (judgment(n, campaign=NAME, systems=("a",), ranks=None, score=1.0) for n in (900, 901))
    log = log_of([*MINE[:20], retract(1, judgments=(MINE[2].id,)), one, other, retract(2, judgments=(one.id,))])
    processor, emitted = opened(MemoryStore(), log)
    for start in range(0, len(log), size):
        emitted += processor.process(log[start : start + size])
        emitted += chain.from_iterable(processor.rate_again().values())
    counts = processor.campaigns[NAME].counts
    assert (counts.retracted, counts.rejected) == (2, 1)
    read_before_its_retraction = {21} if size == 1 else set()
    assert {offset for offset, _ in rejected(emitted)} == {22} | read_before_its_retraction


def test_a_new_owner_goes_on_from_what_was_staged_and_does_not_begin_again() -> None:
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG[: PLACE + 1])
    rerun = processor.reruns.begin(NAME, until=processor.next_offset)
    rerun.apply(LOG[:70])
    processor.reruns.stage(rerun)
    again, _ = opened(store)
    resumed = again.reruns.begin(NAME, until=again.next_offset)
    assert resumed.next_offset == 70
    with pytest.raises(Fenced):
        processor.reruns.stage(rerun)
    resumed.apply(LOG[70 : PLACE + 1])
    again.reruns.finish(resumed, ())
    assert state_hash(store, [HOME]) == state_hash(calm(LOG[: PLACE + 1])[0], [HOME])


def test_what_was_staged_without_a_later_retraction_is_not_used() -> None:
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG[: PLACE + 1])
    rerun = processor.reruns.begin(NAME, until=processor.next_offset)
    rerun.apply(LOG[:70])
    rerun.campaign.retractions = Retractions()
    processor.reruns.stage(rerun)
    assert processor.reruns.begin(NAME, until=processor.next_offset).next_offset == 0


def test_records_that_hide_the_name_in_an_escape_are_found() -> None:
    hidden = next(record.value for record in LOG[5:] if record.key == NAME.encode()) or b""
    escaped = hidden.replace(b'"campaign-1"', b'"campaign\\u002d1"')
    assert escaped != hidden
    log = [Record(each.offset, b"another", escaped) if each.value == hidden else each for each in LOG]
    plain, _ = calm()
    store, _ = calm(log)
    assert store.read(NAME) == plain.read(NAME)


@pytest.mark.parametrize("damage", ["row", "unreadable row", "meta"])
def test_a_corrupt_campaign_is_set_apart_and_rated_again(damage: str) -> None:
    store = MemoryStore()
    cut = PLACE
    processor, _ = opened(store)
    processor.process(LOG[:cut])
    kept = store._campaigns[NAME]
    if damage == "row":
        kept.tables["systems"].popitem()
    elif damage == "unreadable row":
        kept.tables["judges"][next(iter(kept.tables["judges"]))] = b"{"
    else:
        kept.meta = b"{"
    again, outputs = opened(store)
    outputs += again.snapshots()  # only a campaign that is loaded shows that a row can't be read
    assert again.reruns.waiting() == [NAME]
    status = msgspec.json.decode(last(outputs, topics.CAMPAIGNS)[NAME.encode()], type=events.CampaignStatus)
    assert status.quarantine is not None
    assert status.quarantine.cause == "corrupt"
    before = {table: dict(rows) for table, rows in kept.tables.items()}
    again.process(LOG[cut : cut + 20])
    assert kept.tables == before
    again.rate_again()
    assert state_hash(store, [HOME]) == state_hash(calm(LOG[: cut + 20])[0], [HOME])
    assert counts_add_up(again)
    again.process(LOG[cut + 20 :])
    again.rate_again()
    assert state_hash(store, [HOME]) == state_hash(calm()[0], [HOME])


def test_if_the_beginning_of_the_log_is_gone_a_retraction_is_refused() -> None:
    def gone(start: int, before: int) -> list[list[Record]]:
        raise HistoryGone(f"the log begins later than {start}, {before}")

    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS, read_log=gone)
    outputs = processor.process(LOG)
    assert processor.quarantined == {}
    assert (PLACE, "refused_command") in rejected(outputs)
    assert counts_add_up(processor)


def test_if_the_log_is_gone_a_corrupt_campaign_stays_set_apart_and_says_why() -> None:
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG[:PLACE])
    store._campaigns[NAME].tables["systems"].popitem()

    def gone(start: int, before: int) -> list[list[Record]]:
        raise HistoryGone(f"the log begins later than {start}, {before}")

    again, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=gone)
    again.rate_again()
    quarantine = again.quarantined[NAME].quarantine
    assert (quarantine.cause, quarantine.error) == ("corrupt", f"the log begins later than 0, {PLACE}")
    assert again.reruns.waiting() == []


def test_a_fault_in_the_code_during_a_rerun_makes_it_an_ordinary_quarantine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "faulty", faulty())
    sick = events.Create(id="c", campaign="sick", at=NOON, settings=events.CampaignSettings(model="faulty"))
    verdicts = [judgment(n, campaign="sick", systems=(f"s{n}", f"s{n + 1}")) for n in range(6)]
    well = [judgment(n, campaign="well") for n in range(4)]
    log = log_of([sick, *verdicts, *well, events.Retract(id="r", campaign="sick", at=NOON, judgments=("id-0",))])
    store = MemoryStore()
    processor, _ = opened(store, log)
    processor.process(log)
    monkeypatch.setitem(MODELS, "faulty", faulty("apply"))
    (output,) = processor.rate_again()["sick"]
    status = msgspec.json.decode(output.value, type=events.CampaignStatus)
    assert status.quarantine is not None
    assert status.quarantine.cause == "fault"
    assert "the model fails in apply" in status.quarantine.error
    assert processor.reruns.waiting() == []
    assert list(processor.campaigns) == ["well"]
    assert counts_add_up(processor)


def test_a_retraction_after_a_fault_that_only_a_whole_batch_shows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class OneByOne(TrueSkill):
        def apply(self, batch: JudgmentBatch) -> None:
            if len(batch) > 1:
                raise ZeroDivisionError
            super().apply(batch)

    expected, _ = calm()
    monkeypatch.setitem(MODELS, "trueskill", OneByOne)
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG)
    assert processor.reruns.waiting() == [NAME]
    monkeypatch.undo()
    processor.rate_again()
    assert state_hash(store, [HOME]) == state_hash(expected, [HOME])


def test_a_campaign_of_which_the_log_has_no_record_is_removed() -> None:
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG)
    store._campaigns[NAME].meta = b"{"
    log = [record if record.key != NAME.encode() else Record(record.offset, b"", b"{}") for record in LOG]
    again, _ = opened(store, log)
    again.rate_again()
    assert store.read(NAME) is None
    assert NAME not in store.list_campaigns([HOME])
    assert again.quarantined == {}


def test_an_embedded_stream_finishes_reruns_at_once() -> None:
    stream = Embedded(Settings(judge_key="key", batch_records=10))
    for record in LOG:
        stream.log.append("judgments.v1", record.key, record.value)
    stream.run()
    assert stream.campaign(NAME).counts.retracted > 2
    assert stream.counts().held == 0


def test_outstanding_requests_stay_and_answers_that_were_held_end_theirs() -> None:
    asking = events.Create(
        id="c", campaign="c", at=NOON, settings=events.CampaignSettings(systems=("a", "b", "x"), outstanding=2)
    )
    store = MemoryStore()
    log = log_of([asking, judgment(1), judgment(2)])
    processor, _ = opened(store, log)
    processor.process(log)
    one, two = processor.campaigns["c"].outstanding
    command = events.Retract(id="r", campaign="c", at=NOON, judgments=("id-1",))
    log += [
        Record(3 + number, b"c", encode(entry))
        for number, entry in enumerate((command, judgment(5, systems=("a", "x"), request=one)))
    ]
    processor.process(log[3:])
    processor.rate_again()
    outstanding = processor.campaigns["c"].outstanding
    assert one not in outstanding
    assert two in outstanding
    assert len(outstanding) == 2


def test_the_next_batch_finds_the_campaign_where_the_rerun_left_it() -> None:
    store = MemoryStore()
    processor, _ = opened(store)
    processor.process(LOG[: PLACE + 5])
    processor.rate_again()
    meta = store.read_meta(NAME)
    assert meta is not None
    assert int(store.read_head(NAME)["offset"]) == meta.offset
    processor.process(LOG[PLACE + 5 :])


def test_a_lost_campaign_that_another_partition_began_anew_does_not_stop_its_own() -> None:
    store, _ = calm()
    lose_table(store, NAME, "meta")
    other, _ = Processor.open("judgments.v1", 1, store, OPTIONS)
    other.process([Record(0, b"wrong key", encode(MINE[-1]))])
    processor, _ = opened(store)
    assert NAME not in processor.campaigns
    fresh = judgment(901, campaign="campaign-0", systems=("system-1", "system-2"))
    late = judgment(902, campaign=NAME, systems=("system-1", "system-2"))
    end = processor.next_offset
    outputs = processor.process([Record(end, b"", encode(fresh)), Record(end + 1, b"", encode(late))])
    assert processor.campaigns["campaign-0"].offset == end
    (forwarded,) = (output for output in outputs if output.topic == topics.JUDGMENTS.name)
    assert forwarded.partition == 1
