"""The page's files keep to their rules: nothing from outside, no markup from names, libraries as published."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from streams.monitor.backends.base import Lag
from streams.monitor.live import messages
from streams.monitor.state import payloads
from streams.monitor.state.findings import Finding
from streams.monitor.state.outputs import RejectionView
from streams.monitor.state.snapshot import Overview
from streams.reports.views import JudgeView, SegmentView
from streams.wire.events import Leaderboard, Row

PAGE = Path("streams/monitor/page")
WRITTEN = (".js", ".css", ".html", ".svg")
OURS = sorted(path for path in PAGE.rglob("*") if path.suffix in WRITTEN and "vendor" not in path.parts)
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|<script(?![^>]* src=)|\son[a-z]+=\""
)
OUTSIDE = re.compile(r"https?:|[\"'(]//")
PUBLISHED = {
    "plot.umd.min.js": "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb",
    "d3.min.js": "912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1",
    "inter-latin-wght-normal.woff2": "3100e775e8616cd2611beecfa23a4263d7037586789b43f035236a2e6fbd4c62",
}


@pytest.mark.parametrize("path", OURS, ids=str)
def test_nothing_comes_from_outside_and_nothing_becomes_markup(path: Path) -> None:
    text = path.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not OUTSIDE.search(text)
    assert not MARKUP.search(text)


def test_the_files_that_a_file_names_are_there() -> None:
    for path in OURS:
        for name in re.findall(r"(?:from |import\(|href=|src=|url\()\"((?:\.|static)[^\"]+)\"", path.read_text()):
            target = PAGE / name.removeprefix("static/") if name.startswith("static/") else path.parent / name
            assert target.is_file(), f"{path}: {name}"


def test_every_module_is_fetched_at_once_and_not_one_after_the_other() -> None:
    index = (PAGE / "index.html").read_text()
    modules = {str(path.relative_to(PAGE)) for path in OURS if path.suffix == ".js"}
    told = re.findall(r"<link rel=\"modulepreload\" href=\"static/([^\"]+)\">", index)
    started = re.findall(r"<script type=\"module\" src=\"static/([^\"]+)\"", index)
    assert sorted([*told, *started]) == sorted(modules)


TYPES = {
    "Row": Row,
    "LeaderboardPayload": Leaderboard,
    "RowsUpdate": messages.RowsUpdate,
    "Overview": Overview,
    "Judge": JudgeView,
    "Segment": SegmentView,
    "SegmentsPayload": payloads.SegmentsPayload,
    "Pair": payloads.PairPayload,
    "PairsPayload": payloads.PairsPayload,
    "Sample": payloads.HistoryPoint,
    "HistoryPayload": payloads.HistoryPayload,
    "HistoryUpdate": messages.HistoryUpdate,
    "MatchRequest": payloads.RequestPayload,
    "Rejection": RejectionView,
    "RejectionsPayload": payloads.RejectionsPayload,
    "Lag": Lag,
    "Finding": Finding,
    "WorkerReport": payloads.WorkerView,
    "Status": payloads.StatusPayload,
}


@pytest.mark.parametrize(("name", "payload"), TYPES.items())
def test_the_page_s_types_are_those_of_the_api(name: str, payload: type[msgspec.Struct]) -> None:
    source = (PAGE / "types.ts").read_text()
    found = re.search(rf"export interface {name}(?: extends \w+)? {{\n(.*?)\n}}", source, re.DOTALL)
    assert found
    declared = dict(re.findall(r"(\w+): (.+);", found[1]))
    fields = {field.name: field.type for field in msgspec.inspect.type_info(payload).fields}  # type: ignore[attr-defined]
    assert declared.keys() <= fields.keys()
    plain = {name: getattr(type_, "type", type_) for name, type_ in fields.items()}  # without its description
    nullable = {name for name, type_ in plain.items() if getattr(type_, "includes_none", False)}
    assert {name for name, text in declared.items() if text.endswith("| null")} == nullable & declared.keys()


@pytest.mark.parametrize(("name", "digest"), PUBLISHED.items())
def test_a_vendored_file_is_as_it_was_published(name: str, digest: str) -> None:
    assert sha256((PAGE / "vendor" / name).read_bytes()).hexdigest() == digest


def test_every_vendored_file_is_accounted_for() -> None:
    told = (PAGE / "vendor" / "README.md").read_text()
    files = {path.name for path in (PAGE / "vendor").iterdir()} - {"README.md"}
    assert {name for name in files if f"`{name}`" in told} == files
