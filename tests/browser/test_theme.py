"""Light and dark: as the system has it, or as someone chose, which is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.tab import Tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.site import Site

pytestmark = pytest.mark.integration

BRIGHTNESS = """() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_follows_the_system(site: Site, chromium: Browser, theme: str) -> None:
    tab = Tab.open(chromium, theme="dark" if theme == "dark" else "light")
    tab.page.goto(site.url)
    assert (tab.evaluate(BRIGHTNESS) > 128) == (theme == "light")
    tab.close()


def test_a_choice_is_remembered(site: Site, tab: Tab) -> None:
    tab.page.goto(site.url)
    tab.find("#theme").click()
    assert tab.evaluate(BRIGHTNESS) < 128
    tab.page.reload()
    assert tab.evaluate(BRIGHTNESS) < 128
    assert tab.find("#theme").get_attribute("aria-label") == "Switch to light colours"
