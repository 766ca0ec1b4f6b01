"""Every table downloads as CSV, every chart as an SVG that stands alone."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.site import Site
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration

OUTSIDE = re.compile(r"var\(|<script|javascript:|@import|(?:href|src)=\"(?!#)|url\((?!#|&quot;#|\"#)")


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_leaderboard_as_csv_is_the_api_s(site: Site, tab: Tab, tmp_path: Path) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    rows = read(tab.download(tab.find("[aria-label='Download the leaderboard as CSV']"), tmp_path))
    expected = site.get(f"/campaigns/{site.crowd.name}/leaderboard")["rows"]
    assert [row["system"] for row in rows] == [row["system"] for row in expected]
    assert [float(row["score"]) for row in rows] == [row["score"] for row in expected]
    assert [int(row["rank_high"]) for row in rows] == [row["rank_high"] for row in expected]


def test_what_a_spreadsheet_would_run_is_defused(site: Site, tab: Tab, tmp_path: Path) -> None:
    tab.show(site.url, site.hostile.name, judgments=site.hostile.judgments)
    rows = read(tab.download(tab.find("[aria-label='Download the leaderboard as CSV']"), tmp_path))
    names = [row["system"] for row in rows]
    assert all(name[0] not in "=+-@\t\r" for name in names)
    assert sorted(name.removeprefix("'") for name in names) == sorted(site.hostile.systems)
    assert any(float(row["score"]) < 0 for row in rows)  # a number stays one


def test_every_table_downloads_as_csv(site: Site, tab: Tab, tmp_path: Path) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.walk()
    buttons = tab.find("[aria-label$='as CSV']").all()
    files = {button.get_attribute("aria-label"): read(tab.download(button, tmp_path)) for button in buttons}
    tables = tab.find("table").count()
    assert len(files) == len(buttons) == tables
    judges = site.get(f"/campaigns/{site.crowd.name}/judges")["judges"]
    saved = files["Download the table judges as CSV"]
    assert sorted((row["Judge"], int(row["Judgments"])) for row in saved) == sorted(
        (judge["judge"], judge["judgments"]) for judge in judges
    )
    pairs = site.get(f"/campaigns/{site.crowd.name}/pairs")["pairs"]
    assert len(files["Download the table head-to-head as CSV"]) == len(pairs)


def test_a_chart_without_data_has_no_download_yet(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.hostile.name, judgments=site.hostile.judgments)
    tab.walk()
    assert tab.find("[aria-label='Download the chart rejections as SVG']").is_disabled()
    assert tab.find("[aria-label='Download the chart head-to-head as SVG']").is_enabled()


def test_every_chart_downloads_as_an_svg_that_stands_alone(site: Site, tab: Tab, tmp_path: Path) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    tab.walk()
    for button in tab.find("[aria-label$='as SVG']:visible").all():
        label = button.get_attribute("aria-label") or ""
        text = tab.download(button, tmp_path)
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg", label
        assert len(list(root.iter())) > 5, label
        assert not OUTSIDE.search(text), (label, OUTSIDE.search(text))
    names = {path.name for path in tmp_path.glob("*.svg")}
    parts = ("leaderboard", "ratings", "head-to-head", "pairs", "judges", "throughput", "lag", "rejections")
    assert names == {f"{site.crowd.name}-{part}.svg" for part in parts}
