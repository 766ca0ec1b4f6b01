"""Suspended judges are left out from the beginning, and reinstated ones are back, to the last bit."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.core.campaign.retractions import Retractions
from streams.pipeline.embedded import Embedded
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.originals import without_judge
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.replay.erasing import Erasure
from streams.settings import Settings
from streams.stores.judges import find_judge
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import CampaignSettings, Rejection, encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Command, Judgment, Leaderboard

    Event = Judgment | Command

SETTINGS = Settings(judge_key="key", snapshot_judgments=0)
OPTIONS = ProcessorOptions.from_settings(SETTINGS)
HOME = "judgments.v1/0"
CROWD = [msgspec.structs.replace(each, campaign="c") for each in crowd_log(200, seed=3)]
ANNA, BERT = CROWD[0].judge, next(each.judge for each in CROWD if each.judge != CROWD[0].judge)


def pseudonym(judge: str) -> str:
    return Pseudonyms(b"key")[judge]


def suspend(number: int, *judges: str) -> events.SuspendJudges:
    return events.SuspendJudges(id=f"suspend-{number}", campaign="c", at=NOON, judges=judges or (ANNA,))


def reinstate(number: int, *judges: str) -> events.ReinstateJudges:
    return events.ReinstateJudges(id=f"reinstate-{number}", campaign="c", at=NOON, judges=judges or (ANNA,))


def streamed(log: Sequence[Event], *, batch: int = 50) -> Embedded:
    stream = Embedded(msgspec.structs.replace(SETTINGS, batch_records=batch))
    for event in log:
        stream.publish(event)
    stream.run()
    return stream


def board(log: Sequence[Event], *, batch: int = 50) -> Leaderboard:
    """Return the leaderboard without what counts records."""
    found = streamed(log, batch=batch).campaign("c").leaderboard()
    cautions = tuple(each for each in found.cautions if each.code != "left_out")
    return msgspec.structs.replace(found, sequence=0, offset=0, left_out={}, cautions=cautions)


def ratings(stream: Embedded) -> dict[str, tuple[float, float]]:
    return {each.system: (each.mean, each.deviation) for each in stream.campaign("c").ratings()}


def test_the_board_is_that_of_a_log_without_the_suspended_judges() -> None:
    log: list[Event] = [*CROWD[:100], suspend(1, ANNA, BERT), *CROWD[100:]]
    honest = [each for each in CROWD if each.judge not in (ANNA, BERT)]
    stream = streamed(log)
    assert board(log) == board(honest)
    assert ratings(stream) == ratings(streamed(honest))
    campaign = stream.campaign("c")
    assert campaign.counts.suspended == len(CROWD) - len(honest)
    assert campaign.counts.judgments == len(honest)
    assert campaign.status.suspended == (pseudonym(ANNA), pseudonym(BERT))
    assert stream.counts().applied == len(log)


def test_reinstating_gives_the_original_board_back() -> None:
    log: list[Event] = [*CROWD[:100], suspend(1), *CROWD[100:150], reinstate(1), *CROWD[150:]]
    assert board(log) == board(CROWD)
    assert ratings(streamed(log)) == ratings(streamed(CROWD))
    campaign = streamed(log).campaign("c")
    assert (campaign.counts.suspended, campaign.status.suspended) == (0, ())


@pytest.mark.parametrize("batch", [1, 50])
def test_a_judgment_that_has_no_room_after_a_reinstatement_gets_its_rejection(batch: int) -> None:
    one, other = judgment(0, judge="anna"), judgment(1, judge="bert")
    log: list[Event] = [one, suspend(1, "anna"), other, reinstate(1, "anna"), judgment(2)]
    stream = Embedded(msgspec.structs.replace(SETTINGS, batch_records=batch, max_judges=1))
    for event in log:
        stream.publish(event)
    stream.run()
    values = [record.value or b"" for record in stream.log.all(topics.REJECTED.name)]
    found = {(each.offset, each.reason) for each in (msgspec.json.decode(value, type=Rejection) for value in values)}
    assert found == {(2, "too_many_judges"), (4, "too_many_judges")}
    assert stream.counts().rejected == 2


def test_a_judge_who_opened_the_campaign_can_be_suspended() -> None:
    assert board([*CROWD, suspend(1)]).judgments == sum(each.judge != ANNA for each in CROWD)


def test_it_is_refused_if_it_changes_nothing() -> None:
    stream = streamed([*CROWD, reinstate(1), suspend(1), suspend(2), suspend(3, ANNA, BERT)])
    values = [record.value or b"" for record in stream.log.all(topics.REJECTED.name)]
    rejected = [msgspec.json.decode(value, type=events.Rejection) for value in values]
    assert [(each.judgment, each.message) for each in rejected] == [
        ("reinstate-1", "the judges are not suspended"),
        ("suspend-2", "the judges are suspended already"),
    ]
    assert stream.campaign("c").status.suspended == (pseudonym(ANNA), pseudonym(BERT))


def test_without_a_log_it_is_refused() -> None:
    campaign = Campaign("c")
    campaign.apply([0], [judgment(1)])
    (error,) = campaign.apply([1], [suspend(1, "judge")]).rejections.values()
    assert error.reason == "refused_command"
    assert campaign.status.suspended == ()


def test_a_suspended_judge_is_found_by_id_although_no_judgment_is_left() -> None:
    store = streamed([*CROWD, suspend(1)]).store
    found = find_judge(store, "c", ANNA, "key")
    assert found is not None
    assert str(found).endswith("has 0 judgments, and is suspended")


def test_a_rejected_command_does_not_show_the_ids_of_judges() -> None:
    original = without_judge(encode(suspend(1, ANNA, BERT)), Pseudonyms(b"key"))
    judges = msgspec.json.decode(original.value)["judges"]
    assert judges == [f"~{pseudonym(ANNA)}", f"~{pseudonym(BERT)}"]
    assert msgspec.json.decode(without_judge(b'{"judges":["x",3]}', Pseudonyms(b"key")).value) == {"judges": None}


def test_what_two_campaigns_know_can_be_joined_in_any_order() -> None:
    one = Retractions().extended(suspend(1, "a", "b"), 3).extended(reinstate(1, "a"), 5)
    other = Retractions().extended(suspend(2, "a"), 9)
    joined = one.joined(other)
    assert joined == other.joined(one)
    assert [joined.is_suspended(judge) for judge in "abc"] == [True, True, False]
    assert (joined.includes(one), one.includes(joined)) == (True, False)


# -- together with other commands ------------------------------------------------------------------------

JUDGES = sorted({each.judge for each in CROWD})[:3]
SHORT = CROWD[:12]
COMMANDS = st.one_of(
    st.tuples(st.sampled_from(["suspend", "reinstate"]), st.lists(st.sampled_from(JUDGES), min_size=1, unique=True)),
    st.tuples(st.sampled_from(["retract", "forget", "exclude", "include"]), st.sampled_from(JUDGES)),
    st.tuples(st.just("ids"), st.lists(st.sampled_from([each.id for each in SHORT]), min_size=1, max_size=3)),
    st.tuples(st.sampled_from(["delete", "create"]), st.none()),
)


def command(number: int, action: str, what: Any) -> Command:
    fields: dict[str, Any] = {"id": f"{action}-{number}", "campaign": "c", "at": NOON.replace(year=2030 + number)}
    if action in ("suspend", "reinstate"):
        kind = events.SuspendJudges if action == "suspend" else events.ReinstateJudges
        return kind(**fields, judges=tuple(what))
    kinds: dict[str, Any] = {
        "retract": events.Retract,
        "forget": events.ForgetJudge,
        "exclude": events.ExcludeJudge,
        "include": events.IncludeJudge,
    }
    if action in kinds:
        made: Command = kinds[action](**fields, judge=what)
        return made
    if action == "ids":
        return events.Retract(**fields, judgments=tuple(what))
    return events.Delete(**fields) if action == "delete" else events.Create(**fields)


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    log: list[Event] = [*SHORT]
    for number, (action, what) in enumerate(draw(st.lists(COMMANDS, max_size=6))):
        log.insert(draw(st.integers(1, len(log))), command(number, action, what))
    return log


def stored(log: Sequence[Event], *, batch: int, at_once: bool = False) -> MemoryStore:
    records = [Record(offset, b"c", encode(event)) for offset, event in enumerate(log)]
    store = MemoryStore()
    processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(records))
    for start in range(0, len(records), batch):
        processor.process(records[start : start + batch])
        if not at_once:
            list(chain.from_iterable(processor.rate_again().values()))
    list(chain.from_iterable(processor.rate_again().values()))
    return store


@settings(max_examples=30)
@given(logs(), st.integers(2, 12))
def test_with_other_commands_in_any_order_live_and_rebuilt_states_are_the_same(log: list[Event], batch: int) -> None:
    stores = [stored(log, batch=1), stored(log, batch=batch), stored(log, batch=batch, at_once=True)]
    stores.append(stored(log, batch=1000))
    assert len({state_hash(store, [HOME]) for store in stores}) == 1


@given(logs())
def test_a_suspended_judge_leaves_nothing_in_the_tables(log: list[Event]) -> None:
    store = stored(log, batch=7)
    meta, kept = store.read_meta("c"), store.read("c")
    assert meta is not None
    assert kept is not None
    assert set(meta.status.suspended).isdisjoint(kept.tables["judges"])
    assert meta.counts.records == len(log)


@given(logs())
def test_a_copy_of_the_log_gives_the_same_counts(log: list[Event]) -> None:
    records = [Record(offset, b"c", encode(event)) for offset, event in enumerate(log)]
    erasure = Erasure("key", max_bytes=1_000_000)
    for record in records:
        erasure.learn(record)
    copied = [Record(record.offset, *erasure.copy(record)) for record in records]
    assert b'"judge-' not in b"".join(record.value or b"" for record in copied)
    counts = []
    for each in (records, copied):
        store = MemoryStore()
        processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(each))
        processor.process(each)
        list(chain.from_iterable(processor.rate_again().values()))
        meta = store.read_meta("c")
        assert meta is not None
        counts.append(meta.counts)
    assert counts[0] == counts[1]


# -- defences in a rerun ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chosen",
    [
        CampaignSettings(repeat_votes="first", repeat_window=100),
        CampaignSettings(repeat_votes="last", repeat_window=100),
        CampaignSettings(judge_share=0.1),
        CampaignSettings(judge_per_minute=2, too_fast="reject", pace_clock="broker"),
    ],
    ids=["first", "last", "share", "pace"],
)
def test_a_rerun_and_a_rebuild_apply_each_defence_alike(chosen: CampaignSettings) -> None:
    repeated = [msgspec.structs.replace(each, id=f"{each.id}-again", ranks=each.ranks[::-1]) for each in CROWD[::3]]  # type: ignore[index]
    create = events.Create(id="create", campaign="c", at=NOON, settings=chosen)
    log: list[Event] = [create, *CROWD[:100], *repeated[:30], suspend(1), *CROWD[100:], *repeated[30:], reinstate(1)]
    # The broker wrote three records per second, whatever times they name.
    records = [Record(offset, b"c", encode(event), 1.9e9 + offset // 3) for offset, event in enumerate(log)]
    hashes = set()
    for batch in (1, 40, len(records)):
        store = MemoryStore()
        processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(records))
        for start in range(0, len(records), batch):
            processor.process(records[start : start + batch])
            list(chain.from_iterable(processor.rate_again().values()))
        hashes.add(state_hash(store, [HOME]))
        counts = processor.counts()
        assert counts.read == counts.applied + counts.rejected == len(log)
        campaign = processor.campaigns["c"].counts
        assert campaign.repeated + campaign.over_share + campaign.rejected > 10
    assert len(hashes) == 1


def test_the_pace_is_measured_by_the_time_of_the_broker() -> None:
    chosen = CampaignSettings(judge_per_minute=1, too_fast="reject", pace_clock="broker")
    log = [events.Create(id="x", campaign="c", at=NOON, settings=chosen), *(judgment(k, at=NOON) for k in range(3))]
    for seconds, rejected in ((1, 2), (60, 0)):
        records = [
            Record(offset, b"c", encode(event), NOON.timestamp() + seconds * offset) for offset, event in enumerate(log)
        ]
        processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS, read_log=log_reader(records))
        processor.process(records)
        assert processor.counts().rejected == rejected
    without = [Record(offset, b"c", encode(event)) for offset, event in enumerate(log)]
    processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), OPTIONS, read_log=log_reader(without))
    processor.process(without)
    assert processor.counts().rejected == 2, "without a broker it is the time of the judgment"
