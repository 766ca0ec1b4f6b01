"""Setup shared by all tests: servers, what a run leaves out, and no skipped test in CI."""

from __future__ import annotations

import logging
import os
import re
import signal
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from benchmarks.data import DATA
from deploy.servers import Servers
from tests.stores.redis.cluster import running_cluster
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


# A background job inherits an ignored SIGINT, and so would each process that a test starts and interrupts.
# A handler that does nothing is not inherited: this process still ignores the signal, but its children do not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda *_: None)


UNIT_TESTS = "not integration and not long and not data"  # as in the Makefile
_ALL_LEFT_OUT = re.compile(r"^pytestmark = .*\bpytest\.mark\.(integration|long|data)\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file of which every test would be left out: with its libraries that takes seconds."""
    if config.option.markexpr == UNIT_TESTS and collection_path.match("test_*.py"):
        return bool(_ALL_LEFT_OUT.search(collection_path.read_text())) or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Any, Any]:
    """Search a file for examples only if it has any. Their collector is a subclass of Module."""
    found: Any = yield
    if file_path.suffix == ".py" and ">>> " not in file_path.read_text():
        return [each for each in found if type(each) is pytest.Module]
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not DATA.is_dir():
        left_out = [item for item in items if item.get_closest_marker("data")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.markexpr == UNIT_TESTS:
        terminalreporter.write_line(
            "left out: tests that need a real Kafka and Redis (make integration, make browser, make faults) "
            "and slow tests, also those on public logs (make long)"
        )
    if not DATA.is_dir():
        terminalreporter.write_line(
            f"left out: tests on the public logs, because {DATA} does not exist (CONTRIBUTING.md says how to get them)"
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    skipped = reporter.stats.get("skipped", [])
    if skipped and os.environ.get("CI"):
        reporter.write_line(f"{len(skipped)} tests were skipped. In CI no test may be skipped.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@dataclass(frozen=True)
class Addresses:
    """Addresses of the real servers."""

    kafka: str
    redis: str


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """Start a real Kafka and a real Redis for the whole run."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    running = Servers(tmp_path_factory.mktemp("servers"), ready_seconds=PATIENCE_SECONDS)
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
    """Return a namespace that no other test uses, for topics, groups and keys on the shared servers."""
    return f"test-{next(_namespaces)}"
