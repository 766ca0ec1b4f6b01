"""A campaign is archived or deleted by a command of its log: what is left, what is emitted, and how a replay ends."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign.state import CampaignMeta, Counts, decode_meta
from streams.core.models import MODELS
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.outputs import Output

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))
HOME = "judgments.v1/0"
NAME = "campaign-1"
LATER = NOON + timedelta(hours=1)
CROWD = crowd_log(120, campaigns=3, seed=3)
MINE = [entry for entry in CROWD if entry.campaign == NAME]
DELETE = events.Delete(id="delete", campaign=NAME, at=LATER)
ARCHIVE = events.Archive(id="archive", campaign=NAME, at=LATER)
CREATE = events.Create(id="create", campaign=NAME, at=NOON)
ANEW = events.Create(id="anew", campaign=NAME, at=LATER + timedelta(seconds=1))


def log_of(*entries: events.Judgment | events.Command) -> list[Record]:
    return [Record(offset, entry.campaign.encode(), encode(entry)) for offset, entry in enumerate(entries)]


def retract(number: int, *judgments: str) -> events.Retract:
    return events.Retract(id=f"retract-{number}", campaign=NAME, at=NOON, judgments=judgments)


def run(log: Sequence[Record], *, size: int = 1000, store: MemoryStore | None = None) -> tuple[Processor, list[Output]]:
    """Process a log in batches."""
    processor, opening = Processor.open("judgments.v1", 0, store or MemoryStore(), OPTIONS, read_log=log_reader(log))
    outputs = [*opening]
    for start in range(processor.next_offset, len(log), size):
        outputs += processor.process(log[start : start + size])
        outputs += chain.from_iterable(processor.rate_again().values())
        outputs += processor.rest(float(start))
    return processor, outputs


def meta(store: MemoryStore) -> CampaignMeta:
    stored = store.read(NAME)
    assert stored is not None
    return decode_meta(NAME, stored.meta)


def newest(outputs: Iterable[Output], topic: topics.Topic) -> dict[bytes | None, bytes]:
    """Return the last value of each key of this campaign."""
    found = {output.key: output.value for output in outputs if output.topic == topic.name}
    return {key: value for key, value in found.items() if (key or b"").startswith(NAME.encode())}


def reasons(outputs: Iterable[Output]) -> list[tuple[str, str]]:
    found = [output for output in outputs if output.topic == topics.REJECTED.name]
    return [
        (rejection.reason, rejection.message)
        for rejection in (msgspec.json.decode(output.value, type=events.Rejection) for output in found)
    ]


def test_an_archived_campaign_is_closed_for_ever_and_leaves_memory_at_once() -> None:
    store = MemoryStore()
    processor, outputs = run(log_of(CREATE, *CROWD, ARCHIVE), store=store)
    assert NAME not in processor.campaigns
    assert "campaign-0" in processor.campaigns
    assert meta(store).status.state == "archived"
    assert store.read_meta(NAME) is not None
    (board,) = newest(outputs, topics.LEADERBOARDS).values()
    assert msgspec.json.decode(board, type=events.Leaderboard).judgments == len(MINE)
    late = judgment(999, campaign=NAME)
    pause = events.Pause(id="pause", campaign=NAME, at=LATER)
    _, more = run(log_of(CREATE, *CROWD, ARCHIVE, late, pause), store=store)
    assert reasons(more) == [
        ("campaign_closed", f"the campaign {NAME!r} is archived"),
        ("refused_command", f"the campaign {NAME!r} is archived"),
    ]


@pytest.mark.parametrize("first", [ARCHIVE, events.Close(id="close", campaign=NAME, at=LATER)])
def test_a_campaign_that_has_ended_can_be_deleted(first: events.Command) -> None:
    store = MemoryStore()
    run(log_of(CREATE, *CROWD, first, DELETE), store=store)
    assert meta(store).status.state == "deleted"


def test_a_closed_campaign_can_be_archived() -> None:
    store = MemoryStore()
    run(log_of(CREATE, *CROWD, events.Close(id="close", campaign=NAME, at=LATER), ARCHIVE), store=store)
    assert meta(store).status.state == "archived"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_of_a_deleted_campaign_only_a_stub_is_left(size: int) -> None:
    store = MemoryStore()
    log = log_of(CREATE, *CROWD, MINE[0], DELETE, *CROWD[:3])
    processor, outputs = run(log, store=store, size=size)
    stored = store.read(NAME)
    assert stored is not None
    assert (set(map(len, stored.tables.values())), stored.scores) == ({0}, {})
    assert stored.seen == ("command:delete",)
    found = meta(store)
    assert (found.status.state, found.outstanding) == ("deleted", ())
    assert found.counts == Counts(deleted=len(MINE) + 2, commands=1, rejected=1)
    counts = processor.counts()
    assert sum(counts[1:]) == counts.read == len(log)
    assert ("campaign_closed", f"the campaign {NAME!r} was deleted; `create` begins a new one") in reasons(outputs)
    systems = {system for entry in MINE for system in entry.systems}
    assert newest(outputs, topics.RATINGS) == {f"{NAME}/{system}".encode(): b"" for system in systems}
    assert newest(outputs, topics.CAMPAIGNS) == {NAME.encode(): b""}
    assert newest(outputs, topics.LEADERBOARDS) in ({NAME.encode(): b""}, {})
    statuses = [output.value for output in outputs if output.topic == topics.CAMPAIGNS.name and output.value]
    assert any(b'"deleted"' in value and b'"command":"delete"' in value for value in statuses)
    assert all(output.key != NAME.encode() for output in processor.snapshots())
    again, _ = run(log, store=store)
    assert all(output.key != NAME.encode() for output in again.snapshots())
    assert newest(again.boards.present_outputs([NAME]), topics.CAMPAIGNS) == {NAME.encode(): b""}


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_new_campaign_of_the_same_name_begins_from_nothing(size: int) -> None:
    store, fresh = MemoryStore(), MemoryStore()
    log = log_of(CREATE, *CROWD, retract(1, MINE[3].id), DELETE, ANEW, *CROWD)
    run(log, store=store, size=size)
    run(log_of(ANEW, *CROWD), store=fresh)
    left, wanted = store.read(NAME), fresh.read(NAME)
    assert left is not None
    assert wanted is not None
    assert {name: len(rows) for name, rows in left.tables.items()} == {n: len(r) for n, r in wanted.tables.items()}
    assert left.scores == wanted.scores
    assert left.problem is None
    assert meta(store).counts == Counts(deleted=len(MINE) + 2, commands=2, judgments=len(MINE))


def test_neither_a_judgment_nor_a_repeated_create_begins_it_anew() -> None:
    store = MemoryStore()
    repeated = msgspec.structs.replace(CREATE, id="repeated")
    _, outputs = run(log_of(CREATE, *MINE, DELETE, CREATE, repeated, DELETE, *MINE), store=store)
    found = meta(store)
    assert found.status.state == "deleted"
    # The second deletion has the same id as the first: it is a duplicate.
    assert found.counts == Counts(deleted=len(MINE) + 1, commands=1, duplicates=1, rejected=2 + len(MINE))
    assert [reason for reason, _ in reasons(outputs)].count("refused_command") == 2
    assert any("and this command is not newer" in message for _, message in reasons(outputs))


LIVES = log_of(
    CREATE,
    *CROWD[:60],
    retract(1, MINE[2].id),
    *CROWD[60:90],
    DELETE,
    ANEW,
    *CROWD,
    retract(2, MINE[4].id),
    *CROWD[:9],
)


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_retractions_before_and_after_a_deletion_end_as_in_a_calm_run(size: int) -> None:
    one, two = MemoryStore(), MemoryStore()
    run(LIVES, store=one, size=size)
    run(LIVES, store=two, size=1000)
    assert state_hash(one, [HOME]) == state_hash(two, [HOME])
    assert meta(one).counts.retracted == 1
    assert meta(one).retractions.ids == (MINE[4].id,)


def test_a_rerun_that_was_interrupted_after_a_deletion_goes_on() -> None:
    store, calm = MemoryStore(), MemoryStore()
    run(LIVES, store=calm)
    processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(LIVES))
    for start in range(0, len(LIVES), 50):
        processor.process(LIVES[start : start + 50])
        if start < 150:
            processor.rate_again()
    for cut in (30, 95, 110, 200):
        rerun = processor.reruns.begin(NAME, until=processor.next_offset)
        rerun.apply(LIVES[rerun.next_offset : cut])
        processor.reruns.stage(rerun)
        rerun.apply(LIVES[rerun.next_offset : cut + 5])
        processor.reruns.stage(rerun)
        assert processor.reruns.begin(NAME, until=processor.next_offset).next_offset >= cut or rerun.is_outdated
        processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(LIVES))
    processor.rate_again()
    assert state_hash(store, [HOME]) == state_hash(calm, [HOME])


class TestInQuarantine:
    log = log_of(
        events.Create(id="create", campaign=NAME, at=NOON, settings=events.CampaignSettings(model="faulty")),
        *CROWD[:60],
        DELETE,
        ANEW,
        *CROWD[60:],
    )

    @pytest.mark.parametrize("size", [1, 7, 1000])
    def test_it_can_be_deleted_and_ends_as_if_there_had_been_no_fault(
        self, monkeypatch: pytest.MonkeyPatch, size: int
    ) -> None:
        monkeypatch.setitem(MODELS, "faulty", MODELS["trueskill"])
        calm, store = MemoryStore(), MemoryStore()
        run(self.log, store=calm)
        monkeypatch.setitem(MODELS, "faulty", faulty("apply"))
        processor, outputs = run(self.log, store=store, size=size)
        assert processor.quarantined == {}
        assert sum(processor.counts()[1:]) == processor.counts().read == len(self.log)
        assert state_hash(store, [HOME]) == state_hash(calm, [HOME])
        (value,) = newest(outputs, topics.CAMPAIGNS).values()
        assert msgspec.json.decode(value, type=events.CampaignStatus).command == "anew"

    def test_its_ratings_get_tombstones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(MODELS, "faulty", faulty())
        store = MemoryStore()
        log = [record for record in self.log if b'"anew"' not in (record.value or b"")]
        cut = 40
        _, first = run(log[:cut], store=store)
        monkeypatch.setitem(MODELS, "faulty", faulty("apply"))
        processor, more = run(log, store=store, size=10)
        rated = newest(first, topics.RATINGS)
        assert rated
        assert newest([*first, *more], topics.RATINGS) == dict.fromkeys(rated, b"")
        assert processor.quarantined == {}

    def test_a_fault_after_the_deletion_quarantines_the_new_campaign(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(MODELS, "faulty", faulty("apply"))
        anew = msgspec.structs.replace(ANEW, settings=events.CampaignSettings(model="faulty"))
        log = log_of(
            msgspec.structs.replace(CREATE, settings=events.CampaignSettings(model="faulty")),
            *MINE,
            DELETE,
            anew,
            *MINE,
        )
        store = MemoryStore()
        run(log[: len(MINE)], store=store)
        processor, _ = run(log, store=store)
        quarantine = processor.quarantined[NAME].quarantine
        assert quarantine.offset >= len(MINE) + 3
        assert sum(processor.counts()[1:]) == processor.counts().read == len(log)

    def test_its_rerun_ends(self) -> None:
        store = MemoryStore()
        log = log_of(CREATE, *CROWD, retract(1, MINE[0].id), DELETE)
        processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS, read_log=log_reader(log))
        processor.process(log[:-1])
        rerun = processor.reruns.begin(NAME, until=processor.next_offset)
        rerun.apply(log[:50])
        processor.reruns.stage(rerun)
        assert processor.reruns.is_needed(rerun)
        processor.process(log[-1:])
        assert not processor.reruns.is_needed(rerun)
        assert NAME not in store._staged
        processor.reruns.drop(rerun)
        assert processor.reruns.fail(NAME, ZeroDivisionError()) == ()
        assert meta(store).status.state == "deleted"
