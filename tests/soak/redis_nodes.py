"""The Redis of a soak: a cluster of some nodes, or a single server. Each node can be killed and set back."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

import redis

from deploy.ports import HOST, free_port
from deploy.processes import Process, end, launch
from deploy.redis_server import RedisServer
from tests.waiting import PATIENCE_SECONDS, wait_for

SLOTS = 16384
DATA = "appendonlydir"
# A node that is away is noticed after this time. Then the others refuse to write.
NODE_TIMEOUT_MS = 2000


@dataclass
class RedisNode:
    """One server, with its data in a folder."""

    server: RedisServer
    bus: int
    home: Path
    process: Process | None = None

    @property
    def old(self) -> Path:
        """The folder of an older copy of the data."""
        return self.home / "old"

    def start(self, *, clustered: bool) -> None:
        """Start it with the data that it has."""
        command = self.server.prepare(self.home)
        if clustered:
            with (self.home / "redis.conf").open("a") as settings:
                settings.write(
                    f"cluster-enabled yes\ncluster-port {self.bus}\ncluster-node-timeout {NODE_TIMEOUT_MS}\n"
                )
        self.process = launch(command, home=self.home, log=self.home / "redis.log")
        wait_for(self.server.is_ready, f"Redis answers on port {self.server.port}")

    def end(self, *, patience: float) -> None:
        """Stop it, or kill it if it has no time."""
        if self.process is not None:
            end(self.process, patience=patience)
            self.process = None

    def keep_copy(self) -> None:
        """Copy the data as it is now. What is being written may be cut off, as in a backup."""
        shutil.rmtree(self.old, ignore_errors=True)
        shutil.copytree(self.home / DATA, self.old)

    def set_back(self) -> None:
        """Replace the data by the older copy. The server must not run."""
        shutil.rmtree(self.home / DATA)
        self.old.rename(self.home / DATA)


class RedisNodes:
    """All nodes. The slots of a cluster are dealt out to them in equal ranges."""

    def __init__(self, home: Path, count: int) -> None:
        self.home = home
        password, taken = secrets.token_hex(16), list[int]()
        self.nodes: list[RedisNode] = []
        for number in range(count):
            taken += [free_port(besides=taken)]
            taken += [free_port(besides=taken)]
            self.nodes.append(RedisNode(RedisServer(taken[-2], password), taken[-1], home / f"redis-{number}"))

    @property
    def url(self) -> str:
        """The address of the first node."""
        return self.nodes[0].server.address

    @property
    def clustered(self) -> bool:
        """Whether it is a cluster."""
        return len(self.nodes) > 1

    @property
    def all_run(self) -> bool:
        """Whether no node is down."""
        return all(node.process is not None for node in self.nodes)

    def start(self) -> None:
        """Start all nodes, and form the cluster."""
        for node in self.nodes:
            node.home.mkdir(parents=True)
            self.start_node(node)
        if not self.clustered:
            return
        bounds = [SLOTS * number // len(self.nodes) for number in range(len(self.nodes) + 1)]
        for node, low, high in zip(self.nodes, bounds[:-1], bounds[1:], strict=True):
            with redis.Redis.from_url(node.server.address) as client:
                client.cluster("addslotsrange", low, high - 1)
                for other in self.nodes:
                    client.execute_command("CLUSTER MEET", HOST, other.server.port, other.bus)
        self.wait_until_whole()

    def start_node(self, node: RedisNode) -> None:
        """Start one node."""
        node.start(clustered=self.clustered)

    def wait_until_whole(self) -> None:
        """Wait until each node of the cluster knows the others."""
        if self.clustered:
            wait_for(lambda: all(self._knows_all(node) for node in self.nodes), "the cluster is up", pause=0.1)

    def _knows_all(self, node: RedisNode) -> bool:
        with redis.Redis.from_url(node.server.address) as client:
            found = client.cluster("info")
            return found["cluster_state"] == "ok" and int(found["cluster_known_nodes"]) == len(self.nodes)

    def stop(self) -> None:
        """Stop all nodes."""
        for node in self.nodes:
            node.end(patience=0 if self.clustered else PATIENCE_SECONDS)
