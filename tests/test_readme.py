"""The README is true: its code runs, its JSON is a judgment, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from streams.cli.main import cli
from streams.wire.decoding import decode

PAGES = [*sorted(Path().glob("*.md")), *sorted(Path("docs").glob("*.md")), Path("deploy/README.md")]
README = Path("README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_its_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["1", "uedin"], ["2", "online-b"]]


def test_its_first_example_prints_what_it_shows() -> None:
    command, printed = README.partition("Then rank the sample log")[2].split("```")[1:4:2]
    program, *arguments = shlex.split(command)
    assert program == "judgestream"
    result = CliRunner().invoke(cli, arguments)
    assert [line.rstrip() for line in result.output.splitlines()] == printed.strip().splitlines()


def test_its_json_is_a_judgment() -> None:
    (text,) = blocks("json")
    assert decode(text.encode(), max_bytes=10_000).campaign == "wmt13.fr-en"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as a site makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        target = page.parent / link if link else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), f"{link}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_files_that_are_named_exist(page: Path) -> None:
    folders = "streams|tests|deploy|benchmarks|schemas|samples|reproduction"
    for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text()):
        assert Path(name).exists(), name


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", Path("Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)\b", README)) <= targets


def test_every_page_is_linked_from_the_readme() -> None:
    for page in Path("docs").glob("*.md"):
        assert f"(docs/{page.name})" in README
