"""At the width of a phone and of a desk nothing overlaps and nothing is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.tab import DESK, PHONE, Tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.site import Site

pytestmark = pytest.mark.integration

# What is unseen on purpose, scrolls by itself, or is a mark without text does not count as cut.
CUT = """() => {
  const seen = element => element.checkVisibility() && !element.closest(".unseen, .skip, thead:not(:has(:not([hidden])))");
  const cut = [];
  for (const element of document.querySelectorAll("main *, header *")) {
    if (element.closest("svg") || !seen(element)) continue;
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own) continue;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (box.width <= 1) continue;
    const clips = style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
    const scrolls = element.closest(".scroll");
    const outside = !scrolls && (box.left < -1 || box.right > innerWidth + 1);
    if (clips || outside) cut.push(`${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`);
  }
  for (const text of document.querySelectorAll("main .chart svg text")) {
    const box = text.getBoundingClientRect();
    const chart = text.closest(".chart").getBoundingClientRect();
    if (box.width && (box.left < chart.left - 2 || box.right > Math.max(chart.right, innerWidth) + 2 || box.right > innerWidth + 1)) {
      cut.push(`chart: ${text.textContent.slice(0, 60)}`);
    }
  }
  return cut;
}"""

OVERLAPS = """() => {
  const inside = (one, other) => one.contains(other) || other.contains(one);
  const blocks = [...document.querySelectorAll(
    "main .heading, main .figures > div, main .outlook, main .panel, main .panel-head h2, main .tools > *, main .note, main .chart, main table, main .chips li, main .sections li, main .problem")]
    .filter(block => block.checkVisibility() && block.getBoundingClientRect().height > 1);
  const rows = [...document.querySelectorAll("main tbody tr")].filter(row => row.checkVisibility());
  const found = [];
  const compare = list => list.forEach((one, i) => list.slice(i + 1).forEach(other => {
    if (inside(one, other)) return;
    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 1) found.push(`${one.className || one.tagName} and ${other.className || other.tagName}: ${one.textContent.slice(0, 30)} | ${other.textContent.slice(0, 30)}`);
  }));
  compare(blocks);
  for (const row of rows) compare([...row.children].filter(cell => cell.checkVisibility()));
  return found;
}"""

SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("which", ["crowd", "hostile", "all"])
def test_nothing_overlaps_or_is_cut(site: Site, chromium: Browser, width: int, which: str) -> None:
    tab = Tab.open(chromium, width=width)
    if which == "all":
        tab.page.goto(site.url)
        tab.find(".campaigns tbody th").first.wait_for()
    else:
        shown = site.crowd if which == "crowd" else site.hostile
        tab.show(site.url, shown.name, judgments=shown.judgments)
        tab.walk()
    assert tab.evaluate(SIDEWAYS) == 0
    assert tab.evaluate(CUT) == []
    assert tab.evaluate(OVERLAPS) == []
    tab.close()
