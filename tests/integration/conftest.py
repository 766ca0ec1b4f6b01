"""The stack, fresh for each test."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Protocol

import pytest

from streams.settings import Settings
from tests.integration.stack import JUDGESTREAM, Stack

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


class Start(Protocol):
    def __call__(self, stack: Stack, *arguments: str) -> subprocess.Popen[str]: ...


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a command in the background. What still runs after the test is killed."""
    running: list[subprocess.Popen[str]] = []

    def start(stack: Stack, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(JUDGESTREAM), *arguments],
            env=stack.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=stack.folder,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()
