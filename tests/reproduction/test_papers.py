"""What the page says about a paper is what the paper prints."""

from __future__ import annotations

import re
from typing import Any

import pytest

from reproduction import page as pages
from reproduction.papers import (
    CITATION,
    PUBLISHED,
    entries,
    letters,
    plain,
    printed_lines,
    quote,
    read_published,
    unprinted_values,
)
from reproduction.sections import PAPERS as PAPER_NAMES
from reproduction.sections import SECTIONS
from reproduction.sections.wmt13 import cluster_numbers, names_in_log, stars_sentence
from reproduction.stored import read_results
from tests.data import WMT13, paper_text

PAPERS = sorted(file.stem for file in PUBLISHED.glob("*.json"))
ENTRIES = [(paper, name) for paper in PAPERS for name in entries(paper)]
ROOT = pages.HERE.parent
TEXTS = sorted((pages.HERE / "texts").glob("*.md"))
# What may stand in a text as a digit: places in a paper, workshops, formulas. All other numbers come from results.
ALLOWED = re.compile(
    r"\{\w+\}|(Tables?|Figures?)( and| to|,| \d+)+|WMT\d\d|\w+_\d|N = 2|limits\s+0 and r|\(?1 - |n - 2|infer_TS"
)


@pytest.mark.data
@pytest.mark.parametrize(("paper", "name"), ENTRIES)
def test_every_published_number_is_in_the_text_of_its_paper(paper: str, name: str) -> None:
    text = plain(paper_text(read_published(paper)["seed"]))
    missing = [line for line in printed_lines(entries(paper)[name]) if plain(line) not in text]
    assert not missing


@pytest.mark.data
@pytest.mark.parametrize("paper", PAPERS)
def test_every_quoted_sentence_is_in_the_text_of_its_paper(paper: str) -> None:
    text = letters(paper_text(read_published(paper)["seed"]))
    for name in read_published(paper)["quotes"]:
        place = 0
        for part in quote(paper, name).text.split("…"):
            place = text.find(letters(part), place)
            assert place >= 0, (name, part)


@pytest.mark.parametrize(("paper", "name"), ENTRIES)
def test_every_published_number_has_a_line_to_be_found_by(paper: str, name: str) -> None:
    assert not unprinted_values(entries(paper)[name])
    assert entries(paper)[name]["where"]


def test_a_wrong_number_is_not_in_the_line_of_a_paper() -> None:
    table: dict[str, Any] = {"where": "Table 3", "ways": {"2": [0.479], "3": [0.482]}, "lines": ["400 {ways.*.0:.3f}"]}
    assert printed_lines(table) == ["400 0.479 0.482"]
    table["ways"]["3"][0] = 0.428
    assert printed_lines(table) == ["400 0.479 0.428"]
    table["ways"]["4"] = [[0.5]]
    table["other"] = 1
    assert unprinted_values(table) == {"other"}
    with pytest.raises(KeyError, match=r"ways\.9 is not in the entry Table 3"):
        printed_lines(table | {"lines": ["{ways.9}"]})


def test_every_quoted_sentence_is_a_statement_with_a_verdict_or_the_source_of_a_text() -> None:
    claimed = {(claim.paper, claim.quote) for section in SECTIONS for claim in section.claims(_results(section.name))}
    texts = [*(file.read_text() for file in TEXTS), *(not_shown for _, not_shown in PAPER_NAMES.values())]
    cited = {(found[1], found[2]) for text in texts for found in CITATION.finditer(text)}
    assert claimed | cited == {(paper, name) for paper in PAPERS for name in read_published(paper)["quotes"]}


def test_every_quotation_on_the_page_is_one_of_a_paper() -> None:
    known = {quote(paper, name).text for paper in PAPERS for name in read_published(paper)["quotes"]}
    said = re.findall(r"“([^”]+)”", (pages.HERE / "README.md").read_text())
    assert said
    assert set(said) <= known
    plain_quotes = re.findall(r'"([a-z][^"]{12,})"', "".join(file.read_text() for file in TEXTS))
    every = " ".join(letters(text) for text in known)
    assert all(letters(text) in every for text in plain_quotes), plain_quotes


@pytest.mark.parametrize("file", TEXTS, ids=[file.stem for file in TEXTS])
def test_no_number_is_typed_into_a_text(file: Any) -> None:
    assert not re.findall(r"[^\n]*\d[^\n]*", ALLOWED.sub("", CITATION.sub("", file.read_text())))


@pytest.mark.parametrize("section", [one for one in SECTIONS if one.paper != "judgestream"], ids=lambda one: one.name)
def test_a_section_about_a_paper_has_statements_or_published_numbers(section: Any) -> None:
    results = _results(section.name)
    columns = [name for table in section.tables(results) for name in table.columns]
    background = section.name in ("gold", "noise-batch", "printed")  # what our own choices change
    assert section.claims(results) or any("theirs" in name for name in columns) or background


def test_the_pages_that_report_stars_have_the_same_sentence() -> None:
    for page in (ROOT / "docs" / "agreement.md", pages.HERE / "README.md"):
        assert stars_sentence() in " ".join(page.read_text().split()), f"{page}: {stars_sentence()}"


def test_the_systems_of_the_log_are_those_of_the_published_tables() -> None:
    assert names_in_log() == WMT13
    findings = read_published("findings2013")
    assert len(set(cluster_numbers(findings["table6"]["ranges"]))) == len(findings["table6"]["cluster_starts"])
    assert len(findings["table6"]["cluster_starts"]) == read_published("sakaguchi2014")["figure8"]["official_clusters"]


def _results(name: str) -> Any:
    return read_results(name).results
