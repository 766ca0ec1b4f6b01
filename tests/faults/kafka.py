"""A Kafka that tells its clients to come through a proxy."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deploy.kafka_server import KafkaServer
from deploy.ports import HOST, free_port
from deploy.processes import end, launch
from streams.errors import BrokerUnavailable
from streams.kafka.admin import describe_brokers
from streams.settings import Settings
from tests.faults.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READY_SECONDS = 60.0


@contextmanager
def proxied_kafka(home: Path) -> Iterator[Proxy]:
    """Run a broker in a folder, and give the proxy in front of it."""
    home.mkdir()
    server = KafkaServer(free_port())
    with Proxy(server.port) as proxy:
        command = server.prepare(home)
        properties = home / "server.properties"
        advertised = f"advertised.listeners=PLAINTEXT://{HOST}:"
        written = properties.read_text()
        assert f"{advertised}{server.port}\n" in written
        properties.write_text(written.replace(f"{advertised}{server.port}", f"{advertised}{proxy.port}"))
        process = launch(command, home=home, log=home / "kafka.log")
        try:
            _wait(Settings(kafka=f"{HOST}:{proxy.port}"))
            yield proxy
        finally:
            end(process, patience=0)


def _wait(settings: Settings) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            describe_brokers(settings)
        except BrokerUnavailable:
            assert time.monotonic() < deadline, f"no broker at {settings.kafka} after {READY_SECONDS:.0f} s"
            time.sleep(0.2)
        else:
            return
