"""A Redis Cluster of which one shard comes back older: what it has lost is noticed and repaired from the log."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest
import redis

from deploy.ports import free_port
from deploy.redis_server import RedisServer
from streams.errors import Conflict, StoreCorrupt, StoreUnavailable
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.rebuild.rebuild import rebuild
from streams.stores.redis.store import RedisStore
from streams.wire import topics
from streams.wire.events import encode
from tests.builders import crowd_log
from tests.integration.stack import Stack
from tests.integration.test_rebuild import expected_hash, found_hash, partitions, run_log
from tests.soak.redis_nodes import RedisNode, RedisNodes
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration

CAMPAIGNS = [f"campaign-{number}" for number in range(12)]
RECORDS = [(entry.campaign.encode(), encode(entry)) for entry in crowd_log(900, campaigns=len(CAMPAIGNS), seed=31)]


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[RedisNodes]:
    nodes = RedisNodes(tmp_path / "nodes", 3)
    nodes.start()
    try:
        yield nodes
    finally:
        nodes.stop()


@contextmanager
def on_cluster(stack: Stack, nodes: RedisNodes) -> Iterator[Stack]:
    clustered = Stack(msgspec.structs.replace(stack.settings, redis=nodes.url), stack.folder)
    try:
        yield clustered
    finally:
        clustered.stop()


def open_all(stack: Stack) -> list[Processor]:
    options = ProcessorOptions.from_settings(stack.settings)
    numbers = range(stack.settings.partitions)
    return [Processor.open(stack.name(topics.JUDGMENTS), number, stack.store, options)[0] for number in numbers]


def is_on(nodes: RedisNodes, node: RedisNode, key: str) -> bool:
    with redis.Redis.from_url(node.server.address) as client:
        slot = int(client.execute_command("CLUSTER KEYSLOT", key))
    number = nodes.nodes.index(node)
    return 16384 * number // len(nodes.nodes) <= slot < 16384 * (number + 1) // len(nodes.nodes)


def behind(stack: Stack, nodes: RedisNodes, node: RedisNode) -> set[str]:
    """Return the campaigns on a node whose partitions are on others."""
    return {
        name
        for partition in partitions(stack)
        for name in stack.store.list_campaigns([partition])
        if is_on(nodes, node, stack.store.keys.campaign(name, "meta"))
        and not is_on(nodes, node, stack.store.keys.partition(partition))
    }


def noticed(stack: Stack, processors: list[Processor]) -> None:
    """Show that the idle check and a load notice it, and that a rebuild and the next owner repair it."""
    assert any(is_conflict(processor) for processor in processors)
    problems = {
        name: text for partition in partitions(stack) for name, text in stack.store.find_problems(partition).items()
    }
    assert problems
    assert all("older than its partition knows" in text for text in problems.values())
    rebuild(stack.settings)
    run_log(stack, stack.store)
    assert found_hash(stack) == expected_hash(stack)
    assert not any(stack.store.find_problems(partition) for partition in partitions(stack))


@pytest.mark.parametrize("number", range(3))
def test_a_shard_from_an_older_snapshot_is_noticed_and_repaired(stack: Stack, nodes: RedisNodes, number: int) -> None:
    node = nodes.nodes[number]
    with on_cluster(stack, nodes) as clustered:
        clustered.publish(RECORDS[:450])
        run_log(clustered, clustered.store)
        node.keep_copy()
        clustered.publish(RECORDS[450:])
        run_log(clustered, clustered.store)
        processors = open_all(clustered)
        expected = behind(clustered, nodes, node)
        assert expected, "a campaign that lies on another shard than its partition"
        node.end(patience=0)
        node.set_back()
        nodes.start_node(node)
        nodes.wait_until_whole()
        wait_for(lambda: answers(clustered.store), "all nodes answer")
        assert expected == {
            name for partition in partitions(clustered) for name in clustered.store.find_problems(partition)
        }
        noticed(clustered, processors)


def test_a_worker_repairs_a_shard_that_came_back_older(stack: Stack, nodes: RedisNodes) -> None:
    node = nodes.nodes[1]
    with on_cluster(stack, nodes) as clustered:
        worker = clustered.start_worker()
        clustered.publish(RECORDS[:450])
        clustered.wait_until_read(450)
        node.keep_copy()
        clustered.publish(RECORDS[450:])
        clustered.wait_until_read(len(RECORDS))
        assert behind(clustered, nodes, node), "a campaign that lies on another shard than its partition"
        node.end(patience=0)
        node.set_back()
        nodes.start_node(node)
        nodes.wait_until_whole()
        expected = expected_hash(clustered)

        def is_repaired() -> bool:
            try:
                return found_hash(clustered) == expected
            except (StoreUnavailable, StoreCorrupt):
                return False

        clustered.wait_for(is_repaired, "the campaigns that came back older are rated again")
        assert worker.process.poll() is None


def test_a_replica_that_lagged_behind_is_noticed_and_repaired(stack: Stack, nodes: RedisNodes, tmp_path: Path) -> None:
    node = nodes.nodes[1]
    taken = [port for each in nodes.nodes for port in (each.server.port, each.bus)]
    port = free_port(besides=taken)
    bus = free_port(besides=[*taken, port])
    replica = RedisNode(RedisServer(port, node.server.password), bus, tmp_path / "replica")
    replica.home.mkdir()
    replica.start(clustered=True)
    try:
        with redis.Redis.from_url(replica.server.address) as client, redis.Redis.from_url(node.server.address) as own:
            client.config_set("masterauth", node.server.password)
            client.execute_command("CLUSTER MEET", "127.0.0.1", node.server.port, node.bus)
            identity = own.execute_command("CLUSTER MYID")
            wait_for(
                lambda: identity.decode() in str(client.execute_command("CLUSTER NODES")), "the replica knows the node"
            )
            client.execute_command("CLUSTER REPLICATE", identity)
            with on_cluster(stack, nodes) as clustered:
                clustered.publish(RECORDS[:450])
                run_log(clustered, clustered.store)
                wait_for(lambda: is_level(own, client), "the replica has all")
                client.config_set("masterauth", "wrong")  # so it can't connect again
                own.client_kill_filter(_type="replica")
                clustered.publish(RECORDS[450:])
                run_log(clustered, clustered.store)
                processors = open_all(clustered)
                node.end(patience=0)
                client.execute_command("CLUSTER FAILOVER", "TAKEOVER")
                wait_for(lambda: answers(clustered.store), "the replica has taken over", pause=0.2)
                noticed(clustered, processors)
    finally:
        replica.end(patience=0)


def is_conflict(processor: Processor) -> bool:
    try:
        processor.verify()
    except Conflict:
        return True
    return False


def is_level(primary: redis.Redis, replica: redis.Redis) -> bool:
    there, here = primary.info("replication"), replica.info("replication")
    return here.get("master_link_status") == "up" and here["slave_repl_offset"] == there["master_repl_offset"]


def answers(store: RedisStore) -> bool:
    try:
        for campaign in CAMPAIGNS:
            store.read_head(campaign)
    except (StoreUnavailable, redis.RedisError):
        return False
    return True
