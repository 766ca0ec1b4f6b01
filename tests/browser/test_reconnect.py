"""A monitor that goes away and comes back: the page says so, and catches up without being loaded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.site import contests

if TYPE_CHECKING:
    from tests.browser.site import Site
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration

SEEN = """seen => {
  Object.defineProperty(document, "hidden", { value: !seen, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
STATE = "state => document.getElementById('connection').dataset.state === state"


def test_the_page_comes_back_after_the_monitor_was_restarted(site: Site, tab: Tab) -> None:
    campaign = site.campaign()
    site.publish(contests(campaign, ("a", "b"), 20))
    tab.show(site.url, campaign, judgments=20)
    tab.wait_until(STATE, "live")
    tab.evaluate("() => { window.loadedOnce = true; }")
    tab.offline = True
    with site.stopped():
        tab.wait_until(STATE, "reconnecting")
        assert tab.order() == ["a", "b"]  # what was known stays
        site.publish(contests(campaign, ("b", "a"), 100, start=20))
    tab.wait_until(STATE, "live")
    tab.wait_for_judgments(120)
    tab.wait_until("""() => document.querySelector(".board tbody tr").dataset.system === "b" """)
    assert tab.evaluate("() => window.loadedOnce")


def test_a_page_that_has_lost_the_monitor_says_since_when(site: Site, tab: Tab) -> None:
    tab.page.clock.install()
    tab.page.goto(site.url)
    tab.wait_until(STATE, "live")
    tab.offline = True
    with site.stopped():
        tab.wait_until(STATE, "reconnecting")
        tab.page.clock.run_for(15_000)
        tab.wait_until(STATE, "stale")
        assert "stale since" in (tab.find("#connection").text_content() or "")


def test_a_tab_that_nobody_sees_gives_its_connection_back_until_it_is_seen(site: Site, tab: Tab) -> None:
    campaign = site.campaign()
    site.publish(contests(campaign, ("a", "b"), 20))
    tab.page.clock.install()
    tab.show(site.url, campaign, judgments=20)
    tab.wait_until(STATE, "live")
    tab.evaluate(SEEN, False)
    tab.page.clock.run_for(40_000)
    tab.wait_until(STATE, "paused")
    site.publish(contests(campaign, ("b", "a"), 100, start=20))
    tab.evaluate(SEEN, True)
    tab.wait_until(STATE, "live")
    tab.wait_for_judgments(120)
