"""The page of every model in every mode, with few judgments and many: nothing on it is a number that is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from streams.monitor.backends.embedded import EmbeddedBackend
from tests.monitor.site import running
from tests.product.played import play
from tests.product.variants import VARIANTS, Variant

if TYPE_CHECKING:
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration

SCENARIOS = ("no_system", "no_judgment", "one_judgment", "one_system", "many_judgments", "ties_only", "one_always_wins")
NO_NUMBER = re.compile(r"\b(NaN|Infinity|undefined|null|\[object)\b")
# The text of the page, what only screen readers read, and the attributes that draw the charts.
SEEN = """() => document.body.innerText + [...document.querySelectorAll("main *")].flatMap(element =>
  [...element.attributes].map(each => ` ${each.name}=${each.value}`)).join("")"""
SETTLED = """name => document.querySelector("h1, h2")?.ownerDocument.body.innerText.includes(name) &&
  [...document.querySelectorAll(".figures div dt")].some(each => each.textContent === "Judgments")"""


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_page_shows_every_campaign_without_an_error(variant: Variant, tab: Tab) -> None:
    played = play(variant, SCENARIOS)
    with running(played.stream.settings, backend=EmbeddedBackend(played.stream)) as monitor:
        for name, run in played.runs.items():
            tab.page.goto(f"{monitor.url}/#/{name}")
            tab.wait_until(SETTLED, name)
            if run.campaign.active:
                tab.find(".board tbody tr").first.wait_for()
            tab.walk()
            seen = tab.evaluate(SEEN)
            found = NO_NUMBER.search(seen)
            assert not found, f"{name}: ...{seen[max(0, found.start() - 200) : found.end() + 50]}..."
            assert tab.find(".problem:visible").count() == 0
            assert ("% separated" in seen) == (len(run.campaign.active) > 1), name
            assert ("Judges score one system at a time." in seen) == (variant.model.kind == "scores"), name
            assert ("baseline: system-0" in seen) == (variant.settings.baseline is not None), name
        tab.page.goto(monitor.url)
        tab.find(".campaigns tbody tr").first.wait_for()
        assert not NO_NUMBER.search(tab.evaluate(SEEN))
