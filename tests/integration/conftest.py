"""The stack, fresh for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.settings import Settings
from tests.integration.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Addresses


@pytest.fixture
def stack(servers: Addresses, namespace: str, tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(
        Settings(
            kafka=servers.kafka,
            redis=servers.redis,
            namespace=namespace,
            judge_key="a key for tests",
            partitions=4,
            batch_records=200,
            snapshot_seconds=0.5,
            session_timeout_seconds=6,
        ),
        tmp_path,
    )
    try:
        yield stack
    finally:
        stack.stop()
