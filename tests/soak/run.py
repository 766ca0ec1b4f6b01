"""One soak from start to end: start all, create the campaigns, let faults happen, settle, check."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import redis
from aiokafka.errors import KafkaError

from deploy.servers import Servers
from streams.errors import BrokerUnavailable, StoreCorrupt, StoreUnavailable
from streams.settings import Settings
from streams.wire import topics
from tests.faults.stack import FaultStack
from tests.integration.monitors import monitor_on
from tests.soak import checks
from tests.soak.errors import SoakError
from tests.soak.events import EVENTS
from tests.soak.fleet import Fleet, State
from tests.soak.log_copy import LogCopy
from tests.soak.places import Places
from tests.soak.records import Author
from tests.soak.redis_nodes import RedisNodes
from tests.soak.scene import Scene
from tests.soak.traffic import Traffic
from tests.waiting import PATIENCE_SECONDS, wait_for

SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 4.0
AWAY = (StoreUnavailable, BrokerUnavailable, KafkaError, redis.RedisError, OSError)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run."""

    folder: Path
    seconds: float
    seed: int
    campaigns: int
    partitions: int
    workers: int
    nodes: int
    per_second: float
    events: Sequence[str]


@contextmanager
def running(plan: Plan) -> Iterator[Scene]:
    """Start everything. At the end, also after an error, stop it."""
    with ExitStack() as ending:
        kafka = Servers(plan.folder / "servers", ready_seconds=PATIENCE_SECONDS)
        ending.callback(kafka.kill, "kafka")
        address = kafka.start("kafka")["JUDGESTREAM_KAFKA"]
        nodes = RedisNodes(plan.folder, plan.nodes)
        ending.callback(nodes.stop)
        nodes.start()
        places = Places.choose(campaigns=plan.campaigns, partitions=plan.partitions, nodes=plan.nodes)
        settings = Settings(
            kafka=address,
            redis=nodes.url,
            namespace=places.namespace,
            judge_key="a key for soaks",
            partitions=plan.partitions,
            batch_records=200,
            snapshot_seconds=2,
            session_timeout_seconds=6,
        )
        stack = FaultStack(settings, plan.folder)
        ending.callback(stack.stop)
        topic = topics.JUDGMENTS.within(places.namespace)
        author = Author(places, plan.seed)
        copy = LogCopy(address, topic, plan.partitions)
        ending.callback(copy.stop)
        copy.start()
        traffic = Traffic(address, topic, author, per_second=plan.per_second)
        ending.callback(traffic.give_up)
        traffic.start()
        fleet = Fleet(stack, plan.workers)
        fleet.start_all()
        monitor = ending.enter_context(monitor_on(stack))
        yield Scene(
            folder=plan.folder,
            seed=plan.seed,
            places=places,
            kafka=kafka,
            redis=nodes,
            stack=stack,
            fleet=fleet,
            monitor=monitor,
            author=author,
            traffic=traffic,
            copy=copy,
        )


def soak(plan: Plan, scene: Scene) -> None:
    """Run a soak. Raise SoakError at the first promise that does not hold."""
    scene.traffic.add(scene.author.creations())
    wait_for(lambda: scene.traffic.sent >= plan.campaigns, "the campaigns are created")
    first = wait_until_settled(scene)
    scene.note(f"{plan.campaigns} campaigns on {plan.partitions} partitions are created")
    scene.traffic.flow()
    disturb(plan, scene)
    settle(scene)
    check(scene, first)


def disturb(plan: Plan, scene: Scene) -> None:
    """Let events happen, one after the other, for some time."""
    end = time.monotonic() + plan.seconds
    names = [name for name in EVENTS if name in plan.events]
    while time.monotonic() < end:
        scene.check()
        scene.do_what_is_due()
        if names:
            (name,) = scene.chance.choices(names, weights=[EVENTS[name].weight or 1 for name in names])
            happen(scene, name)
        pause = time.monotonic() + scene.chance.uniform(SHORTEST_PAUSE, LONGEST_PAUSE)
        while time.monotonic() < min(pause, end):
            scene.check()
            scene.do_what_is_due()
            time.sleep(0.1)


def happen(scene: Scene, name: str) -> None:
    """Let one event happen, if it can."""
    if not EVENTS[name].is_possible(scene):
        return
    try:
        text = EVENTS[name].do(scene)
    except AWAY as error:
        text = f"not possible now: {str(error)[:100]}"
    if text is not None:
        scene.note(f"{name}: {text}")


# -- the end ------------------------------------------------------------------------------------------------


def settle(scene: Scene) -> None:
    """End all faults, and wait until nothing is left to do. New workers then load all that is stored."""
    scene.note("the faults are over")
    scene.do_what_is_due(all_of_it=True)
    scene.redis.wait_until_whole()
    scene.fleet.start_all()
    scene.traffic.add(scene.author.last_judgments())
    scene.traffic.stop()
    wait_until_settled(scene)
    scene.note("all is applied; all workers start again")
    scene.fleet.terminate_all()
    scene.fleet.start_all()
    wait_until_settled(scene)
    scene.fleet.terminate_all()
    scene.note(f"all is settled; the slowest worker ended {scene.fleet.slowest_end:.1f} s after SIGTERM")


def wait_until_settled(scene: Scene) -> list[int]:
    """Wait until all records are applied and every campaign is rated. Return the ends of the partitions."""
    reasons: list[str] = []
    ends: list[int] = []

    def is_settled() -> bool:
        scene.check()
        try:
            ends[:] = [end for _, end in sorted(scene.log_ends().items())]
            reasons[:] = unsettled(scene, ends)
        except (*AWAY, StoreCorrupt) as error:
            reasons[:] = [str(error)]
        return not reasons

    try:
        wait_for(is_settled, lambda: "; ".join(reasons[:5]), pause=0.5)
    except SoakError:
        raise
    except AssertionError as error:
        raise SoakError(f"it does not settle: {error}") from None
    return ends


def unsettled(scene: Scene, ends: Sequence[int]) -> list[str]:
    """Return what is not settled yet."""
    store, found = scene.stack.store, list[str]()
    for number, end in enumerate(ends):
        offset = int(store.read_partition(scene.head(number)).get("offset", 0))
        if offset != end:
            found.append(f"partition {number} is at offset {offset}, and the log ends at {end}")
        if scene.copy.ends[number] != end:
            found.append(f"the copy of partition {number} ends at {scene.copy.ends[number]}, and the log at {end}")
    for place in [] if found else scene.places.campaigns:
        meta = store.read_meta(place.campaign)
        if meta is None or meta.status.quarantine is not None:
            found.append(f"{place.campaign}: {meta and meta.status.quarantine}")
    for member in scene.fleet.among(State.RUNNING):
        answer = scene.fleet.ask(member, "/readyz")
        if answer is None or answer.status != 200:
            found.append(f"worker {member.number} is not ready: {answer and answer.body!r}")
    return found


def check(scene: Scene, first: Sequence[int]) -> None:
    """Compare what is there with what a calm run makes of the same log."""
    stack = scene.stack
    heads = [scene.head(number) for number in range(scene.places.partitions)]
    gone = [scene.missing.get(number, []) for number in range(scene.places.partitions)]
    log = [
        [record for record in records if not any(record.offset in offsets for offsets in gone[number])]
        for number, records in enumerate(scene.copy.records)
    ]
    scene.note(f"{sum(map(len, log))} records are compared with a calm replay")
    calm = checks.replay(scene.topic, log, stack.settings, first=first)
    ratings = [*chain.from_iterable(stack.read(topics.RATINGS).values())]
    missing = [sum(map(len, offsets)) for offsets in gone]
    problems = list(
        chain(
            checks.unaccounted(stack.store, heads, ends=scene.copy.ends, missing=missing),
            checks.differences(stack.store, calm.store, heads),
            checks.wrong_rejections(stack.values(topics.REJECTED), calm),
            checks.wrong_ratings(ratings, stack.store, heads),
        )
    )
    (scene.folder / "problems.txt").write_text("\n".join(problems))
    if problems:
        raise SoakError(f"{len(problems)} problems (all are in {scene.folder}/problems.txt), the first:\n{problems[0]}")
    ratings_text = f"{len(ratings)} ratings and {len(calm.rejections)} rejections are as they should be"
    scene.note(f"every offset is accounted for, the state is that of a calm replay, {ratings_text}")
