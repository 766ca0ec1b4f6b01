"""The page of the reproduction is what its results in the repository make of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reproduction import page as pages
from reproduction.section import Section, paired_difference
from reproduction.sections import PAPERS, SECTIONS
from reproduction.stored import RESULTS, read_results, store_results
from streams.lab.experiments import Result, experiment
from streams.lab.running.results import cell_key
from streams.lab.running.runner import run
from tests.lab.logs import QUICK, small_log

every = pytest.mark.parametrize("section", SECTIONS, ids=[section.name for section in SECTIONS])


def test_the_page_is_what_the_results_in_the_repository_make_of_it() -> None:
    assert (pages.HERE / "README.md").read_text() == pages.build_page(), "run python -m reproduction --page"


@every
def test_a_section_has_results_of_its_experiment_with_its_options(section: Section) -> None:
    head = read_results(section.name).head
    assert head.experiment == section.experiment
    assert experiment(head.experiment, head.options) == section.create_experiment()
    assert head.log.file == section.file
    assert section.paper in PAPERS


@every
def test_a_section_has_its_figure_and_no_raw_data(section: Section) -> None:
    assert (pages.HERE / "figures" / f"{section.name}.svg").exists() is bool(section.caption)
    assert (RESULTS / f"{section.name}.jsonl").stat().st_size < 400_000
    assert not re.search(r"(turker|researcher|judge)_?\d", (RESULTS / f"{section.name}.jsonl").read_text())


def test_the_names_of_sections_are_distinct_and_nothing_else_is_stored() -> None:
    names = [section.name for section in SECTIONS]
    assert len(set(names)) == len(names)
    assert {file.stem for file in RESULTS.glob("*.jsonl")} == set(names)


@pytest.mark.parametrize("name", ["prediction", "selection"])  # numbers, lists, cells of two kinds
def test_stored_results_are_those_that_were_measured_but_for_rounding(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reproduction.stored.RESULTS", tmp_path)
    chosen = experiment(name, QUICK[name])
    found = run(chosen, small_log())
    store_results(name, found)
    again = read_results(name)
    assert again.head == found.head
    kept = {cell_key(one.cell): one.measured for one in again.results}
    assert kept.keys() == {cell_key(one.cell) for one in found.results}
    for one in found.results:
        rounded = kept[cell_key(one.cell)]
        assert rounded.keys() == one.measured.keys()
        for name_of, value in one.measured.items():
            assert rounded[name_of] == (pytest.approx(value, abs=1e-5) if isinstance(value, float) else value)
    assert [table.title for table in chosen.tables(again.results)] == [
        table.title for table in chosen.tables(found.results)
    ]


def test_differences_are_paired_by_repeat() -> None:
    def results(*values: float) -> list[Result]:
        return [Result({"campaign": "c", "repeat": k}, {"x": value}) for k, value in enumerate(values)]

    difference = paired_difference(results(0.5, 0.7, 0.9), list(reversed(results(0.4, 0.6, 0.8))), "x")
    assert difference.mean == pytest.approx(0.1)
    assert difference.error == pytest.approx(0.0, abs=1e-12)
