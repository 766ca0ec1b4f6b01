"""What Redis answers when it can't write now: the caller waits, whatever the words of the answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from deploy.ports import HOST
from streams.errors import StoreUnavailable
from streams.stores.base import Lease
from streams.stores.commit import Commit
from streams.stores.redis.client import Client
from streams.stores.redis.store import RedisStore

REFUSALS = (
    b"-CLUSTERDOWN The cluster is down",
    b"-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    b"-READONLY You can't write against a read only replica.",
    b"-TRYAGAIN Multiple keys request during rehashing of slot",
    b"-LOADING Redis is loading the dataset in memory",
    b"-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    b"-OOM command not allowed when used memory > 'maxmemory'.",
)


@pytest.fixture(params=REFUSALS, ids=lambda answer: answer[1:].split()[0].decode())
def refusing(request: pytest.FixtureRequest) -> Iterator[Client]:
    """Return the client of a server that refuses everything but the greeting."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            while asked := connection.recv(2**16):
                words = asked.split(b"\r\n")
                greetings = words.count(b"CLIENT") + words.count(b"HELLO")
                commands = sum(word.startswith(b"*") for word in words)
                connection.sendall(b"+OK\r\n" * greetings + (request.param + b"\r\n") * (commands - greetings))

    with socket.create_server((HOST, 0)) as listening:
        client = Client(f"redis://{HOST}:{listening.getsockname()[1]}/0?protocol=2")
        server = threading.Thread(target=serve)
        server.start()
        try:
            yield client
        finally:
            client.close()
            server.join()


def test_a_server_that_cannot_write_now_is_away(refusing: Client) -> None:
    with pytest.raises(StoreUnavailable), refusing.translated_errors():
        refusing.first.set("key", 1)


def test_a_server_that_refuses_a_pipeline_now_is_away(refusing: Client) -> None:
    pipeline = refusing.first.pipeline(transaction=False)
    pipeline.set("key", 1)
    pipeline.set("key", 2)
    with pytest.raises(StoreUnavailable), refusing.translated_errors():
        pipeline.execute()


@pytest.mark.parametrize("number", [1, 2])
def test_batches_wait_for_a_server_that_can_not_say_yet_whether_it_is_a_cluster(refusing: Client, number: int) -> None:
    store = RedisStore("redis://not-asked")
    store.client = refusing
    commit = Commit(before=0, after=0, read=0, rejected=0, campaigns=(), outbox=())
    with pytest.raises(StoreUnavailable):
        store.persist_all([(Lease(f"judgments.v1/{partition}", 1), commit) for partition in range(number)])
