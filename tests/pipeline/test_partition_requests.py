"""Campaigns with many systems: their match requests are chosen beside the batches, once, and survive a crash."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.core.campaign import requests
from streams.core.campaign.board import BoardDraft
from streams.core.matching.information import OrderInformation
from streams.pipeline.embedded import Embedded
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import events, topics
from streams.wire.events import CampaignSettings, MatchRequest
from tests.builders import NOON, judgment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.pipeline.partition_requests import DraftedRequests
    from streams.wire.outputs import Output

SYSTEMS = tuple(f"system-{number:03}" for number in range(requests.MANY_SYSTEMS + 3))
WANTED = 20
OPTIONS = ProcessorOptions.from_settings(Settings(idle_seconds=1000.0))
COMMAND = {"campaign": "c", "at": NOON}


def create(**settings: object) -> events.Create:
    given = {"systems": SYSTEMS, "outstanding": WANTED, "policy": "uniform", **settings}
    return events.Create(id="create", settings=CampaignSettings(**given), **COMMAND)  # type: ignore[arg-type]


class Partition:
    """A processor as a worker uses it: a batch does not choose requests for many systems."""

    def __init__(self, *log: events.Judgment | events.Command, store: MemoryStore | None = None) -> None:
        self.store = store or MemoryStore()
        self.processor, self.reemitted = Processor.open("judgments.v1", 0, self.store, OPTIONS)
        if log:
            self.batch(*log)

    def batch(self, *log: events.Judgment | events.Command) -> tuple[Output, ...]:
        start = self.processor.next_offset
        records = [Record(start + k, b"c", events.encode(event)) for k, event in enumerate(log)]
        commit = self.processor.prepare(records)
        self.processor.persist(commit)
        return commit.outputs

    def draft(self) -> DraftedRequests:
        found = self.processor.requests.draft()
        assert found is not None
        return found

    def stored(self) -> set[str]:
        meta = self.store.read_meta("c")
        assert meta is not None
        return {request.id for request in meta.outstanding}


def requested(outputs: Iterable[Output]) -> list[MatchRequest]:
    found = (output for output in outputs if output.topic == topics.MATCH_REQUESTS.name)
    return [msgspec.json.decode(output.value, type=MatchRequest) for output in found]


def test_a_batch_leaves_them_to_a_later_turn_and_they_are_persisted_before_they_are_emitted() -> None:
    one = Partition()
    assert requested(one.batch(create())) == []
    finished = one.draft().choose()
    change, outputs = one.processor.requests.open(finished)
    assert change is not None
    assert one.stored() == set()
    one.processor.requests.persist(change)
    found = requested(outputs)
    assert [request.id for request in found] == [f"judgments.v1/0/0/{number}" for number in range(WANTED)]
    assert one.stored() == {request.id for request in found}
    assert one.processor.requests.draft() is None
    one.batch(judgment(1, systems=SYSTEMS[:2], campaign="c", request=found[0].id))
    assert len(one.stored()) == WANTED - 1
    one.processor.verify()


def test_what_is_chosen_depends_on_the_draft_alone() -> None:
    alone, busy = Partition(create(policy="information")), Partition(create(policy="information"))
    drafted = busy.draft()
    busy.batch(*(judgment(k, systems=(SYSTEMS[0], SYSTEMS[k]), campaign="c", segment=f"s{k}") for k in range(1, 60)))
    late: list[object] = []
    thread = threading.Thread(target=lambda: late.append(drafted.choose().result))
    thread.start()
    thread.join()
    assert late == [alone.draft().choose().result]


def test_a_worker_that_ends_before_they_are_persisted_leaves_them_to_the_next_one() -> None:
    first = Partition(create())
    first.processor.requests.open(first.draft().choose())  # and it is killed
    second = Partition(store=first.store)
    assert requested(second.reemitted) == []
    assert not second.processor.requests.are_awaited  # the campaign rests
    second.processor.snapshots()
    assert len(requested(second.processor.requests.open_all())) == WANTED
    assert len(second.stored()) == WANTED


def test_a_worker_that_ends_before_they_are_emitted_leaves_them_in_the_outbox() -> None:
    first = Partition(create())
    change, outputs = first.processor.requests.open(first.draft().choose())
    assert change is not None
    first.processor.requests.persist(change)  # and it is killed
    second = Partition(store=first.store)
    assert requested(second.reemitted) == requested(outputs)
    second.processor.snapshots()
    assert second.processor.requests.open_all() == ()


def test_two_choices_at_one_offset_have_different_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST_PAIRS", 1)
    first = Partition(create(outstanding=40))
    assert len(requested(first.processor.requests.open_all())) == requests.FEWEST
    second = Partition(store=first.store)
    second.processor.snapshots()
    more = requested(second.processor.requests.open_all())
    assert [request.id for request in more][:1] == [f"judgments.v1/0/0/{requests.FEWEST}"]
    assert len(second.stored()) == 2 * requests.FEWEST


def test_only_what_is_still_wanted_is_opened() -> None:
    one = Partition(create())
    chosen = one.draft().choose()
    one.batch(events.WithdrawSystem(id="w", system=SYSTEMS[0], **COMMAND), create_change(budget=5))  # type: ignore[arg-type]
    _, outputs = one.processor.requests.open(chosen)
    found = requested(outputs)
    assert len(found) == 5
    assert all(SYSTEMS[0] not in request.systems for request in found)


def create_change(**settings: object) -> events.Change:
    return events.Change(id=f"change-{sorted(settings)}", settings=settings, **COMMAND)  # type: ignore[arg-type]


PAUSE = events.Pause(id="p", **COMMAND)  # type: ignore[arg-type]
AGAIN = msgspec.structs.replace(create(), id="again", at=NOON + timedelta(seconds=1))
DELETE = events.Delete(id="d", **COMMAND)  # type: ignore[arg-type]


@pytest.mark.parametrize("commands", [(PAUSE,), (DELETE,), (DELETE, AGAIN)])
def test_a_campaign_that_ended_meanwhile_does_not_open_them(commands: tuple[events.Command, ...]) -> None:
    one = Partition(create())
    chosen = one.draft().choose()
    one.batch(*commands)
    _, outputs = one.processor.requests.open(chosen)
    assert requested(outputs) == []
    assert one.processor.campaigns["c"].outstanding == {}


def test_a_fault_in_the_choice_quarantines_the_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(OrderInformation, "choose", fail)
    one = Partition(create(policy="information"))
    change, outputs = one.processor.requests.open(one.draft().choose())
    assert change is None
    assert topics.CAMPAIGNS.name in {output.topic for output in outputs}
    assert list(one.processor.quarantined) == ["c"]


def test_the_stop_rule_and_the_leaderboard_settle_one_board(monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[int] = []
    settle = BoardDraft._settle

    def counted(draft: BoardDraft) -> dict[str, object]:
        settled.append(1)
        return settle(draft)

    monkeypatch.setattr(BoardDraft, "_settle", counted)
    one = Partition(create(stop_confidence=0.95, budget=3000))
    log = [
        judgment(k, systems=(SYSTEMS[k % 103], SYSTEMS[(k + 1) % 103]), campaign="c", ranks=(1, 1)) for k in range(2900)
    ]
    one.batch(*log)
    assert requested(one.processor.requests.open_all()) == []
    campaign = one.processor.campaigns["c"]
    ahead = campaign.leaderboard().outlook
    assert ahead is not None
    assert (ahead.state, campaign.meta.stop.met, len(settled)) == ("settled", True, 1)
    meta = one.store.read_meta("c")
    assert meta is not None
    assert meta.stop.met


def test_the_leaderboard_of_the_last_record_comes_after_its_requests() -> None:
    one = Partition(create())
    assert one.processor.snapshots() == ()
    one.processor.requests.open_all()
    assert {output.topic for output in one.processor.snapshots()} == {topics.LEADERBOARDS.name}


def test_while_records_come_the_leaderboard_does_not_wait_for_requests() -> None:
    one = Partition(create())
    _, drafts, _ = one.processor.boards.draft(["c"])
    one.batch(judgment(1, systems=SYSTEMS[:2], campaign="c"))
    assert one.processor.campaigns["c"].awaits_requests
    assert len(one.processor.boards.finish([draft.settle() for draft in drafts])) == 1


def test_an_embedded_stream_opens_them_after_each_batch() -> None:
    stream = Embedded(Settings())
    stream.publish(create())
    stream.run()
    assert len(stream.campaign("c").outstanding) == WANTED
    assert len(stream.log.read(topics.MATCH_REQUESTS.name, 0, start=0, limit=100)) == WANTED


def test_a_campaign_that_awaits_them_does_not_rest() -> None:
    one = Partition(create())
    one.processor.snapshots()
    one.processor.rest(0.0)
    one.processor.rest(1e9)
    assert "c" in one.processor.campaigns
    one.processor.requests.open_all()
    one.processor.snapshots()
    one.processor.rest(2e9)
    one.processor.rest(3e9)
    assert "c" not in one.processor.campaigns
