"""The consumer group of the workers on a real Kafka."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from streams.kafka.group_consumer import GroupConsumer
from streams.wire import topics
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.kafka.partitions import Partition
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration


class Member:
    """A member of the group that only knows its partitions, and when they moved."""

    def __init__(self, stack: Stack) -> None:
        self.consumer = GroupConsumer(stack.settings)
        self.partitions: set[Partition] = set()
        self.revoked: list[set[Partition]] = []
        self._topic = topics.JUDGMENTS.within(stack.settings.namespace)
        self._polling: asyncio.Task[None] | None = None

    async def join(self) -> None:
        await self.consumer.join(self._topic, self)
        self._polling = asyncio.create_task(self._poll())

    async def _poll(self) -> None:
        while True:
            await self.consumer.fetch({}, seconds=0.1, most=1)

    async def stop(self) -> None:
        if self._polling is not None:
            self._polling.cancel()
        await self.consumer.stop()

    def on_assigned(self, partitions: Sequence[Partition]) -> None:
        assert not self.partitions.intersection(partitions)
        self.partitions.update(partitions)

    async def on_revoked(self, partitions: Sequence[Partition]) -> None:
        self.revoked.append(set(partitions))
        self.partitions.difference_update(partitions)


async def wait_until_shared(members: Sequence[Member], count: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while sorted(len(each.partitions) for each in members) != [count // len(members)] * len(members):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def test_only_partitions_that_move_are_revoked_when_a_worker_joins(stack: Stack) -> None:
    count = stack.settings.partitions

    async def run() -> None:
        first, second = Member(stack), Member(stack)
        async with AsyncExitStack() as members:
            for number, member in enumerate((first, second), 1):
                members.push_async_callback(member.stop)
                await member.join()
                await wait_until_shared((first, second)[:number], count)
            assert first.revoked == [second.partitions]
            assert second.revoked == []

    asyncio.run(run())
