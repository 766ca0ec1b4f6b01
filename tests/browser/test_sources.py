"""The page's files keep to their rules: nothing from outside, no markup from names, libraries as published."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("name", "digest"), PUBLISHED.items())
def test_a_vendored_file_is_as_it_was_published(name: str, digest: str) -> None:
    assert sha256((PAGE / "vendor" / name).read_bytes()).hexdigest() == digest


def test_every_vendored_file_is_accounted_for() -> None:
    told = (PAGE / "vendor" / "README.md").read_text()
    files = {path.name for path in (PAGE / "vendor").iterdir()} - {"README.md"}
    assert {name for name in files if f"`{name}`" in told} == files
