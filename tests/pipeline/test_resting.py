"""Idle campaigns leave memory and come back with their next record. It does not show in the state or in the outputs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign.quarantined import QuarantinedCampaign
from streams.errors import Conflict, Fenced
from streams.pipeline import partition_boards, partition_campaigns
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.pipeline.resting import LastUses
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.stores.losses import lose_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.core.campaign.state import StoredCampaign
    from streams.wire.outputs import Output

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))
EAGER = replace(OPTIONS, idle_seconds=0.0)
HOME = "judgments.v1/0"
NAMES = ["campaign-0", "campaign-1", "campaign-2"]


def log_of(entries: Iterable[events.Judgment | events.Command]) -> list[Record]:
    return [Record(offset, entry.campaign.encode(), encode(entry)) for offset, entry in enumerate(entries)]


CROWD = crowd_log(240, campaigns=3, seed=7, ways=3, systems=6)
SETTINGS = events.CampaignSettings(outstanding=3, judge_per_minute=9, too_fast="flag", replicas=40)
LOG = log_of(
    [
        events.Create(id="create", campaign="campaign-0", at=NOON, settings=SETTINGS),
        *CROWD[:120],
        CROWD[3],  # a duplicate
        events.Retract(id="retract", campaign="campaign-1", at=NOON, judgments=(CROWD[4].id,)),
        *CROWD[120:150],
        judgment(900, campaign="campaign-2", systems=("a",), ranks=None, score=1.0),  # rejected
        events.ExcludeJudge(id="exclude", campaign="campaign-1", at=NOON, judge=CROWD[0].judge),
        *CROWD[150:],
    ]
)


def opened(store: MemoryStore, options: ProcessorOptions = OPTIONS) -> Processor:
    return Processor.open("judgments.v1", 0, store, options, read_log=log_reader(LOG))[0]


def run(options: ProcessorOptions, size: int) -> tuple[dict[str, StoredCampaign | None], Counter[Output], Processor]:
    """Process the log in batches, and rest after each one."""
    store, clock = MemoryStore(), count()
    outputs: Counter[Output] = Counter()
    processor = opened(store, options)
    for start in range(0, len(LOG), size):
        outputs.update(processor.process(LOG[start : start + size]))
        outputs.update(chain.from_iterable(processor.rate_again().values()))
        outputs.update(processor.rest(float(next(clock))))
    return {name: store.read(name) for name in NAMES}, outputs, processor


def without_boards(outputs: Counter[Output]) -> Counter[Output]:
    return Counter({output: number for output, number in outputs.items() if output.topic != topics.LEADERBOARDS.name})


def boards(outputs: Iterable[Output]) -> dict[str, int]:
    """Return the sequences of leaderboards, by campaign."""
    found = [output for output in outputs if output.topic == topics.LEADERBOARDS.name]
    decoded = [msgspec.json.decode(output.value, type=events.Leaderboard) for output in found]
    return {board.campaign: board.sequence for board in decoded}


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_state_and_outputs_are_the_same_if_campaigns_rest_after_every_batch(size: int) -> None:
    state, outputs, processor = run(OPTIONS, size)
    rested, rested_outputs, rested_processor = run(EAGER, size)
    assert (len(processor.campaigns), len(rested_processor.campaigns)) == (3, 0)
    assert rested == state
    assert without_boards(rested_outputs) == without_boards(outputs)
    assert rested_processor.counts() == processor.counts()
    assert boards(rested_outputs) == boards((*outputs, *processor.snapshots()))
    rested_processor.verify()


def test_the_least_recently_used_campaigns_leave_beyond_the_bound() -> None:
    processor = opened(MemoryStore(), replace(OPTIONS, max_loaded_campaigns=2))
    processor.process(LOG[:121])
    processor.process(log_of([*CROWD[:121], CROWD[0]])[121:])
    processor.rest(0.0)
    assert sorted(processor.campaigns) == ["campaign-0", "campaign-2"]
    assert processor.campaign_names == NAMES


def test_memory_holds_no_more_campaigns_than_the_bound_however_many_there_are() -> None:
    processor = opened(MemoryStore(), replace(OPTIONS, max_loaded_campaigns=10))
    log = log_of(judgment(number, campaign=f"c-{number % 150}") for number in range(300))
    for start in range(0, len(log), 20):
        processor.process(log[start : start + 20])
        processor.rest(0.0)
        assert len(processor.campaigns) == 10
    assert len(processor.campaign_names) == 150
    assert processor.counts().applied == 300


def test_only_a_campaign_without_records_for_a_while_leaves() -> None:
    processor = opened(MemoryStore(), replace(OPTIONS, idle_seconds=60.0))
    processor.process(LOG[:121])
    processor.rest(1000.0)
    processor.process(log_of([*CROWD[:121], CROWD[0]])[121:])
    processor.rest(1060.0)
    assert list(processor.campaigns) == ["campaign-0"]


def test_a_new_owner_loads_no_campaign_and_knows_all_counts() -> None:
    store = MemoryStore()
    former = opened(store)
    former.process(LOG[:121])
    processor = opened(store)
    assert processor.campaigns == {}
    assert processor.campaign_names == NAMES
    assert processor.counts() == former.counts()
    with pytest.raises(Fenced):
        former.process(LOG[121:])


def test_a_new_owner_emits_the_leaderboards_of_all_campaigns_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_boards, "MOST_VISITS", 2)
    store = MemoryStore()
    former = opened(store)
    former.process(LOG[:121])
    processor = opened(store)
    first, second, third = (boards(processor.snapshots()) for _ in range(3))
    assert (len(first), len(second), len(third)) == (2, 1, 0)
    assert first | second == boards(former.snapshots())
    assert processor.campaigns == {}


def test_outputs_can_be_repeated_for_campaigns_that_rest() -> None:
    store = MemoryStore()
    former = opened(store)
    former.process(LOG[:121])
    processor = opened(store)
    assert processor.boards.present_outputs(NAMES) == former.boards.present_outputs(NAMES)
    assert processor.campaigns == {}


def test_a_loss_in_a_campaign_that_rests_is_noticed() -> None:
    store = MemoryStore()
    processor = opened(store, EAGER)
    processor.process(LOG[:121])
    processor.rest(0.0)
    lose_table(store, "campaign-1", "judges")
    with pytest.raises(Conflict, match="campaign-1"):
        processor.verify()
    with pytest.raises(Conflict, match="judges has 0 rows"):
        processor.process(LOG[121:])
    again = opened(store)
    assert list(again.quarantined) == ["campaign-1"]


def test_with_many_campaigns_that_rest_each_check_looks_at_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_campaigns, "MOST_VERIFIED", 1)
    store = MemoryStore()
    opened(store).process(LOG[:121])
    processor = opened(store)
    lose_table(store, "campaign-2", "judges")
    for _ in range(2):  # there is another round
        processor.verify()
        processor.verify()
        with pytest.raises(Conflict, match="campaign-2"):
            processor.verify()


def test_a_campaign_that_another_owner_has_written_meanwhile_is_a_conflict() -> None:
    store = MemoryStore()
    processor = opened(store, EAGER)
    processor.process(LOG[:121])
    processor.rest(0.0)
    store._campaigns["campaign-0"].offset = 7
    with pytest.raises(Conflict, match="campaign-0"):
        processor.process(LOG[121:])


def test_a_row_that_cannot_be_read_quarantines_the_campaign_with_its_next_record() -> None:
    store = MemoryStore()
    processor = opened(store, EAGER)
    processor.process(LOG[:121])
    processor.rest(0.0)
    rows = store._campaigns["campaign-1"].tables["judges"]
    rows[next(iter(rows))] = b"{"
    outputs = processor.process(log_of([*CROWD[:121], CROWD[1]])[121:])
    assert isinstance(processor.quarantined["campaign-1"], QuarantinedCampaign)
    (status,) = [output for output in outputs if output.topic == topics.CAMPAIGNS.name]
    assert b'"cause":"corrupt"' in status.value
    assert processor.snapshots() == ()


class Counted(set[str]):
    """Names, and how often one was looked up."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


def test_the_campaigns_that_are_neither_used_nor_idle_are_not_looked_at() -> None:
    uses, names = LastUses(most=1000, idle_seconds=60.0), Counted(map(str, range(1000)))
    for name in sorted(names):
        uses.add(name)
    assert uses.find_idle(0.0, among=names) == []
    names.asked = 0
    uses.add("7")
    assert uses.find_idle(1.0, among=names) == []
    assert names.asked < 5
    assert set(uses.find_idle(60.5, among=names)) == names - {"7"}


def test_a_campaign_that_has_left_in_another_way_takes_no_place_and_is_forgotten() -> None:
    uses = LastUses(most=2, idle_seconds=60.0)
    for name in ("a", "b", "c"):
        uses.add(name)
    assert uses.find_idle(0.0, among={"b", "c"}) == []
    uses.add("d")
    assert uses.find_idle(1.0, among={"b", "c", "d"}) == ["b"]
    assert uses.find_idle(60.0, among={"a", "c", "d"}) == ["c"]
