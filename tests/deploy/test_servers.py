from __future__ import annotations

import asyncio
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy import servers as script
from deploy import state
from deploy.errors import NotReadyError, PortTakenError, ToolMissingError
from deploy.kafka_server import KafkaServer
from deploy.ports import free_port, is_free
from deploy.processes import Process, launch
from deploy.redis_server import RedisServer
from deploy.servers import Servers
from deploy.state import ServerRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(script.__file__)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    servers = Servers(tmp_path / "servers")
    yield servers
    servers.kill()


def redis_server_that(does: str, programs: Path) -> None:
    (programs / "redis-server").write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{does}\n")
    (programs / "redis-server").chmod(0o755)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


@contextmanager
def listener(answer: bytes = b"") -> Iterator[int]:
    """A port that accepts a connection, gives the same answer to every question, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def metadata_of_a_broker_on(port: int, *, correlation: int = 7) -> bytes:
    body = struct.pack(">iiih", correlation, 1, 1, 4) + b"host" + struct.pack(">ih", port, -1)
    return struct.pack(">i", len(body)) + body


def test_help_shows_an_example() -> None:
    shown = run("--help")
    assert shown.returncode == 0
    assert 'eval "$(python deploy/servers.py start)"' in shown.stdout


@pytest.mark.parametrize("arguments", [[], ["begin"], ["start", "zookeeper"], ["stop", "--folder", "x"]])
def test_wrong_use_is_told_from_failure(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        script.main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_a_missing_redis_server_says_how_to_get_it(
    tmp_path: Path, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["start", "--dir", str(tmp_path / "servers"), "redis"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    for part in ("apt-get install redis-server", "brew install redis", "JUDGESTREAM_REDIS"):
        assert part in printed.err


def test_nothing_is_launched_when_one_of_two_can_not_be(servers: Servers, programs: Path) -> None:
    redis_server_that("sleep 60", programs)
    with pytest.raises(ToolMissingError, match="java is not on the PATH"):
        servers.start("redis", "kafka")
    assert servers.running() == {}


def test_a_server_that_dies_shows_the_end_of_its_log(servers: Servers, programs: Path) -> None:
    redis_server_that("echo the disk is full; exit 1", programs)
    with pytest.raises(NotReadyError) as caught:
        servers.start("redis")
    assert "redis ended while it started" in str(caught.value)
    assert "the disk is full" in str(caught.value)


def test_a_server_that_never_answers_is_told_and_can_be_stopped(tmp_path: Path, programs: Path) -> None:
    redis_server_that("echo still loading; exec sleep 60", programs)
    servers = Servers(tmp_path / "servers", ready_seconds=0.5)
    with pytest.raises(NotReadyError) as caught:
        servers.start("redis")
    assert "has not answered" in str(caught.value)
    assert "still loading" in str(caught.value)
    assert list(servers.running()) == ["redis"]
    servers.stop("redis")
    assert servers.running() == {}


def test_a_port_that_another_process_holds_is_named(servers: Servers) -> None:
    servers.directory.mkdir()
    with listener() as port:
        state.write(servers.directory / "state.json", {"redis": ServerRecord(port=port, password="hunter2")})
        with pytest.raises(PortTakenError, match=f"port {port}, which another process uses"):
            servers.start("redis")


@pytest.mark.parametrize("verb", ["stop", "kill"])
def test_a_recorded_pid_that_now_is_another_process_is_left_alone(
    tmp_path: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    process = launch(["sleep", "60"], home=tmp_path, log=tmp_path / "log")
    try:
        stale = ServerRecord(port=20_000, process=Process(process.pid, "another time"))
        state.write(tmp_path / "state.json", {"kafka": stale})
        assert script.main([verb, "--dir", str(tmp_path), "kafka"]) == 0
        assert process.runs()
    finally:
        os.kill(process.pid, signal.SIGKILL)


def test_status_and_stop_of_nothing_make_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("status", "stop", "kill"):
        assert script.main([verb, "--dir", str(tmp_path / "servers")]) == 0
    assert not (tmp_path / "servers").exists()
    assert "kafka does not run" in capsys.readouterr().out


def test_an_open_port_alone_is_no_server() -> None:
    with listener() as port:
        assert not KafkaServer(port).is_ready()
    with listener() as port:
        assert not RedisServer(port, "hunter2").is_ready()


def test_a_port_is_chosen_that_is_neither_taken_nor_promised() -> None:
    with listener() as taken:
        assert not is_free(taken)
    promised = range(20_000, 20_199)
    assert free_port(range(20_000, 20_200), besides=promised) == 20_199


def test_a_broker_is_ready_when_it_names_itself() -> None:
    port = free_port()
    for answer, ready in (
        (metadata_of_a_broker_on(port), True),
        (metadata_of_a_broker_on(port + 1), False),
        (metadata_of_a_broker_on(port, correlation=8), False),
        (metadata_of_a_broker_on(port)[:-8], False),
        (struct.pack(">iii", 8, 7, 0), False),
    ):
        with socket.create_server(("127.0.0.1", port)) as server:
            thread = threading.Thread(target=_answer_once, args=(server, answer))
            thread.start()
            assert KafkaServer(port).is_ready() is ready
            thread.join()


@pytest.mark.parametrize(
    ("answer", "ready"),
    [
        (b"+OK\r\n+PONG\r\n", True),
        (b"+OK\r\n-LOADING Redis is loading the dataset in memory\r\n", False),
        (b"-WRONGPASS invalid username-password pair\r\n-NOAUTH Authentication required.\r\n", False),
    ],
)
def test_redis_is_ready_when_it_takes_the_password_and_answers(answer: bytes, ready: bool) -> None:
    with listener(answer) as port:
        assert RedisServer(port, "hunter2").is_ready() is ready


def _answer_once(server: socket.socket, answer: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(answer)


@pytest.mark.integration
def test_redis_comes_back_with_its_port_password_and_data(servers: Servers) -> None:
    address = servers.start("redis")["JUDGESTREAM_REDIS"]
    for number, end in enumerate((servers.stop, servers.kill)):
        with redis.Redis.from_url(address) as client:
            client.set(f"key {number}", "value")
        end("redis")
        assert servers.running() == {}
        assert servers.start("redis") == {"JUDGESTREAM_REDIS": address}
        with redis.Redis.from_url(address) as client:
            assert client.get(f"key {number}") == b"value"


@pytest.mark.integration
def test_redis_refuses_whoever_has_no_password(servers: Servers) -> None:
    servers.start("redis")
    port = servers.running()["redis"].port
    with redis.Redis(port=port, retry=Retry(NoBackoff(), 0)) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()


@pytest.mark.integration
def test_the_output_of_start_is_for_the_shell_and_a_second_start_changes_nothing(servers: Servers) -> None:
    directory = str(servers.directory)
    first, running = run("start", "--dir", directory, "redis"), servers.running()
    record = running["redis"]
    assert first.stdout == f"export JUDGESTREAM_REDIS=redis://:{record.password}@127.0.0.1:{record.port}/0\n"
    second = run("start", "--dir", directory, "redis")
    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert f"redis already runs on port {record.port}" in second.stderr
    assert servers.running() == running
    status = run("status", "--dir", directory)
    assert f"redis runs on 127.0.0.1:{record.port}" in status.stdout
    assert record.password not in status.stdout


@pytest.mark.integration
def test_kafka_comes_back_with_its_port_and_data(servers: Servers) -> None:
    address = servers.start("kafka")["JUDGESTREAM_KAFKA"]
    asyncio.run(_produce(address, "judgments", [b"first", b"x" * 8 * 1024 * 1024]))
    for end in (servers.kill, servers.stop):
        end("kafka")
        assert servers.running() == {}
        assert servers.start("kafka") == {"JUDGESTREAM_KAFKA": address}
        values = asyncio.run(_consume(address, "judgments", 2))
        assert [len(value) for value in values] == [5, 8 * 1024 * 1024]


async def _produce(address: str, topic: str, values: list[bytes]) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    await admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])
    await admin.close()
    producer = AIOKafkaProducer(bootstrap_servers=address, max_request_size=9 * 1024 * 1024)
    await producer.start()
    for value in values:
        await producer.send_and_wait(topic, value)
    await producer.stop()


async def _consume(address: str, topic: str, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=9 * 1024 * 1024,
    )
    await consumer.start()
    values = [(await asyncio.wait_for(consumer.getone(), 30)).value for _ in range(count)]
    await consumer.stop()
    return values
