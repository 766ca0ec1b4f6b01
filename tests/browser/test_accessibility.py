"""Axe finds nothing serious, and everything can be reached and used by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.tab import DESK, PHONE, Tab, Theme

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.site import Site

pytestmark = pytest.mark.integration

VIEWS = [(DESK, "light"), (DESK, "dark"), (PHONE, "light")]


def serious(tab: Tab) -> list[str]:
    """Run axe and return the serious and critical violations."""
    found = Axe().run(tab.page).response["violations"]
    return [
        f"{violation['id']}: {[node['html'][:160] for node in violation['nodes'][:3]]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("width", "theme"), VIEWS)
def test_axe_finds_nothing_serious(site: Site, chromium: Browser, width: int, theme: Theme) -> None:
    tab = Tab.open(chromium, width=width, theme=theme)
    tab.page.goto(site.url)
    tab.find(".campaigns tbody th").first.wait_for()
    assert serious(tab) == []
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.walk()
    if (width, theme) == VIEWS[0]:
        for summary in tab.find("summary").all():
            summary.click()
    assert serious(tab) == []
    tab.close()


def test_the_keyboard_skips_to_the_content_and_chooses_a_system(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.page.keyboard.press("Tab")
    assert tab.evaluate("() => document.activeElement.id") == "skip"
    tab.page.keyboard.press("Enter")
    assert tab.evaluate("() => document.activeElement.id") == "main"
    first = tab.find(".board tbody button").first
    for _ in range(20):
        if first.evaluate("button => button === document.activeElement"):
            break
        tab.page.keyboard.press("Tab")
    assert first.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
    before = first.get_attribute("aria-pressed")
    tab.page.keyboard.press("Enter")
    assert first.get_attribute("aria-pressed") != before


def test_a_link_to_a_section_moves_the_focus_there(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.find(".sections a:text-is('Judges')").focus()
    tab.page.keyboard.press("Enter")
    tab.wait_until("() => document.activeElement.id === 'title-judges'")


def test_every_chart_says_what_it_shows(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.walk()
    charts = tab.find(".chart svg[role=img]")
    labels = charts.evaluate_all("charts => charts.map(chart => chart.getAttribute('aria-label'))")
    assert len(labels) >= 6
    assert all(len(label) > 20 for label in labels)


def test_a_screen_reader_is_told_who_leads(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.wait_until("() => document.getElementById('spoken').textContent")
    spoken = tab.find("#spoken").text_content() or ""
    assert spoken.startswith(f"{site.crowd.name}: {tab.order()[0]} leads")
