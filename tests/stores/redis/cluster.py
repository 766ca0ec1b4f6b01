"""A real Redis Cluster of one node that holds all slots: it refuses a call that touches two of them."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

import redis

from deploy.ports import free_port
from deploy.processes import end, launch
from deploy.redis_server import RedisServer
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def running_cluster(home: Path) -> Iterator[str]:
    """Start it, return its URL, and stop it at the end."""
    port = free_port()
    server = RedisServer(port, secrets.token_hex(16))
    command = server.prepare(home)
    with (home / "redis.conf").open("a") as settings:
        settings.write(f"cluster-enabled yes\ncluster-port {free_port(besides=[port])}\n")
    process = launch(command, home=home, log=home / "redis.log")
    try:
        wait_for(server.is_ready, "the server answers")
        node = redis.Redis.from_url(server.address)
        node.cluster("addslotsrange", 0, 16383)
        wait_for(lambda: node.cluster("info")["cluster_state"] == "ok", "the cluster is up")
        node.close()
        yield server.address
    finally:
        end(process, patience=PATIENCE_SECONDS)
