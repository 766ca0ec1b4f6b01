"""Every consumer that reads records reads only those that are committed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

from streams.kafka import consumers
from streams.kafka.consumers import Consumer, open_consumer
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

        def subscribe(self, *_: object, **__: object) -> None:
            pass

    monkeypatch.setattr(consumers, "AIOKafkaConsumer", FakeClient)
    return built


async def open_and_close(**options: bool) -> None:
    async with open_consumer(SETTINGS, [], **options):
        pass


def test_the_worker_the_rebuild_and_the_monitor_read_only_what_is_committed(levels: list[str]) -> None:
    asyncio.run(Consumer.in_worker_group(SETTINGS).join("judgments.v1", None))  # type: ignore[arg-type]  # not called
    with open_reader(SETTINGS, group="g"):
        pass
    asyncio.run(open_and_close())
    assert levels == ["read_committed"] * 3


def test_a_consumer_that_only_asks_for_ends_sees_open_transactions(levels: list[str]) -> None:
    asyncio.run(open_and_close(ends_of_all=True))
    assert levels == ["read_uncommitted"]


def test_each_worker_remembers_its_own_partitions() -> None:
    (sticky,), (other,) = (
        consumers.Consumer.in_worker_group(SETTINGS)._options["partition_assignment_strategy"] for _ in "ab"
    )
    sticky.on_assignment(ConsumerProtocolMemberAssignment(0, [("judgments.v1", [3])], b""))
    assert [each.partition for each in sticky.member_assignment] == [3]
    assert other.member_assignment is None
