"""At the width of a phone and of a desk nothing overlaps and nothing is cut."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.tab import DESK, PHONE, Tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.site import Site

pytestmark = pytest.mark.integration

CUT, OVERLAPS = (Path(__file__).with_name(name).read_text().rstrip(";\n") for name in ("cut.js", "overlaps.js"))
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
