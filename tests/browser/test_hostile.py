"""Names that would be code are text, and the policy would stop them anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.browser.site import Site
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration


def test_a_system_named_like_markup_is_shown_as_it_is_named(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.hostile.name, judgments=site.hostile.judgments)
    tab.walk()
    assert sorted(tab.order()) == sorted(site.hostile.systems)
    assert tab.find("img, iframe, script:not([src]), .board a, [onerror], [onclick]").count() == 0
    tab.page.goto(site.url)
    tab.find(".campaigns tbody th").first.wait_for()
    assert tab.find("img").count() == 0


def test_a_judge_s_id_is_nowhere_on_the_page(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.hostile.name, judgments=site.hostile.judgments)
    tab.walk()
    assert tab.find("#panel-judges tbody tr").count() == 2
    assert "eve" not in (tab.find("#panel-judges").text_content() or "")


def test_the_policy_allows_scripts_of_the_monitor_alone(site: Site, tab: Tab) -> None:
    answer = tab.page.goto(site.url)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self'"
    tab.find("#main").wait_for()
    tab.offline = True  # what follows is meant to be refused
    ran = tab.evaluate(
        """() => { const script = document.createElement("script"); script.textContent = "window.ran = true";
        document.body.append(script); return Boolean(window.ran); }"""
    )
    assert ran is False
    assert any("Content Security Policy" in trouble for trouble in tab.troubles)
    tab.troubles.clear()
