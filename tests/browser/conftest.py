"""A browser, a tab that minds what goes wrong in it, and campaigns on the real stack to look at."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from tests.browser.tab import Tab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

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
    """Give a tab, and fail the test for every error, dialog or breach of the policy in it."""
    tab = Tab.open(chromium)
    yield tab
    tab.close()
    assert tab.troubles == []
