"""A Kafka that tells its clients to come through a proxy."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from deploy.kafka_server import KafkaServer
from deploy.ports import HOST, free_port
from deploy.processes import end, launch
from streams.errors import BrokerUnavailable
from streams.kafka.admin import describe_brokers
from streams.settings import Settings
from tests.faults.proxy import Proxy
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def proxied_kafka(home: Path) -> Iterator[Proxy]:
    """Run a broker in a folder behind a proxy, which is returned."""
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
            through_proxy = Settings(kafka=f"{HOST}:{proxy.port}")
            wait_for(lambda: _answers(through_proxy), f"the broker at {through_proxy.kafka} answers", pause=0.2)
            yield proxy
        finally:
            end(process, patience=0)


def _answers(settings: Settings) -> bool:
    try:
        describe_brokers(settings)
    except BrokerUnavailable:
        return False
    return True
