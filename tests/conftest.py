"""What all tests share: nothing skips in CI, and a run says what it leaves out."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from deploy.servers import Servers
from tests.stores.redis.cluster import running_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.markexpr == "not integration and not long":
        terminalreporter.write_line(
            "left out: the tests on a real Kafka and a real Redis; `make integration` and `make browser` start both; "
            "and those that take their time: `make long`"
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    skipped = reporter.stats.get("skipped", [])
    if skipped and os.environ.get("CI"):
        reporter.write_line(f"{len(skipped)} skipped, and in CI nothing may skip", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@dataclass(frozen=True)
class Addresses:
    """Where the real servers listen."""

    kafka: str
    redis: str


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """Start a real Kafka and a real Redis for the whole run."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    running = Servers(tmp_path_factory.mktemp("servers"))
    try:
        variables = running.start()
        yield Addresses(kafka=variables["JUDGESTREAM_KAFKA"], redis=variables["JUDGESTREAM_REDIS"])
    finally:
        running.stop()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Redis Cluster of one node."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


_namespaces = count(1)


@pytest.fixture
def namespace() -> str:
    """Give a test topics, groups and keys of its own on the shared servers."""
    return f"test-{next(_namespaces)}"
