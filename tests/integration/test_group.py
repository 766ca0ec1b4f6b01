"""The consumer group of the workers on a real Kafka."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from streams.kafka.consumers import Consumer
from streams.wire import topics
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.kafka.partitions import Partition
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration


class Member:
    """A member of the group that only knows its partitions."""

    def __init__(self, stack: Stack) -> None:
        self.consumer = Consumer.in_worker_group(stack.settings)
        self._topic = topics.JUDGMENTS.within(stack.settings.namespace)
        self.partitions: Sequence[Partition] = ()

    async def join(self) -> None:
        await self.consumer.join(self._topic, self)

    def on_assigned(self, partitions: Sequence[Partition]) -> None:
        self.partitions = partitions

    async def on_revoked(self) -> None:
        self.partitions = ()

    @property
    def generation(self) -> int:
        found: int = self.consumer._client._coordinator.generation
        return found


async def wait_until_shared(members: Sequence[Member], count: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while sorted(len(each.partitions) for each in members) != [count // len(members)] * len(members):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def test_the_group_rebalances_once_for_each_worker_that_joins(stack: Stack) -> None:
    count = stack.settings.partitions

    async def run() -> None:
        first, second = Member(stack), Member(stack)
        async with AsyncExitStack() as members:
            for number, member in enumerate((first, second), 1):
                members.push_async_callback(member.consumer.stop)
                await member.join()
                await wait_until_shared((first, second)[:number], count)
                assert member.generation == first.generation == number

    asyncio.run(run())
