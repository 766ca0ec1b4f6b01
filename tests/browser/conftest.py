"""A browser, a tab that minds what goes wrong in it, and campaigns on the real stack to look at."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from deploy.ports import free_port
from streams.settings import Settings
from tests.browser.site import Site
from tests.browser.tab import Tab
from tests.integration.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.conftest import Addresses

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start the Chromium that the system has; Playwright's own would be a download."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium here; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Tab]:
    """Return a tab. Fail the test for every error, dialog or violation of the policy in it."""
    tab = Tab.open(chromium)
    yield tab
    tab.close()
    assert tab.troubles == []


@pytest.fixture(scope="session")
def stack(servers: Addresses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Start one worker for all of these tests; each has campaigns of its own."""
    settings = Settings(
        kafka=servers.kafka,
        redis=servers.redis,
        namespace="browser",
        judge_key="a key for tests",
        partitions=4,
        batch_records=200,
        snapshot_seconds=0.3,
    )
    stack = Stack(settings, tmp_path_factory.mktemp("stack"))
    stack.start_worker()
    yield stack
    stack.stop()


@pytest.fixture(scope="session")
def site(stack: Stack, chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Start the monitor, with campaigns to look at; without a browser there is no need for it."""
    site = Site(stack, free_port(), tmp_path_factory.mktemp("monitor"))
    site.start_monitor()
    site.fill()
    yield site
    site.close()
