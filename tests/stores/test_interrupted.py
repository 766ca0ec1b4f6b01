"""A batch that is cut off between two of its calls, at every place there is: the result is the same."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import pytest

from streams.errors import Conflict, Fenced, StoreUnavailable
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.stores.redis.client import Client
from streams.stores.redis.store import RedisStore
from streams.wire import events, topics
from streams.wire.events import encode
from tests.builders import NOON, crowd_log, judgment, log_reader
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streams.stores import Store
    from streams.wire.outputs import Output

pytestmark = pytest.mark.integration

Event = TypeVar("Event")
HOME = f"{topics.JUDGMENTS.name}/0"
BATCH = 40


def log() -> list[Record]:
    """Three campaigns, one of which asks for matches, with repeats, a retraction and bad records."""
    settings = events.CampaignSettings(systems=tuple(f"system-{i}" for i in range(8)), outstanding=3)
    values: list[bytes] = [encode(events.Create(id="c", campaign="campaign-2", at=NOON, settings=settings))]
    for entry in crowd_log(100, campaigns=3, seed=4):
        values.append(encode(entry))
        if entry.id.endswith("5"):
            values += [b"{", encode(entry), encode(judgment(1000, campaign=entry.campaign, ranks=None, score=1.0))]
    values.append(encode(events.Retract(id="r", campaign="campaign-1", at=NOON, judgments=("id-4",))))
    return [Record(offset, None, value) for offset, value in enumerate(values)]


LOG = log()


@dataclass
class Run:
    """A processor on a store, and all that it emitted."""

    store: Store
    emitted: list[Output] = field(default_factory=list)

    def open(self) -> Processor:
        options = ProcessorOptions.from_settings(Settings(judge_key="key"))
        processor, outputs = Processor.open(topics.JUDGMENTS.name, 0, self.store, options, read_log=log_reader(LOG))
        self.emitted += outputs
        return processor

    def go_on(self, processor: Processor, *, size: int = BATCH, insist: bool = False) -> None:
        """Process the rest of the log, and end all reruns. If it insists, each step is tried as often as it takes."""
        while records := LOG[processor.next_offset : processor.next_offset + size]:
            commit = processor.prepare(records)
            while True:
                try:
                    processor.persist(commit)
                    break
                except StoreUnavailable:
                    if not insist:
                        raise
            self.emitted += commit.outputs
            processor = self.finish_reruns(processor, insist=insist)
        self.finish_reruns(processor, insist=insist)

    def finish_reruns(self, processor: Processor, *, insist: bool) -> Processor:
        """Rate all waiting campaigns again. Return the processor, or its successor if it had to be loaded again."""
        while True:
            try:
                self.emitted += itertools.chain.from_iterable(processor.rate_again().values())
            except StoreUnavailable:
                if not insist:
                    raise
            except Conflict:
                if not insist:
                    raise
                processor = self.open()  # as the worker does
            else:
                return processor

    def outcome(self) -> dict[str, object]:
        """Say what is stored, and what a consumer that drops repeats makes of what was emitted."""
        ratings = sorted(self._decoded(topics.RATINGS, events.Rating), key=lambda rating: rating.offset)
        settings = sorted(self._decoded(topics.CAMPAIGNS, events.CampaignStatus), key=lambda campaign: campaign.offset)
        return {
            "state": state_hash(self.store, [HOME]),
            "ratings": {(each.campaign, each.system): (each.mean, each.deviation, each.judgments) for each in ratings},
            "rejections": {
                rejection.offset: rejection for rejection in self._decoded(topics.REJECTED, events.Rejection)
            },
            "settings": {found.campaign: found for found in settings},
        }

    def requests_are_unambiguous(self) -> bool:
        sent = self._decoded(topics.MATCH_REQUESTS, events.MatchRequest)
        requests = {request for request in sent if not request.cancelled}
        return len({request.id for request in requests}) == len(requests) > 3

    def _decoded(self, topic: topics.Topic, kind: type[Event]) -> Iterator[Event]:
        return (msgspec.json.decode(output.value, type=kind) for output in self.emitted if output.topic == topic.name)


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, object]:
    run = Run(MemoryStore())
    run.go_on(run.open())
    return run.outcome()


class Interruption:
    """Comes at one of the calls that write, once: before it is made, or after it, when its reply is lost."""

    def __init__(self, at: int, *, after: bool, then: Callable[[], None]) -> None:
        self.at, self.after, self.then = at, after, then
        self.calls = 0

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write = Client.write

        def interrupted(client: Client, *arguments: Any, **more: Any) -> None:
            self.calls += 1
            now = self.calls == self.at
            if now and not self.after:
                self.then()
            write(client, *arguments, **more)
            if now and self.after:
                self.then()

        monkeypatch.setattr(Client, "write", interrupted)


def fail() -> None:
    raise StoreUnavailable("the connection is gone")


def places(store: RedisStore, monkeypatch: pytest.MonkeyPatch) -> Sequence[int]:
    """Count the calls of an undisturbed run."""
    count = Interruption(0, after=False, then=fail)
    with monkeypatch.context() as patch:
        count.patch(patch)
        run = Run(store)
        run.go_on(run.open())
    return range(1, count.calls + 1)


@pytest.fixture(params=["servers", "cluster"])
def stores(request: pytest.FixtureRequest, namespace: str) -> Iterator[Callable[[], RedisStore]]:
    """Give fresh stores."""
    server = request.getfixturevalue(request.param)
    url = server if isinstance(server, str) else server.redis
    opened: list[RedisStore] = []

    def fresh() -> RedisStore:
        opened.append(RedisStore(url, namespace=f"{namespace}-{len(opened)}"))
        return opened[-1]

    yield fresh
    for store in opened:
        store.close()


@pytest.mark.parametrize("after", [False, True], ids=["not-sent", "reply-lost"])
def test_a_batch_that_is_given_again_is_written_once(
    stores: Callable[[], RedisStore], undisturbed: dict[str, object], after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in places(stores(), monkeypatch):
        with monkeypatch.context() as patch:
            run = Run(stores())
            Interruption(place, after=after, then=fail).patch(patch)
            run.go_on(run.open(), insist=True)
        assert run.outcome() == undisturbed, place
        assert run.requests_are_unambiguous()


@pytest.mark.parametrize("size", [7, BATCH, 1000])
@pytest.mark.parametrize("after", [False, True], ids=["not-sent", "reply-lost"])
def test_a_worker_that_dies_between_two_calls_is_taken_over(
    stores: Callable[[], RedisStore],
    undisturbed: dict[str, object],
    after: bool,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for place in places(stores(), monkeypatch):
        run = Run(stores())
        with monkeypatch.context() as patch:
            Interruption(place, after=after, then=fail).patch(patch)
            with pytest.raises((StoreUnavailable, Conflict)):
                run.go_on(run.open())
        run.go_on(run.open(), size=size)
        assert run.outcome() == undisturbed, place
        assert run.requests_are_unambiguous()


@pytest.mark.parametrize("size", [7, 1000])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_worker_that_is_overtaken_between_two_calls_changes_nothing_more(
    stores: Callable[[], RedisStore],
    undisturbed: dict[str, object],
    after: bool,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = places(stores(), monkeypatch)
    for place in calls:
        run = Run(stores())

        def overtake(run: Run = run) -> None:
            owner = Run(run.store, run.emitted)
            owner.go_on(owner.open(), size=size)

        with monkeypatch.context() as patch:
            Interruption(place, after=after, then=overtake).patch(patch)
            zombie = run.open()
            if place == calls[-1] and after:
                run.go_on(zombie)
            else:
                with pytest.raises((Fenced, Conflict)):
                    run.go_on(zombie)
        assert run.outcome() == undisturbed, place


def test_an_owner_that_only_opened_fences_the_former_one_off_in_the_middle(
    stores: Callable[[], RedisStore], undisturbed: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The former owner goes on between the new one's opening and its first batch."""
    for place in places(stores(), monkeypatch):
        run = Run(stores())
        owners: list[Processor] = []
        with monkeypatch.context() as patch:
            Interruption(place, after=False, then=partial(_succeed, run, owners)).patch(patch)
            with pytest.raises((Fenced, Conflict)):
                run.go_on(run.open())
        (owner,) = owners
        try:
            run.go_on(owner, size=13)
        except Conflict:
            run.go_on(run.open(), size=13)  # as the worker does
        assert run.outcome() == undisturbed, place


def _succeed(run: Run, owners: list[Processor]) -> None:
    owners.append(run.open())
