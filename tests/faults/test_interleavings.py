"""Batches, crashes between any two steps, rebalances and zombies in any order: the state is that of one calm run."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from streams.errors import Conflict, Fenced
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import encode
from tests.builders import NOON, crowd_log
from tests.pipeline.test_processor import POISON
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.stores.commit import Commit
    from streams.wire.outputs import Output

TOPIC = "judgments.v1"
HOME = f"{TOPIC}/0"
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))
IDENTIFIED = (topics.RATINGS.name, topics.MATCH_REQUESTS.name, topics.REJECTED.name)

numbers = st.integers(0, 50)


def verdicts() -> list[bytes]:
    """Judgments of two campaigns; some have the id of another, of their campaign or not."""
    log = [*crowd_log(40, campaigns=2, seed=51, ways=3, systems=5), *crowd_log(15, campaigns=1, seed=52, systems=5)]
    return [encode(entry) for entry in log]


def commands() -> list[bytes]:
    """Return each kind of command for both campaigns; only the second is ever closed."""
    made: list[dict[str, Any]] = [
        {"action": "create"},
        {"action": "pause"},
        {"action": "resume"},
        {"action": "withdraw", "system": "system-1"},
        {"action": "exclude", "judge": "judge-3"},
        *({"action": "retract", "judgments": [f"id-{number}", f"id-{number + 2}"]} for number in range(4)),
        *({"action": "retract", "judge": f"judge-{number}"} for number in range(3)),
    ]
    return [
        json.dumps({"id": f"command-{number}", "campaign": campaign, "at": NOON.isoformat(), **command}).encode()
        for campaign, some in (("campaign-0", made), ("campaign-1", [*made, {"action": "close"}]))
        for number, command in enumerate(some)
    ]


poison = [value for value, _, _ in POISON.values() if value is None or len(value) < 10_000]
values = st.sampled_from(verdicts()) | st.sampled_from(commands()) | st.sampled_from(poison)
records = st.lists(values, max_size=3) | st.lists(st.sampled_from(verdicts()), max_size=10)


def finished(processor: Processor) -> list[Output]:
    """Rate campaigns again at once, and return the outputs."""
    return [output for outputs in processor.rate_again().values() for output in outputs]


@dataclass
class Worker:
    """One that has opened the partition, with what it holds between two steps; a zombie if it is not the last."""

    processor: Processor
    prepared: Commit | None = None
    unsent: tuple[Output, ...] = ()


class Interleavings(RuleBasedStateMachine):
    """The model is the log: what one fresh processor makes of it in one go."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Record] = []
        self.store = MemoryStore()
        self.workers: list[Worker] = []
        self.owner: Worker | None = None
        self.owed: set[tuple[str, bytes]] = set()
        self.emitted: defaultdict[tuple[str, str], set[bytes]] = defaultdict(set)

    # -- the log ----------------------------------------------------------------------------------------

    @rule(some=records)
    def publish(self, some: Sequence[bytes | None]) -> None:
        self.log += [Record(len(self.log) + number, b"key", value) for number, value in enumerate(some)]

    @precondition(lambda self: self.log)
    @rule(which=numbers)
    def publish_again(self, which: int) -> None:
        self.publish([self.log[which % len(self.log)].value])

    # -- the steps, and the crashes between them ----------------------------------------------------------

    @rule()
    def open(self) -> None:
        """Start a worker, or rebalance: who had the partition becomes a zombie, and does not know it."""
        processor, unsent = Processor.open(TOPIC, 0, self.store, OPTIONS, read_log=self.read_log)
        self.owner = Worker(processor, unsent=unsent)
        self.workers.append(self.owner)

    @precondition(lambda self: self.idle)
    @rule(which=numbers, size=st.integers(1, 8), again=st.integers(0, 3))
    def prepare(self, which: int, size: int, again: int) -> None:
        """Rate the next records; some that were read before may come again with them."""
        worker = self.idle[which % len(self.idle)]
        start = worker.processor.next_offset
        try:
            worker.prepared = worker.processor.prepare(self.log[max(start - again, 0) : start + size])
        except Fenced:
            assert worker is not self.owner
            self.workers.remove(worker)

    @precondition(lambda self: self.prepared)
    @rule(which=numbers, twice=st.booleans())
    def persist(self, which: int, *, twice: bool) -> None:
        """Write; twice if the answer was lost. Of a zombie nothing is written."""
        worker = self.prepared[which % len(self.prepared)]
        commit, worker.prepared = worker.prepared, None
        assert commit is not None
        if worker is self.owner:
            for _ in range(1 + twice):
                worker.processor.persist(commit)
            worker.unsent = commit.outputs
            self.owed |= {(output.topic, output.value) for output in worker.unsent}
            assert worker.processor.reruns.waiting() or self.hash() == self.calm(commit.after)[0]
        else:
            before = self.hash()
            with pytest.raises((Fenced, Conflict)):
                worker.processor.persist(commit)
            assert self.hash() == before
            self.workers.remove(worker)

    @precondition(lambda self: self.owner in self.idle and self.owner.processor.reruns.waiting())
    @rule()
    def rate_again(self) -> None:
        """Finish the reruns of campaigns; the outputs of the last batch were emitted."""
        assert self.owner is not None
        self.owner.unsent = tuple(finished(self.owner.processor))
        self.owed |= {(output.topic, output.value) for output in self.owner.unsent}
        assert self.hash() == self.calm(self.owner.processor.next_offset)[0]

    @precondition(lambda self: self.unsent)
    @rule(which=numbers, share=st.sampled_from([0.0, 0.5, 1.0]))
    def emit(self, which: int, share: float) -> None:
        """Send what is to be sent, or a part of it and crash."""
        worker = self.unsent[which % len(self.unsent)]
        self.send(worker.unsent[: int(len(worker.unsent) * share)])
        worker.unsent = ()
        if share < 1:
            self.workers.remove(worker)

    @precondition(lambda self: self.workers)
    @rule(which=numbers)
    def crash(self, which: int) -> None:
        del self.workers[which % len(self.workers)]

    @property
    def idle(self) -> list[Worker]:
        return [worker for worker in self.workers if not worker.prepared and not worker.unsent]

    @property
    def prepared(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.prepared]

    @property
    def unsent(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.unsent]

    # -- what must hold -------------------------------------------------------------------------------------

    def hash(self) -> str:
        return state_hash(self.store, [HOME])

    def read_log(self, start: int, before: int) -> list[list[Record]]:
        return [self.log[start:before]]

    def calm(self, before: int) -> tuple[str, set[bytes]]:
        """Return the hash and the rejections that one fresh processor makes of the log before an offset, in one go."""
        store = MemoryStore()
        processor, _ = Processor.open(TOPIC, 0, store, OPTIONS, read_log=self.read_log)
        outputs = [*processor.process(self.log[:before]), *finished(processor)] if before else []
        rejected = {output.value for output in outputs if output.topic == topics.REJECTED.name}
        return state_hash(store, [HOME]), rejected

    def send(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            name = str(msgspec.json.decode(output.value).get("id")) if output.topic in IDENTIFIED else ""
            self.emitted[output.topic, name].add(output.value)

    def teardown(self) -> None:
        self.open()
        assert self.owner is not None
        last = self.owner.processor
        self.send(self.owner.unsent)
        outputs = [*last.process(self.log[last.next_offset :])] if last.next_offset < len(self.log) else []
        outputs += finished(last)
        self.send(outputs)
        self.owed |= {(output.topic, output.value) for output in outputs}
        calm_hash, calm_rejections = self.calm(len(self.log))
        assert self.hash() == calm_hash
        counts = last.counts()
        assert counts.read == len(self.log) == counts.applied + counts.duplicate + counts.rejected
        sent = {(topic, value) for (topic, _), found in self.emitted.items() for value in found}
        assert self.owed <= sent
        assert {value for topic, value in sent if topic == topics.REJECTED.name} == calm_rejections
        assert [key for key, found in self.emitted.items() if key[1] and len(found) > 1] == []


@pytest.mark.long
def test_any_interleaving_of_steps_crashes_and_rebalances_gives_the_state_of_a_calm_run() -> None:
    run_state_machine_as_test(
        Interleavings, settings=settings(settings.default, max_examples=60, stateful_step_count=40)
    )
