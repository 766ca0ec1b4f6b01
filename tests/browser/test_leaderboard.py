"""The leaderboard on the page is the monitor's, and moves with it."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.browser.site import contests

if TYPE_CHECKING:
    from tests.browser.site import Site
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration


def test_the_leaderboard_changes_while_judgments_are_published(site: Site, tab: Tab) -> None:
    campaign = site.campaign()
    site.publish(contests(campaign, ("a", "b", "c"), 30))
    tab.show(site.url, campaign, judgments=30)
    assert tab.order() == ["a", "b", "c"]
    site.publish(contests(campaign, ("c", "b", "a"), 120, start=30))
    tab.wait_for_judgments(150)
    tab.wait_until("""() => document.querySelector(".board tbody tr").dataset.system === "c" """)
    assert tab.order() == ["c", "b", "a"]


def test_ranks_whiskers_and_clusters_are_those_of_the_api(site: Site, tab: Tab) -> None:
    campaign = site.campaign()
    systems = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    site.publish(contests(campaign, systems, 600, tier=3))
    tab.show(site.url, campaign, judgments=600)
    rows = site.get(f"/campaigns/{campaign}/leaderboard")["rows"]
    assert {row["cluster"] for row in rows} == {1, 2}
    seen = tab.evaluate(
        """() => [...document.querySelectorAll(".board tbody tr")].map(row => {
          const [plot, range, dot] = [".whisker", ".range", "circle"].map(
            part => row.querySelector(part).getBoundingClientRect());
          const place = x => (x - plot.left) / plot.width;
          return {
            texts: [...row.querySelectorAll("td, th")].map(cell => cell.textContent),
            low: place(range.left), high: place(range.right), dot: place(dot.left + dot.width / 2),
            ruled: getComputedStyle(row.querySelector("td")).borderTopWidth,
          };
        })"""
    )
    count = len(rows)
    for row, shown in zip(rows, seen, strict=True):
        low, high = row["rank_low"], row["rank_high"]
        ranks = str(low) if low == high else f"{low}–{high}"
        assert shown["texts"][:3] == [str(row["rank"]), row["system"], ranks]
        assert float(shown["texts"][5].replace("−", "-")) == pytest.approx(row["score"], abs=0.06)
        assert shown["texts"][7] == str(row["judgments"])
        assert shown["low"] == pytest.approx((low - 0.5) / count, abs=0.01)
        assert shown["high"] == pytest.approx((high - 0.5) / count, abs=0.01)
        assert shown["dot"] == pytest.approx((row["rank"] - 0.5) / count, abs=0.01)
    ruled = [shown["ruled"] == "2px" for shown in seen[1:]]
    assert ruled == [one["cluster"] != other["cluster"] for one, other in pairwise(rows)]


def test_a_filter_leaves_the_systems_that_fit(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.find("[aria-label='Filter the systems']").fill("M-1")
    tab.wait_until("""() => [...document.querySelectorAll(".board tbody tr")].some(row => row.hidden)""")
    assert sorted(tab.order()) == sorted(system for system in site.crowd.systems if "m-1" in system)


def test_a_held_leaderboard_stays_until_it_is_let_go(site: Site, tab: Tab) -> None:
    campaign = site.campaign()
    site.publish(contests(campaign, ("a", "b"), 20))
    tab.show(site.url, campaign, judgments=20)
    tab.find("button:text-is('Hold')").click()
    site.publish(contests(campaign, ("b", "a"), 100, start=20))
    tab.wait_for_judgments(120)
    assert tab.order() == ["a", "b"]
    tab.find("button:text-is('Hold')").click()
    tab.wait_until("""() => document.querySelector(".board tbody tr").dataset.system === "b" """)


def test_a_click_on_a_system_puts_it_into_the_chart_of_the_ratings(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    last = tab.order()[-1]
    chip = tab.find(f".chips li:has-text('{last}')")
    assert chip.count() == 0
    button = tab.find(f".board tr[data-system='{last}'] button")
    button.click()
    chip.wait_for()
    assert button.get_attribute("aria-pressed") == "true"
    tab.find(f"[aria-label='Hide {last}']").click()
    chip.wait_for(state="detached")


def test_the_first_leaderboard_is_timed(site: Site, tab: Tab) -> None:
    began = time.monotonic()
    tab.page.goto(f"{site.url}/#/{site.crowd.name}")
    tab.find(".board tbody tr").first.wait_for()
    print(f"page to first leaderboard: {time.monotonic() - began:.2f} s")
    assert set(tab.order()) == set(site.crowd.systems)
