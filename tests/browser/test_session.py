"""A monitor whose reads are closed asks for a token, and opens with the right one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deploy.ports import free_port
from streams.monitor.http.tokens import entry_of
from tests.browser.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration

SECRET = "open-sesame-and-be-quick"


@pytest.fixture
def closed(site: Site, tmp_path: Path) -> Iterator[Site]:
    """Start a second monitor beside the first, closed."""
    tokens = entry_of("ali", SECRET, scopes=["read"])
    settings = {"JUDGESTREAM_MONITOR_READS": "closed", "JUDGESTREAM_MONITOR_TOKENS": tokens}
    closed = Site(site.stack, free_port(), tmp_path, settings)
    closed.start_monitor()
    yield closed
    closed.close()


def test_a_closed_monitor_opens_with_a_token_and_shows_nothing_before(site: Site, closed: Site, tab: Tab) -> None:
    tab.offline = True  # the browser's console tells of the 401
    tab.page.goto(f"{closed.url}/#/{site.crowd.name}")
    field = tab.find("#token")
    field.wait_for()
    assert tab.find(".board").count() == 0
    field.fill("open-barley-and-be-quick")
    tab.page.keyboard.press("Enter")
    tab.wait_until("() => document.getElementById('token-problem').textContent")
    field.fill(SECRET)
    tab.page.keyboard.press("Enter")
    tab.wait_for_judgments(site.crowd.judgments)
    assert SECRET not in tab.evaluate("() => document.cookie + JSON.stringify(localStorage)")
    tab.page.reload()
    tab.wait_for_judgments(site.crowd.judgments)
