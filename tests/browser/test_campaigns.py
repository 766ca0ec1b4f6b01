"""All campaigns at a glance: they are the API's, sorted and filtered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.stores import Lease
from tests.browser.site import contests

if TYPE_CHECKING:
    from tests.browser.site import Site
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration

NAMES = ".campaigns tbody tr:visible th"


def test_every_campaign_is_listed_with_the_numbers_of_the_api(site: Site, tab: Tab) -> None:
    tab.page.goto(site.url)
    row = tab.find(f".campaigns tr:has(bdi:text-is('{site.crowd.name}'))")
    row.wait_for()
    overview = site.get(f"/campaigns/{site.crowd.name}")
    cells = {name: row.locator(f"[data-title='{name}']").text_content() for name in ("State", "Leader", "Judgments")}
    assert cells == {"State": "open", "Leader": overview["leader"], "Judgments": f"{overview['judgments']:,}"}
    assert row.locator("[data-title='Separation']").text_content() == f"{round(100 * overview['separation'])} %"
    assert tab.find(NAMES).count() == len(site.get("/campaigns")["campaigns"])


def test_a_filter_by_name_or_by_state_leaves_the_campaigns_that_fit(site: Site, tab: Tab) -> None:
    tab.page.goto(site.url)
    tab.find(NAMES).first.wait_for()
    tab.find("[aria-label='Filter by name or leader']").fill(site.crowd.name)
    assert tab.find(NAMES).all_text_contents() == [site.crowd.name]
    tab.find("select").select_option("closed")
    assert tab.find(NAMES).count() == 0
    assert tab.find("text=No campaign matches the filter.").is_visible()


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_it_round(site: Site, tab: Tab) -> None:
    tab.page.goto(site.url)
    tab.find(NAMES).first.wait_for()
    heading = tab.find(".campaigns thead button:text-is('Campaign')")
    heading.click()
    ascending = tab.find(NAMES).all_text_contents()
    heading.click()
    assert tab.find(NAMES).all_text_contents() == ascending[::-1]
    assert tab.find(".campaigns th[aria-sort='descending']").text_content() == "Campaign"


def test_a_new_campaign_appears_by_itself_and_opens_with_a_click(site: Site, tab: Tab) -> None:
    tab.page.goto(site.url)
    tab.find(NAMES).first.wait_for()
    campaign = site.campaign()
    site.publish(contests(campaign, ("a", "b"), 10))
    tab.find(f"a:has(bdi:text-is('{campaign}'))").click()
    tab.wait_for_judgments(10)


def test_a_campaign_that_there_is_not_is_said_to_be_none(site: Site, tab: Tab) -> None:
    tab.offline = True  # the browser's console tells of the 404
    for name in ("../../etc", "nobody", "..", "%2e%2e%2fstatus"):
        tab.page.goto(f"{site.url}/#/{name}")
        tab.find(".problem:visible").first.wait_for()
        assert "no campaign" in (tab.find(".problem:visible").first.text_content() or "")
        tab.page.goto("about:blank")


def test_a_partition_that_is_stopped_at_a_gap_is_shown_until_it_is_accepted(site: Site, tab: Tab) -> None:
    tab.page.goto(site.url)
    tab.find(NAMES).first.wait_for()
    assert tab.find(".finding").count() == 0
    store = site.stack.store
    partition = store.read_head(site.crowd.name)["partition"]
    head = store.read_partition(partition)
    lease, start = Lease(partition, int(head["epoch"])), int(head["offset"])
    store.report_gap(lease, start, start + 24_000)
    banner = tab.find(f".finding:has-text('judgestream gaps --accept {partition}:{start}-{start + 24_000}')")
    banner.wait_for()
    number = partition.rpartition("/")[2]
    assert f"Partition {number} is stopped, the others go on: the records" in (banner.text_content() or "")
    store.accept_gap(partition, start, start + 24_000)
    banner.wait_for(state="detached")
