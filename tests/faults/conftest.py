"""What the fault tests share: stacks on the session's servers, and servers that a test may kill."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Protocol

import pytest

from deploy.servers import Servers
from streams.settings import Settings
from tests.faults.stack import FaultStack
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Addresses


class StackOn(Protocol):
    def __call__(
        self, *, kafka: str | None = None, redis: str | None = None, batch: int = 20, **more: str
    ) -> FaultStack: ...


_numbers = count(1)


@pytest.fixture
def stack_on(servers: Addresses, tmp_path: Path) -> Iterator[StackOn]:
    """Return a function that makes stacks. Batches are small, so that faults hit between two of them."""
    made: list[FaultStack] = []

    def stack_on(*, kafka: str | None = None, redis: str | None = None, batch: int = 20, **more: str) -> FaultStack:
        namespace = f"fault-{next(_numbers)}"
        folder = tmp_path / namespace
        folder.mkdir()
        settings = Settings(
            kafka=kafka or servers.kafka,
            redis=redis or servers.redis,
            namespace=namespace,
            judge_key="a key for tests",
            partitions=4,
            batch_records=batch,
            snapshot_seconds=0.5,
            session_timeout_seconds=6,
        )
        made.append(FaultStack(settings, folder, more=more))
        return made[-1]

    try:
        yield stack_on
    finally:
        for stack in made:
            stack.stop()


@pytest.fixture
def stack(stack_on: StackOn) -> FaultStack:
    return stack_on()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Servers]:
    """Return servers of this test alone: it starts, kills and fills them."""
    running = Servers(tmp_path / "servers", ready_seconds=PATIENCE_SECONDS)
    try:
        yield running
    finally:
        running.kill()


@pytest.fixture
def redis_stack(stack_on: StackOn, own: Servers) -> FaultStack:
    """Return a stack with a Redis of its own."""
    return stack_on(redis=own.start("redis")["JUDGESTREAM_REDIS"])
