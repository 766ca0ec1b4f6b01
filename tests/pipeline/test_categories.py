"""Leaderboards by category in the walk of a batch: replay equals live, and only what changed is emitted."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import CampaignSettings, Judgment, Leaderboard, encode
from streams.wire.scanner import kernels
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.outputs import Output

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key", snapshot_judgments=0))
HOME = "judgments.v1/0"
NAME = "campaign-0"
CREATE = events.Create(
    id="create", campaign=NAME, at=NOON, settings=CampaignSettings(boards=("language", "domain"), outstanding=2)
)
TAGS = ({"language": "de"}, None, {"language": "fr", "domain": "news"}, None, None, {"language": "de"})


def tag(log: Sequence[Judgment]) -> list[Judgment]:
    return [replace(each, tags=TAGS[place % len(TAGS)]) for place, each in enumerate(log)]


def log_of(entries: Iterable[Judgment | events.Command]) -> list[Record]:
    return [Record(offset, entry.campaign.encode(), encode(entry)) for offset, entry in enumerate(entries)]


def opened(log: Sequence[Record], store: MemoryStore) -> tuple[Processor, list[Output]]:
    processor, outputs = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(log))
    return processor, [*outputs]


def run(log: Sequence[Record], store: MemoryStore, *, size: int, restart: bool = False) -> list[Output]:
    """Process a log in batches, with a leaderboard after each, and maybe another worker for each."""
    processor, outputs = opened(log, store)
    for start in range(0, len(log), size):
        if restart:
            processor, more = opened(log, store)
            outputs += more
        outputs += processor.process(log[start : start + size])
        outputs += chain.from_iterable(processor.rate_again().values())
        outputs += processor.snapshots()
    return outputs


def newest(outputs: Iterable[Output]) -> dict[str, Leaderboard]:
    """Return what a compacted topic has: the last record of each key."""
    last = {(each.key or b"").decode(): each.value for each in outputs if each.topic == topics.LEADERBOARDS.name}
    return {key: msgspec.json.decode(value, type=Leaderboard) for key, value in last.items() if value}


CROWD = tag(crowd_log(360, seed=5))
LOG = log_of([CREATE, *CROWD])
KEYS = {NAME, f"{NAME}/language=de", f"{NAME}/language=fr", f"{NAME}/domain=news"}


@pytest.mark.parametrize(("size", "restart"), [(1, False), (40, False), (40, True), (361, False)])
def test_any_batches_and_restarts_give_the_same_state_and_boards(size: int, restart: bool) -> None:
    kernels.compiled("lines")  # so that judgments without tags are scanned, and the others decoded
    calm, other = MemoryStore(), MemoryStore()
    expected, found = newest(run(LOG, calm, size=100)), newest(run(LOG, other, size=size, restart=restart))
    assert found.keys() == expected.keys() == KEYS
    assert {key: board.rows for key, board in found.items()} == {key: board.rows for key, board in expected.items()}
    assert state_hash(calm, [HOME]) == state_hash(other, [HOME])


def test_a_board_that_has_not_changed_is_not_emitted_again() -> None:
    processor, _ = opened(LOG, MemoryStore())
    processor.process(LOG[:100])
    assert newest(processor.snapshots()).keys() == KEYS
    german = log_of([*[CREATE] * 100, replace(judgment(9999, campaign=NAME), tags={"language": "de"})])[100:]
    processor.process([record._replace(offset=100) for record in german])
    assert newest(processor.snapshots()).keys() == {NAME, f"{NAME}/language=de"}
    assert newest(processor.snapshots()) == {}


def test_all_boards_are_repeated_after_late_outputs() -> None:
    processor, _ = opened(LOG, MemoryStore())
    processor.process(LOG)
    expected = newest(processor.snapshots())
    assert newest(processor.boards.present_outputs([NAME])) == expected


def test_retracted_judgments_leave_their_boards_and_an_empty_one_is_removed() -> None:
    news = [each.id for each in CROWD if (each.tags or {}).get("domain") == "news"]
    german = next(each.id for each in CROWD if (each.tags or {}).get("language") == "de")
    ids = (*news, german)
    log = log_of([CREATE, *CROWD[:200], events.Retract(id="r", campaign=NAME, at=NOON, judgments=ids), *CROWD[200:]])
    without = log_of([CREATE, *(each for each in CROWD if each.id not in ids)])
    expected = newest(run(without, MemoryStore(), size=50))
    assert expected.keys() == {NAME, f"{NAME}/language=de"}
    for size in (30, 1000):
        found = newest(run(log, MemoryStore(), size=size))
        assert {key: board.rows for key, board in found.items()} == {key: each.rows for key, each in expected.items()}


def test_a_suspended_judge_frees_the_values_that_only_they_used() -> None:
    spam = [replace(judgment(5000 + k, campaign=NAME, judge="spam"), tags={"language": f"x{k}"}) for k in range(60)]
    late = [replace(each, tags={"language": "late"}) for each in crowd_log(20, seed=8)]
    suspend = events.SuspendJudges(id="s", campaign=NAME, at=NOON, judges=("spam",))
    late = [replace(each, id=f"late-{each.id}") for each in late]
    outputs = run(log_of([CREATE, *spam, *late, suspend]), MemoryStore(), size=1000)
    assert newest(outputs).keys() == {NAME, f"{NAME}/language=late"}


def test_a_deleted_campaign_leaves_no_board() -> None:
    delete = events.Delete(id="d", campaign=NAME, at=NOON)
    log = log_of([CREATE, *CROWD[:60], delete])
    assert newest(run(log, MemoryStore(), size=20)) == {}
    held = log_of([CREATE, *CROWD[:60], events.Retract(id="r", campaign=NAME, at=NOON, judge="judge-1"), delete])
    processor, outputs = opened(held, MemoryStore())
    outputs += processor.process(held[:-1])
    outputs += processor.snapshots()
    outputs += processor.process(held[-1:])  # deleted while it waits to be rated again
    assert newest(outputs) == {}


def test_a_campaign_that_is_created_again_has_its_boards_again() -> None:
    later = NOON + timedelta(days=1)
    delete = events.Delete(id="d", campaign=NAME, at=later)
    again = replace(CREATE, id="again", at=later + timedelta(seconds=1))
    repeat = [replace(each, id=f"again-{each.id}", at=later + timedelta(seconds=2)) for each in CROWD[:60]]
    log = log_of([CREATE, *CROWD[:60], delete, again, *repeat])
    store = MemoryStore()
    processor, outputs = opened(log, store)
    for first, last in ((0, 61), (61, len(log))):
        outputs += processor.process(log[first:last])
        outputs += processor.snapshots()
    assert newest(outputs).keys() == KEYS


def test_an_excluded_judge_counts_on_no_board_from_then_on() -> None:
    judge = CROWD[0].judge
    exclude = events.ExcludeJudge(id="e", campaign=NAME, at=NOON, judge=judge)
    log = log_of([CREATE, *CROWD[:100], exclude, *CROWD[100:]])
    counted = [*CROWD[:100], *(each for each in CROWD[100:] if each.judge != judge)]
    expected = newest(run(log_of([CREATE, *counted]), MemoryStore(), size=1000))
    found = newest(run(log, MemoryStore(), size=7))
    assert {key: board.rows for key, board in found.items()} == {key: board.rows for key, board in expected.items()}


def test_many_categories_are_not_settled_while_a_batch_waits() -> None:
    options = ProcessorOptions.from_settings(Settings(judge_key="key", snapshot_judgments=10))
    for values, at_once in ((15, True), (16, False)):
        many = [replace(each, tags={"language": f"l{k % values}"}) for k, each in enumerate(CROWD[:40])]
        log = log_of([CREATE, *many])
        processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), options, read_log=log_reader(log))
        outputs = processor.process(log)
        assert bool(newest(outputs)) == at_once
        assert len(newest((*outputs, *processor.snapshots()))) == 1 + values


def test_a_campaign_that_rested_goes_on() -> None:
    store = MemoryStore()
    processor, outputs = opened(LOG, store)
    outputs += processor.process(LOG[:150])
    outputs += processor.snapshots()
    outputs += processor.rest(1e9)
    outputs += processor.process(LOG[150:])
    outputs += processor.snapshots()
    expected = newest(run(LOG, MemoryStore(), size=1000))
    found = newest(outputs)
    assert {key: board.rows for key, board in found.items()} == {key: board.rows for key, board in expected.items()}


def test_boards_cost_nothing_where_nobody_asked_for_them() -> None:
    log = log_of(CROWD)
    store = MemoryStore()
    outputs = run(log, store, size=100)
    stored = store.read(NAME)
    assert stored is not None
    assert stored.tables["categories"] == {}
    assert newest(outputs).keys() == {NAME}
