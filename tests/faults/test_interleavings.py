"""Batches, crashes between any two steps, rebalances, zombies, and data that is lost on the way, in any order.

The state ends as that of one calm run. A partition is either *short*: the head of its log may be deleted; or its log is
whole: then campaigns can be rated again from it, after a retraction and after a loss of stored data.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from streams.core.models import MODELS
from streams.errors import Conflict, Fenced
from streams.pipeline.campaign_rerun import CampaignRerun
from streams.pipeline.processor import Processor
from streams.stores.commit import Commit
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import Judgment, Rejection, encode
from streams.wire.outputs import Output
from tests.builders import NOON, crowd_log
from tests.faults.partition_log import HOME, OPTIONS, TOPIC, Calm, PartitionLog
from tests.faulty_model import faulty
from tests.pipeline.test_processor import POISON
from tests.state_hash import state_hash

IDENTIFIED = (topics.RATINGS.name, topics.MATCH_REQUESTS.name, topics.REJECTED.name)
FRAGILE = "campaign-2"
LOSSES = ("campaign", "row", "seen")

numbers = st.integers(0, 50)


class Fragile(faulty("apply")):  # type: ignore[misc]  # a class that a function makes
    """A model that fails while its code is broken."""

    broken = False

    def _fail(self, where: str, system: int) -> None:
        if Fragile.broken:
            super()._fail(where, system)


def told(number: int, campaign: str, command: dict[str, Any]) -> bytes:
    return json.dumps({"id": f"command-{number}", "campaign": campaign, "at": NOON.isoformat(), **command}).encode()


def verdicts() -> list[bytes]:
    """Judgments of three campaigns; some have the id of another, of their campaign or not, and some replace another.

    Most have a language. One that replaces another has mostly another language.
    """
    log = [*crowd_log(60, campaigns=3, seed=51, ways=3, systems=5), *crowd_log(15, campaigns=1, seed=52, systems=5)]
    changed = [
        msgspec.structs.replace(entry, id=f"{entry.id}-{version}", replaces=entry.id, ranks=(2, 3, 1))
        for entry in log[:12]
        for version in (1, 2)
    ]
    tags = ({"language": "de"}, {"language": "fr"}, None, {"language": "de", "domain": "news"}, {"language": "is"})
    tagged = (msgspec.structs.replace(entry, tags=tags[k % len(tags)]) for k, entry in enumerate((*log, *changed)))
    return [encode(entry) for entry in tagged]


def commands() -> list[bytes]:
    """Return each kind of command but retractions for two campaigns; only the second is ever closed."""
    made: list[dict[str, Any]] = [
        {"action": "create"},
        {"action": "pause"},
        {"action": "resume"},
        {"action": "withdraw", "system": "system-1"},
        {"action": "exclude", "judge": "judge-3"},
        {"action": "revoke", "judgments": ["id-0", "id-1", "id-2"]},
    ]
    campaigns = (("campaign-0", made), ("campaign-1", [*made, {"action": "close"}]))
    return [told(number, campaign, command) for campaign, some in campaigns for number, command in enumerate(some)]


def retractions() -> list[bytes]:
    made: list[dict[str, Any]] = [
        *({"action": "retract", "judgments": [f"id-{number}", f"id-{number + 3}"]} for number in range(6)),
        *({"action": "retract", "judge": f"judge-{number}"} for number in range(3)),
        *({"action": "retract", "taken_back": {f"judge-{n}": {f"id-{n}": 20, f"id-{n + 3}": 9}}} for n in range(3)),
    ]
    campaigns = [f"campaign-{number}" for number in range(3)]
    return [told(100 + number, campaign, command) for campaign in campaigns for number, command in enumerate(made)]


CREATE = told(0, FRAGILE, {"action": "create", "settings": {"model": "faulty"}})
WITH_BOARDS = told(90, "campaign-0", {"action": "create", "settings": {"boards": ["language"]}})
# A judgment of one system more than the broken code can take.
FATAL = [value for value in verdicts() if f'"{FRAGILE}"'.encode() in value][:8]
poison = [value for value, _, _ in POISON.values() if value is None or len(value) < 10_000]
values = st.sampled_from(verdicts()) | st.sampled_from(commands()) | st.sampled_from(poison)
records = st.lists(values, max_size=3) | st.lists(st.sampled_from(verdicts()), min_size=5, max_size=20)


@dataclass
class Worker:
    """One that has opened the partition, with what it holds between two steps; a zombie if it is not the last."""

    processor: Processor
    prepared: Commit | None = None
    unsent: tuple[Output, ...] = ()
    rerun: CampaignRerun | None = None
    rejections: list[Output] = field(default_factory=list)  # of the rerun, that are not sent yet

    @property
    def is_idle(self) -> bool:
        return not self.prepared and not self.unsent

    @property
    def repairable(self) -> list[str]:
        """The campaigns that can be rated again with the code as it is."""
        return [name for name in self.processor.quarantined if not (Fragile.broken and name == FRAGILE)]


class Interleavings(RuleBasedStateMachine):
    """The model is the log: what one fresh processor makes of it in one go."""

    def __init__(self) -> None:
        super().__init__()
        Fragile.broken = False
        self.log = PartitionLog()
        self.log.append([CREATE, WITH_BOARDS])
        self.store = MemoryStore()
        self.workers: list[Worker] = []
        self.owner: Worker | None = None
        self.owed: set[tuple[str, bytes]] = set()
        self.emitted: defaultdict[tuple[str, str], set[bytes]] = defaultdict(set)
        self.is_damaged = False  # the store has lost something that its owner does not know yet
        self.older: dict[str, Any] = {}  # an older copy of the store's campaigns

    @initialize(is_short=st.sampled_from([False, False, False, True]))
    def choose(self, *, is_short: bool) -> None:
        self.is_short = is_short

    # -- the log ----------------------------------------------------------------------------------------

    @rule(some=records)
    def publish(self, some: Sequence[bytes | None]) -> None:
        self.log.append(some)

    @rule(which=numbers)
    def publish_again(self, which: int) -> None:
        self.log.append([self.log.records[which % len(self.log.records)].value])

    @precondition(lambda self: not self.is_short)
    @rule(before=st.lists(st.sampled_from(verdicts()), max_size=20), command=st.sampled_from(retractions()))
    def retract(self, before: Sequence[bytes], command: bytes) -> None:
        self.log.append([*before, command])
        self.work_on()

    @rule(count=st.integers(1, 4))
    def abort(self, count: int) -> None:
        self.log.abort(count)

    @precondition(lambda self: self.is_short and self.log.begin < self.log.end)
    @rule(how_far=numbers)
    def delete_head(self, how_far: int) -> None:
        self.log.begin += 1 + how_far % (self.log.end - self.log.begin)

    @precondition(lambda self: self.behind)
    @rule(which=numbers)
    def meet_gap(self, which: int) -> None:
        """Find that the next records are gone, and go on if an operator has accepted it."""
        self.skip(self.behind[which % len(self.behind)])

    def skip(self, worker: Worker) -> None:
        start = worker.processor.next_offset
        try:
            if worker.processor.skip(start, self.log.begin) is not None:
                self.log.missing.append(range(start, self.log.begin))
        except (Fenced, Conflict):
            assert worker is not self.owner
            self.workers.remove(worker)

    @precondition(lambda self: self.open_gaps)
    @rule()
    def accept_gap(self) -> None:
        for gap in self.open_gaps:
            assert self.store.accept_gap(HOME, gap.start, gap.end)

    @property
    def open_gaps(self) -> list[Any]:
        return [gap for gap in self.store.read_gaps(HOME) if gap.accepted is None]

    # -- the steps, and the crashes between them ----------------------------------------------------------

    @rule()
    def open(self) -> None:
        """Start a worker, or rebalance: who had the partition becomes a zombie, and does not know it."""
        processor, unsent = Processor.open(TOPIC, 0, self.store, OPTIONS, read_log=self.log.read)
        self.owner = Worker(processor, unsent=unsent)
        self.workers.append(self.owner)
        self.is_damaged = False

    @precondition(lambda self: self.idle)
    @rule(which=numbers, size=st.integers(1, 20), again=st.integers(0, 3))
    def prepare(self, which: int, size: int, again: int) -> None:
        """Rate the next records; some that were read before may come again with them."""
        worker = self.idle[which % len(self.idle)]
        start = worker.processor.next_offset
        try:
            worker.prepared = worker.processor.prepare(self.log.next_batch(max(start - again, 0), size + again))
        except (Fenced, Conflict):
            assert worker is not self.owner or self.is_damaged
            self.workers.remove(worker)

    def work_on(self) -> None:
        for _ in range(3):
            self.work()

    @rule()
    def work(self) -> None:
        """Do all steps of a batch at once, so that more happens in a run."""
        if self.owner not in self.workers:
            self.open()
        worker = self.owner
        assert worker is not None
        if worker.prepared is None:
            self.send(worker.unsent)
            worker.unsent = ()
            if worker in self.idle and (batch := self.log.next_batch(worker.processor.next_offset, 20)):
                try:
                    commit = worker.processor.prepare(batch)
                except Conflict:
                    assert self.is_damaged
                    self.workers.remove(worker)
                    return
                self.write(worker, commit)
                self.send(worker.unsent)
                worker.unsent = ()

    @precondition(lambda self: self.prepared)
    @rule(which=numbers, twice=st.booleans())
    def persist(self, which: int, *, twice: bool) -> None:
        """Write; twice if the answer was lost. Of a zombie nothing is written."""
        worker = self.prepared[which % len(self.prepared)]
        commit, worker.prepared = worker.prepared, None
        assert commit is not None
        if worker is not self.owner:
            before = self.hash()
            with pytest.raises((Fenced, Conflict)):
                worker.processor.persist(commit)
            assert self.hash() == before
            self.workers.remove(worker)
            return
        self.write(worker, commit, times=1 + twice)

    def write(self, worker: Worker, commit: Commit, *, times: int = 1) -> None:
        """Write what the owner has prepared."""
        try:
            for _ in range(times):
                worker.processor.persist(commit)
        except Conflict:
            assert self.is_damaged
            self.workers.remove(worker)
            return
        self.owe(worker, commit.outputs)
        self.check(worker)

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

    # -- campaigns that are rated again -------------------------------------------------------------------

    @precondition(lambda self: self.waiting)
    @rule(which=numbers, step=st.integers(1, 8), stages=st.sampled_from([True, True, False]))
    def rate_again(self, which: int, step: int, *, stages: bool) -> None:
        """Take a step of a rerun, and write it beside the live state. The last one ends the quarantine."""
        worker = self.waiting[which % len(self.waiting)]
        try:
            self.step(worker, which, step, stages=stages)
        except (Fenced, Conflict):
            assert worker is not self.owner or self.is_damaged
            self.workers.remove(worker)

    def step(self, worker: Worker, which: int, step: int, *, stages: bool) -> None:
        reruns, until = worker.processor.reruns, worker.processor.next_offset
        if worker.rerun is None or worker.rerun.name not in worker.repairable:
            name = worker.repairable[which % len(worker.repairable)]
            worker.rerun, worker.rejections = reruns.begin(name, until=until), []
        rerun = worker.rerun
        end = min(rerun.next_offset + step, until)
        for part in self.log.read(rerun.next_offset, end):
            worker.rejections += rerun.apply(part)
        rerun.skip_to(end)
        if end < until:
            if stages and not rerun.is_outdated:
                self.send(worker.rejections)
                worker.rejections = []
                reruns.stage(rerun)
        elif rerun.begin_again_if_outdated():
            worker.rejections = []
        else:
            worker.rerun = None
            self.owe(worker, reruns.finish(rerun, tuple(worker.rejections)))
            self.check(worker)

    # -- code and data that break -------------------------------------------------------------------------

    @precondition(lambda self: not self.is_short and not Fragile.broken)
    @rule()
    def break_code(self) -> None:
        """Run a version of the code that fails on what comes next."""
        self.log.append(FATAL)
        Fragile.broken = True
        self.work_on()

    @precondition(lambda self: Fragile.broken)
    @rule()
    def repair_code(self) -> None:
        Fragile.broken = False

    @precondition(lambda self: self.may_lose)
    @rule(which=numbers, what=st.sampled_from(LOSSES))
    def lose(self, which: int, what: str) -> None:
        """Lose keys of a campaign."""
        name = sorted(self.store._campaigns)[which % len(self.store._campaigns)]
        stored = self.store._campaigns[name]
        if what == "campaign":
            del self.store._campaigns[name]
        elif what == "seen":
            stored.seen.clear()
        elif rows := [(table, row) for table, some in sorted(stored.tables.items()) for row in sorted(some)]:
            table, row = rows[which % len(rows)]
            del stored.tables[table][row]
        self.is_damaged = True

    @rule()
    def copy_shard(self) -> None:
        self.older = deepcopy(self.store._campaigns)

    @precondition(lambda self: self.may_lose)
    @rule(some=st.sets(st.integers(0, 2), min_size=1))
    def set_shard_back(self, some: set[int]) -> None:
        """Set campaigns back to an older copy, and their partition not."""
        for name in (f"campaign-{number}" for number in some):
            self.store._campaigns.pop(name, None)
            if name in self.older:
                self.store._campaigns[name] = deepcopy(self.older[name])
        self.is_damaged = True

    @property
    def may_lose(self) -> bool:
        """Whether all outputs were sent. Those that only a lost key holds are lost."""
        return not self.is_short and bool(self.store._campaigns) and self.owed <= self.sent

    # -- who can do what ----------------------------------------------------------------------------------

    @property
    def idle(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.is_idle and worker not in self.behind]

    @property
    def behind(self) -> list[Worker]:
        return [each for each in self.workers if each.is_idle and each.processor.next_offset < self.log.begin]

    @property
    def waiting(self) -> list[Worker]:
        return [worker for worker in self.idle if worker.repairable]

    @property
    def prepared(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.prepared]

    @property
    def unsent(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.unsent]

    # -- what must hold -------------------------------------------------------------------------------------

    def hash(self) -> str:
        return state_hash(self.store, [HOME])

    def calm(self, before: int) -> Calm:
        broken, Fragile.broken = Fragile.broken, False
        try:
            return self.log.calm(before)
        finally:
            Fragile.broken = broken

    def check(self, worker: Worker) -> None:
        """Compare with a calm run, if no campaign waits."""
        if not worker.processor.quarantined and not self.is_damaged:
            assert self.hash() == self.calm(worker.processor.next_offset).hash

    def owe(self, worker: Worker, outputs: Iterable[Output]) -> None:
        worker.unsent = tuple(outputs)
        self.owed |= {(output.topic, output.value) for output in worker.unsent}

    def send(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            event = msgspec.json.decode(output.value)  # a request that was cancelled has the id of the request
            name = f"{event['id']}{event.get('cancelled', '')}" if output.topic in IDENTIFIED else ""
            self.emitted[output.topic, name].add(output.value)

    @property
    def sent(self) -> set[tuple[str, bytes]]:
        return {(topic, value) for (topic, _), found in self.emitted.items() for value in found}

    def teardown(self) -> None:
        Fragile.broken = False
        self.open()
        worker = self.owner
        assert worker is not None
        for _ in self.rest(worker):
            self.send(worker.unsent)
            worker.unsent = ()
        last, calm = worker.processor, self.calm(self.log.end)
        assert self.hash() == calm.hash
        counts, missing = last.counts(), sum(map(len, self.log.missing))
        assert counts.read == len(self.log.kept) == counts.applied + counts.duplicate + counts.rejected
        assert (counts.held, counts.forwarded, counts.missing) == (0, 0, missing)
        assert last.next_offset == counts.read + counts.empty + missing
        assert self.owed <= self.sent
        rejections = {value for topic, value in self.sent if topic == topics.REJECTED.name}
        assert counts.rejected <= len(rejections)
        assert [each for each in calm.rejections ^ rejections if not self.is_retracted(each)] == []
        assert [key for key, found in self.emitted.items() if key[1] and len(found) > 1] == []

    def is_retracted(self, rejection: bytes) -> bool:
        """Return whether a judgment was retracted, and is not counted as rejected.

        It was rejected if it was rated before its retraction was known. Who reads both at once only leaves it out.
        """
        found = msgspec.json.decode(rejection, type=Rejection)
        judgment = msgspec.json.decode(found.original, type=Judgment)
        meta = self.store.read_meta(judgment.campaign)
        judge = judgment.judge.removeprefix("~")
        return meta is not None and meta.retractions.find_reason(judgment, judge, found.offset) is not None

    def rest(self, worker: Worker) -> Iterator[None]:
        """Do all that is left to do. What is to be sent is sent after each step."""
        yield
        while worker in self.behind:
            self.skip(worker)
            self.accept_gap()
        if batch := self.log.next_batch(worker.processor.next_offset, self.log.end):
            self.owe(worker, worker.processor.process(batch))
            yield
        while worker.processor.quarantined:
            self.step(worker, 0, self.log.end, stages=False)
            yield


@pytest.mark.long
def test_any_interleaving_of_steps_crashes_and_losses_gives_the_state_of_a_calm_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(MODELS, "faulty", Fragile)
    run_state_machine_as_test(
        Interleavings, settings=settings(settings.default, max_examples=100, stateful_step_count=50)
    )
