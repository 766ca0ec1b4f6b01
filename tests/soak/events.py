"""The faults of a soak: a table of events, each with a weight. A fault that lasts is ended later, by `Scene.after`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.soak import data_faults, senders, transactions
from tests.soak.fleet import Member, State
from tests.soak.scene import Scene


@dataclass(frozen=True)
class Event:
    """Something that happens now and then. It returns what it did, or None if it could not be done now.

    One without a weight happens only if it is asked for.
    """

    do: Callable[[Scene], str | None]
    weight: float
    needs_kafka: bool = True
    needs_redis: bool = True

    def is_possible(self, scene: Scene) -> bool:
        """Return whether the servers that it needs are there."""
        return (scene.kafka_runs or not self.needs_kafka) and (scene.redis.all_run or not self.needs_redis)


# -- workers ------------------------------------------------------------------------------------------------


def kill_worker(scene: Scene) -> str | None:
    """kill -9, and a new worker a moment later."""
    return _replace_worker(scene, scene.fleet.kill, "kill -9 of")


def end_worker(scene: Scene) -> str | None:
    """SIGTERM, and a new worker a moment later."""
    return _replace_worker(scene, scene.fleet.terminate, "SIGTERM to")


def _replace_worker(scene: Scene, end: Callable[[Member], None], how: str) -> str | None:
    if not (running := scene.fleet.among(State.RUNNING)):
        return None
    member = scene.chance.choice(running)
    end(member)
    scene.after(scene.chance.uniform(0, 8), f"worker {member.number} starts", lambda: scene.fleet.start(member))
    return f"{how} worker {member.number}"


def freeze_worker(scene: Scene) -> str | None:
    """SIGSTOP for longer than the session lasts: another worker takes over, and this one wakes up as a zombie."""
    if len(running := scene.fleet.among(State.RUNNING)) < 2:
        return None
    member = scene.chance.choice(running)
    scene.fleet.freeze(member)
    seconds = scene.stack.settings.session_timeout_seconds * scene.chance.uniform(1.2, 2.5)
    scene.after(seconds, f"SIGCONT to worker {member.number}", lambda: scene.fleet.thaw(member))
    return f"SIGSTOP of worker {member.number} for {seconds:.0f} s"


# -- servers ------------------------------------------------------------------------------------------------


def kill_kafka(scene: Scene) -> str:
    """kill -9 of the broker, which comes back."""
    scene.kafka.kill("kafka")
    scene.kafka_runs = False

    def start() -> None:
        scene.kafka.start("kafka")
        scene.kafka_runs = True

    scene.after(scene.chance.uniform(0, 5), "Kafka starts", start)
    return "kill -9 of Kafka"


def kill_redis(scene: Scene) -> str:
    """kill -9 of one node of Redis, which comes back with its data."""
    node = scene.chance.choice(scene.redis.nodes)
    node.end(patience=0)
    number = scene.redis.nodes.index(node)
    seconds = scene.chance.uniform(0, 6)
    scene.after(seconds, f"Redis node {number} starts", lambda: scene.redis.start_node(node))
    return f"kill -9 of Redis node {number}"


EVENTS = {
    "kill": Event(kill_worker, 3, needs_kafka=False, needs_redis=False),
    "term": Event(end_worker, 2, needs_kafka=False, needs_redis=False),
    "stop": Event(freeze_worker, 2, needs_kafka=False, needs_redis=False),
    "kafka": Event(kill_kafka, 0.5),
    "redis": Event(kill_redis, 1),
    "redelivery": Event(senders.redeliver, 4),
    "retraction": Event(senders.retract, 6),
    "misrouted": Event(senders.misroute, 4),
    "undecodable": Event(senders.send_bad, 4),
    "posts": Event(senders.post, 4),
    "head": Event(data_faults.delete_head, 2),
    "gap": Event(data_faults.open_gap, 0.5),
    "eviction": Event(data_faults.evict, 2),
    "eviction-of-head": Event(data_faults.evict_head, 0.7),
    "old-shard": Event(data_faults.age_shard, 1),
    "transaction": Event(transactions.transact, 3),
}
