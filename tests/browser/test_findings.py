"""The banner above the page: a dead or stuck worker and what to do, on every page, until it is healed."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.browser.site import contests
from tests.faults.stack import state_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.browser.site import Site
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration


def test_a_stopped_worker_is_in_a_banner_on_every_page_until_it_goes_on(site: Site, tab: Tab) -> None:
    (worker,) = site.stack.workers
    campaign = site.campaign()
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    assert tab.find(".finding").count() == 0
    worker.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(worker) == "T")
    try:
        site.publish(contests(campaign, ("a", "b"), 12))
        banner = tab.find(f".problem-finding:has-text('/{worker.process.pid} does not report any more')")
        banner.filter(has_text="12 records wait in partition").wait_for()
        assert "Start a worker: judgestream worker." in (banner.locator(".fix").text_content() or "")
        assert "does not report any more" in (tab.find("#spoken").text_content() or "")
        tab.page.goto(site.url)
        banner.wait_for()
    finally:
        worker.process.send_signal(signal.SIGCONT)
    banner.wait_for(state="detached")
    tab.wait_until("""() => document.querySelector("#spoken").textContent === "All problems are solved." """)
