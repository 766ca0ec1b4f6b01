"""Every consumer that reads records reads only those that are committed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from streams.errors import BrokerUnavailable
from streams.kafka import consumers
from streams.kafka.consumers import open_consumer
from streams.kafka.reading import open_reader
from streams.settings import Settings

SETTINGS = Settings(kafka="a:1")


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The isolation levels of the consumers that are built."""
    built: list[str] = []

    class FakeClient:
        def __init__(self, *, isolation_level: str, **_: Any) -> None:
            built.append(isolation_level)

        async def start(self) -> None:
            pass

        async def stop(self) -> None:
            pass

        def assign(self, _: object) -> None:
            pass

    monkeypatch.setattr(consumers, "AIOKafkaConsumer", FakeClient)
    return built


async def open_and_close(**options: bool) -> None:
    async with open_consumer(SETTINGS, [], **options):
        pass


def test_the_rebuild_and_the_monitor_read_only_what_is_committed(levels: list[str]) -> None:
    with open_reader(SETTINGS, group="g"):
        pass
    asyncio.run(open_and_close())
    assert levels == ["read_committed"] * 2


def test_a_consumer_that_only_asks_for_ends_sees_open_transactions(levels: list[str]) -> None:
    asyncio.run(open_and_close(ends_of_all=True))
    assert levels == ["read_uncommitted"]


def test_a_record_that_aiokafka_can_not_read_is_named(levels: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what waits for that record goes on waiting: an error that nobody expects would end a worker."""

    async def read(*_: object, **__: object) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    async def run() -> None:
        async with open_consumer(SETTINGS, []) as consumer:
            monkeypatch.setattr(consumer._client, "getmany", read, raising=False)
            with pytest.raises(BrokerUnavailable, match="the name of a header is not UTF-8"):
                await consumer.fetch(timeout_ms=10)

    asyncio.run(run())
