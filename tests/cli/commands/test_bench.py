"""`judgestream bench`: a small run, its JSON, its table and its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.bench.figures import BenchResults
from streams.bench.suite import SECTIONS
from streams.cli.commands.bench import NAMES
from streams.cli.main import cli


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["bench", "--judgments", "100", "--repeats", "2", *arguments])


def test_a_run_prints_one_object_with_the_value_of_each_run(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    result = run("--only", "embedded", "--json", "--output", str(file))
    assert result.exit_code == 0, result.output
    assert result.stdout.encode() == file.read_bytes()
    section = BenchResults.decode(file.read_bytes(), place="bench.json").sections["embedded"]
    assert [(each.name, len(each.values)) for each in section.figures] == [("CPU", 2), ("rate", 2)]
    assert all(value > 0 for each in section.figures for value in each.values)
    assert json.loads(result.stdout)["sections"]["embedded"]["machine"]["cores"] >= 1


def test_a_table_has_the_machine_and_a_row_per_figure() -> None:
    result = run("--only", "embedded")
    machine, blank, heading, *body = result.stdout.splitlines()
    assert "Python" in machine
    assert not blank
    assert heading.split()[:2] == ["embedded", "median"]
    assert len(body) == 2


def test_every_section_can_be_chosen_and_another_one_is_refused() -> None:
    assert set(NAMES) == set(SECTIONS)
    result = run("--only", "nothing")
    assert result.exit_code == 2
    assert "'embedded'" in result.output


def test_a_file_that_cannot_be_written_is_named() -> None:
    result = run("--only", "embedded", "--output", "/nowhere/bench.json")
    assert result.exit_code != 0
    assert "/nowhere/bench.json" in str(result.exception)


@pytest.mark.long
def test_all_benchmarks_run_on_a_few_judgments() -> None:
    result = run("--json")
    assert result.exit_code == 0, result.output
    sections = BenchResults.decode(result.stdout_bytes, place="output").sections
    assert list(sections) == list(NAMES)
    names = {each.name for each in sections["files"].figures}
    assert {"rank, JSON Lines", "rank, CSV"} <= names
    assert all(value > 0 for each in sections["peers"].figures for value in each.values)
    assert all(each.is_met is None for section in sections.values() for each in section.figures), (
        "goals need a long log"
    )
