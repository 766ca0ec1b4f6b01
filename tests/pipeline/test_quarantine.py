"""An unexpected error in the code of one campaign: it alone is quarantined, and its neighbours do not notice."""

from __future__ import annotations

import logging
from itertools import pairwise

import msgspec
import pytest

from streams.core.campaign.board import BoardDraft
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.state import CampaignMeta, StoredCampaign
from streams.core.models import MODELS, JudgmentBatch
from streams.core.models.trueskill import TrueSkill
from streams.errors import BrokerUnavailable, Conflict, StoreUnavailable
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.base import Lease
from streams.stores.commit import Outcomes
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import CampaignSettings, CampaignStatus, encode
from streams.wire.outputs import Output
from tests.builders import NOON, judgment
from tests.faulty_model import faulty

OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key", snapshot_judgments=0))
PARTITION = "judgments.v1/0"
SICK, WELL = "sick", ("well-1", "well-2")
FIFTH = 40  # the number of the sick campaign's judgment with a fifth system
ROUNDS = 60


def create(campaign: str, **settings: object) -> events.Create:
    return events.Create(
        id=f"create-{campaign}",
        campaign=campaign,
        at=NOON,
        settings=CampaignSettings(model="faulty", **settings),  # type: ignore[arg-type]
    )


def verdict(number: int, campaign: str) -> events.Judgment:
    first, second = number % 4, (number + 1 + number // 4 % 3) % 4
    systems = (f"s{first}", "s4" if number == FIFTH and campaign == SICK else f"s{second}")
    return judgment(number, campaign=campaign, systems=systems, judge=f"j{number % 3}", segment=f"t{number % 5}")


def log_of(*entries: events.Judgment | events.Command) -> list[Record]:
    return [Record(offset, entry.campaign.encode(), encode(entry)) for offset, entry in enumerate(entries)]


# Three campaigns in one partition, in turn.
LOG = log_of(
    *(create(name) for name in (SICK, *WELL)),
    *(verdict(number, name) for number in range(ROUNDS) for name in (SICK, *WELL)),
)
PLACE = next(record.offset for record in LOG if b'"s4"' in (record.value or b""))


@pytest.fixture(autouse=True)
def _fault_in_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "faulty", faulty("apply"))


def opened(store: MemoryStore | None = None, options: ProcessorOptions = OPTIONS) -> Processor:
    return Processor.open("judgments.v1", 0, store or MemoryStore(), options)[0]


def run(log: list[Record], *, size: int = 1000, store: MemoryStore | None = None) -> tuple[Processor, list[Output]]:
    processor = opened(store)
    outputs: list[Output] = []
    for start, end in pairwise([*range(0, len(log), size), len(log)]):
        outputs += processor.process(log[start:end])
        assert sum(processor.counts()[1:]) == processor.counts().read == end
    return processor, outputs


def stored(store: MemoryStore, name: str) -> StoredCampaign:
    found = store.read(name)
    assert found is not None
    return found


def meta(store: MemoryStore, name: str = SICK) -> CampaignMeta:
    found = store.read_meta(name)
    assert found is not None
    return found


def statuses(outputs: list[Output] | tuple[Output, ...]) -> list[CampaignStatus]:
    return [
        msgspec.json.decode(output.value, type=CampaignStatus)
        for output in outputs
        if output.topic == topics.CAMPAIGNS.name
    ]


def test_the_neighbours_end_as_if_there_were_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    processor, _ = run(LOG, size=50, store=store)
    monkeypatch.setitem(MODELS, "faulty", faulty())
    healthy = MemoryStore()
    run(LOG, size=50, store=healthy)
    assert sorted(processor.campaigns) == list(WELL)
    assert list(processor.quarantined) == [SICK]
    for name in WELL:
        assert stored(store, name) == stored(healthy, name)
    assert stored(store, SICK) != stored(healthy, SICK)


def test_what_was_applied_stays_and_the_rest_is_held_and_counted() -> None:
    store = MemoryStore()
    processor, outputs = run(LOG, store=store)
    found = meta(store)
    assert found.status.quarantine is not None
    assert found.status.quarantine.offset == PLACE
    assert found.status.quarantine.error.startswith(
        "ZeroDivisionError: the model fails in apply, in tests.faulty_model, line "
    )
    assert (found.counts.judgments, found.counts.commands, found.counts.held) == (FIFTH, 1, ROUNDS - FIFTH)
    assert found.offset == LOG[-3].offset
    assert processor.counts() == Outcomes(read=183, applied=163, held=20)
    before = Campaign(SICK, options=OPTIONS.campaign)
    mine = [msgspec.json.decode(record.value or b"", type=events.Judgment) for record in LOG[3:PLACE:3]]
    before.apply([0, *range(3, PLACE, 3)], [create(SICK), *mine], origin=PARTITION)
    restored = Campaign.restore(SICK, stored(store, SICK))
    assert restored.leaderboard().rows == before.leaderboard().rows
    assert restored.leaderboard().offset == PLACE - 1
    assert restored.leaderboard().sequence == FIFTH + 1
    assert [(status.campaign, status.quarantine is None) for status in statuses(outputs)] == [
        (SICK, True),
        (SICK, False),
        *((name, True) for name in WELL),
    ]


@pytest.mark.parametrize("size", [1, 7, 40])
def test_the_place_is_the_same_with_any_size_of_batches(size: int) -> None:
    store, other = MemoryStore(), MemoryStore()
    run(LOG, store=store)
    _, outputs = run(LOG, size=size, store=other)
    one, two = stored(store, SICK), stored(other, SICK)
    assert one.tables == two.tables
    assert one.seen == two.seen
    assert msgspec.structs.replace(meta(store), outstanding=()) == msgspec.structs.replace(meta(other), outstanding=())
    assert sum(status.quarantine is not None for status in statuses(outputs)) == 1


def test_a_restart_keeps_the_quarantine_and_holds_what_comes(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    cut = PLACE + 10
    run(LOG[:cut], store=store)
    caplog.clear()
    again = opened(store)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "judgestream rebuild sick" in caplog.text
    again.process(LOG[cut:])
    assert list(again.quarantined) == [SICK]
    assert again.counts() == Outcomes(read=183, applied=163, held=20)
    through = MemoryStore()
    run(LOG, store=through)
    assert meta(store).counts == meta(through).counts
    assert meta(store).status == meta(through).status


def test_records_that_are_read_again_are_not_held_twice() -> None:
    store = MemoryStore()
    processor, _ = run(LOG, store=store)
    kept = meta(store)
    processor.next_offset = 0  # as a partition whose head is behind its campaigns, on a cluster
    commit = processor.prepare(LOG)
    assert commit.outcomes == Outcomes(read=183, duplicate=183)
    assert meta(store) == kept


def test_it_is_logged_once_with_the_traceback_and_the_name(caplog: pytest.LogCaptureFixture) -> None:
    run(LOG, size=10)
    (found,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert found.exc_info is not None
    assert found.exc_info[0] is ZeroDivisionError
    assert (found.__dict__["campaign"], found.__dict__["offset"], found.__dict__["partition"]) == (SICK, PLACE, 0)
    assert "Update Judgestream, then run: judgestream rebuild sick" in found.getMessage()


def test_a_command_to_it_is_held_and_answered_with_the_quarantine() -> None:
    processor, _ = run(LOG)
    retract = events.Retract(id="r", campaign=SICK, at=NOON, judgments=(f"id-{FIFTH}",))
    close = events.Close(id="x", campaign=SICK, at=NOON)
    outputs = processor.process(
        [Record(len(LOG) + number, b"sick", encode(each)) for number, each in enumerate((retract, close))]
    )
    assert [(status.command, status.state) for status in statuses(outputs)] == [("r", "open"), ("x", "open")]
    for status in statuses(outputs):
        assert status.quarantine is not None
        assert status.offset == 0  # of the last change that was applied, so that a later status is never older
    assert processor.counts().held == 22
    assert not [output for output in outputs if output.topic == topics.REJECTED.name]


def test_the_record_that_opens_a_campaign_may_be_the_one_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoStart(TrueSkill):
        def grow(self, systems: int, judges: int, segments: int) -> None:
            raise ZeroDivisionError

    monkeypatch.setitem(MODELS, "faulty", NoStart)
    store = MemoryStore()
    processor, outputs = run(
        log_of(judgment(1, campaign="well"), create(SICK), judgment(2, campaign=SICK)), store=store
    )
    assert store.list_campaigns([PARTITION]) == [SICK, "well"]
    assert (meta(store).opened, meta(store).status.offset, meta(store).counts.held) == (1, 1, 2)
    (found,) = [status for status in statuses(outputs) if status.campaign == SICK and status.command is None]
    assert found.quarantine is not None
    assert found.quarantine.offset == 1
    assert processor.counts() == Outcomes(read=3, applied=1, held=2)
    assert list(opened(store).quarantined) == [SICK]


def test_a_fault_in_the_choice_of_matches_keeps_the_whole_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "faulty", faulty("informations"))
    store = MemoryStore()
    processor, _ = run(LOG[: PLACE + 5], store=store)
    found = meta(store)
    assert found.status.quarantine is not None
    assert found.status.quarantine.offset == PLACE + 4  # after its last record, which is at PLACE + 3
    assert found.status.quarantine.error.startswith("ZeroDivisionError: the model fails in information")
    assert (found.counts.judgments, found.counts.held) == (FIFTH + 2, 0)
    assert "s4" in stored(store, SICK).tables["systems"]
    assert processor.counts().applied == PLACE + 5


@pytest.mark.parametrize("method", ["scores", "dump_row"])
def test_a_state_that_cannot_be_stored_has_the_same_place(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "faulty", faulty(method))
    store = MemoryStore()
    run(LOG, store=store)
    found = meta(store)
    assert found.status.quarantine is not None
    assert (found.status.quarantine.offset, found.counts.judgments) == (PLACE, FIFTH)


def test_if_the_campaign_cannot_be_restored_the_whole_batch_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "faulty", faulty("informations", "load_row"))
    store = MemoryStore()
    processor = opened(store)
    opening = create(SICK, outstanding=0, systems=("s0", "s1", "s2", "s3", "s4"))
    processor.process(log := log_of(opening, verdict(FIFTH, SICK), verdict(1, "well")))
    before = stored(store, SICK)
    change = events.Change(id="change", campaign=SICK, at=NOON, settings={"outstanding": 2})
    more = (verdict(2, SICK), change, verdict(3, SICK), verdict(4, "well"))
    processor.process([record for record in log_of(create(SICK), *more, *more) if record.offset >= len(log)])
    after = stored(store, SICK)
    assert (after.tables, after.seen, after.scores) == (before.tables, before.seen, before.scores)
    found = meta(store)
    assert found.status.quarantine is not None
    assert "load_row" in found.status.quarantine.error
    assert (found.status.quarantine.offset, found.counts.held) == (3, 4)
    assert sum(processor.counts()[1:]) == processor.counts().read


def test_a_campaign_that_cannot_be_ranked_is_quarantined_and_the_others_are_ranked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStore()
    log = [record for record in LOG if record.offset < PLACE]
    processor, _ = run(log, store=store)
    settle = BoardDraft.settle

    def settle_or_fail(draft: BoardDraft) -> events.Leaderboard:
        if draft.leaderboard.campaign == SICK:
            raise ZeroDivisionError
        return settle(draft)

    monkeypatch.setattr(BoardDraft, "settle", settle_or_fail)
    outputs = processor.snapshots()
    ranked = [(output.key or b"").decode() for output in outputs if output.topic == topics.LEADERBOARDS.name]
    assert ranked == list(WELL)
    (status,) = statuses(outputs)
    assert status.quarantine is not None
    assert status.quarantine.offset == PLACE - 2  # after its last record
    assert processor.snapshots() == ()
    processor.process(LOG[PLACE : PLACE + 1])
    assert (meta(store).counts.judgments, meta(store).counts.held) == (FIFTH, 1)
    assert meta(store).status.quarantine == status.quarantine


def test_a_campaign_that_cannot_be_loaded_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    monkeypatch.setitem(MODELS, "faulty", faulty())
    run(LOG, store=store)
    monkeypatch.setitem(MODELS, "faulty", faulty("load_row"))
    processor = opened(store)
    outputs = processor.snapshots()
    assert ([output.topic for output in outputs].count(topics.LEADERBOARDS.name), list(processor.quarantined)) == (
        len(WELL),
        [SICK],
    )
    monkeypatch.delitem(MODELS, "faulty")
    processor = opened(store)
    assert len(processor.snapshots()) == 1 + len(WELL)
    assert sorted(processor.quarantined) == [SICK, *WELL]  # stored by a version that has the model


def test_a_fault_that_only_a_whole_batch_shows_is_logged_and_harmless(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class OneByOne(TrueSkill):
        def apply(self, batch: JudgmentBatch) -> None:
            if len(batch) > 1:
                raise ZeroDivisionError
            super().apply(batch)

    log = [record for record in LOG if record.offset < PLACE]
    one, two = MemoryStore(), MemoryStore()
    run(log, store=one)
    monkeypatch.setitem(MODELS, "faulty", OneByOne)
    processor, _ = run(log, store=two)
    assert processor.quarantined == {}
    assert "failed on a batch" in caplog.text
    for name in (SICK, *WELL):
        assert stored(two, name) == stored(one, name)


class Away(MemoryStore):
    """A store that goes away when the sick campaign is loaded again."""

    def __init__(self) -> None:
        super().__init__()
        self.loads = 0

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        self.loads += campaign == SICK
        if campaign == SICK and self.loads == 2:
            raise StoreUnavailable("Redis does not answer")
        return super().load(lease, campaign)


def test_if_the_store_is_away_meanwhile_the_partition_is_loaded_again() -> None:
    store, undisturbed = Away(), MemoryStore()
    processor = opened(store)
    with pytest.raises(Conflict, match="Redis does not answer"):
        processor.process(LOG)
    run(LOG, store=store)
    run(LOG, store=undisturbed)
    for name in (SICK, *WELL):
        assert stored(store, name) == stored(undisturbed, name)


@pytest.mark.parametrize("error", [MemoryError, ConnectionResetError, BrokerUnavailable])
def test_an_error_of_the_machine_or_of_a_server_is_no_fault_of_the_campaign(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "faulty", faulty("apply", error=error))
    with pytest.raises(error):
        run(LOG)


def test_a_campaign_that_fails_and_whose_state_is_lost_is_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new load finds that the state is lost, and the campaign is rated again."""
    monkeypatch.setitem(MODELS, "faulty", faulty("apply"))
    create = encode(events.Create(id="x", campaign="c", at=NOON, settings=events.CampaignSettings(model="faulty")))
    store = MemoryStore()
    processor, _ = Processor.open("judgments.v1", 0, store, OPTIONS)
    processor.process([Record(0, b"c", create)])
    del store._campaigns["c"]
    verdict = encode(judgment(1, systems=("a", "b", "c", "d", "e"), ranks=(1, 2, 3, 4, 5)))
    with pytest.raises(Conflict):
        processor.prepare([Record(1, b"c", verdict)])
