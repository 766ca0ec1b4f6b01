"""docs/performance.md has what its command writes from the stored results, and scripts are read tolerantly."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmarks import performance
from benchmarks.capacity import Costs, capacity_tables
from benchmarks.page import KINDS, MARKED, draw, goals_table, write_tables
from benchmarks.sources import SOURCES, Source, merge_repeats, read_figures
from streams.bench.figures import BenchResults, Figure, Section
from tests.bench.test_figures import MACHINE, section

PAGE, RESULTS = Path("docs/performance.md"), Path("benchmarks/results.json")


def test_the_page_is_what_the_command_writes_from_the_stored_results() -> None:
    results = BenchResults.decode(RESULTS.read_bytes(), place=str(RESULTS))
    assert write_tables(PAGE.read_text(), results.sections) == PAGE.read_text(), (
        "run python benchmarks/performance.py --write"
    )


def test_every_section_has_a_place_on_the_page() -> None:
    places = {name for _, name, _ in MARKED.findall(PAGE.read_text())}
    assert places == {source.section for source in SOURCES} | {"goals", "capacity"}


def test_numbers_stand_only_between_the_markers() -> None:
    prose = MARKED.sub("", PAGE.read_text())
    assert not re.findall(r"\d[\d,.]* ?(?:µs|ms|judgments/s|MB|times)\b", prose.replace("50 ms", ""))


def test_tables_replace_those_before_and_nothing_else() -> None:
    page = "# A\n<!-- figures: stream -->\nold\n<!-- end -->\nprose\n<!-- figures: wmt -->\n<!-- end -->\n"
    once = write_tables(page, {"stream": section(Figure(name="n", unit="s", values=(1.0,)))})
    assert "old" not in once
    assert "| n | 1 s | one run |" in once
    assert "prose" in once
    assert "Not measured yet." in once
    assert write_tables(once, {"stream": section(Figure(name="n", unit="s", values=(1.0,)))}) == once


def test_missed_goals_are_listed_and_all_are_counted() -> None:
    good, bad, none = (
        Figure(name=name, unit="s", values=(2.0,), at_most=most)
        for name, most in (("good", 3.0), ("bad", 1.0), ("none", None))
    )
    table = goals_table({"one": section(good, none), "two": section(bad)})
    assert table.startswith("1 of 2 goals are met.")
    assert table.splitlines()[-1] == "| two | bad | 2 s | at most 1 |"
    assert "Not final" not in table


@pytest.mark.parametrize("change", [{"quick": True}, {"machine": replace(MACHINE, busy=0.5)}])
def test_goals_from_a_short_run_or_a_busy_machine_are_not_final(change: dict[str, Any]) -> None:
    quiet = section(Figure(name="n", unit="s", values=(2.0,), at_most=3.0))
    table = goals_table({"one": quiet, "two": replace(quiet, **change)})
    assert table == "2 of 2 goals are met. Not final, because of short runs or a busy machine: two."


@pytest.mark.parametrize(
    "text",
    [
        'starting ...\n{"machine": "m", "figures": [{"name": "n", "unit": "s", "values": [2.0], "at_most": 3}]}',
        '[{"name": "n", "unit": "s", "values": [2], "at_most": 3}]',
        '{"sections": {"x": {"machine": {}, "figures": [{"name": "n", "unit": "s", "values": [2], "at_most": 3}]}}}',
    ],
)
def test_the_output_of_a_script_is_read_in_every_form(text: str) -> None:
    assert read_figures(text) == [Figure(name="n", unit="s", values=(2.0,), at_most=3.0)]


def test_the_values_of_several_runs_are_joined_by_name_and_size() -> None:
    first, second = (
        [Figure(name="n", unit="s", values=(value,), size=size) for size in (1.0, 2.0)] for value in (5.0, 6.0)
    )
    assert [(each.size, each.values) for each in merge_repeats([first, second])] == [
        (1.0, (5.0, 6.0)),
        (2.0, (5.0, 6.0)),
    ]


def backlog() -> Section:
    costs = {
        "CPU of the worker": 3.0,
        "CPU of the broker": 1.5,
        "CPU of Redis": 0.6,
        "bytes sent to Redis": 100.0,
        "1 worker": 150_000.0,
        "2 workers": 200_000.0,
    }
    return section(*(Figure(name=name, unit="", values=(value,)) for name, value in costs.items()))


def test_a_million_judgments_per_second_are_computed_from_the_costs() -> None:
    text = capacity_tables({"backlog": backlog()})
    needed = dict(re.findall(r"^\| ([a-z ,/0-9A-Z]+) \| [^|]* \| ([\d,]+)", text, re.MULTILINE))
    # By hand: 10^6 judgments take 3, 0.6 and 1.5 x 2 cores, at 60 %. The log of 190 MB/s goes in and out three times.
    assert needed["cores of workers"] == "5"
    assert needed["partitions"] == "20"
    assert needed["shards of Redis"] == "1"
    assert needed["cores of brokers"] == "5"
    assert needed["network of all brokers"] == "1,140"
    assert needed["disk for one day"] == "49"
    assert Costs.of({}) is None


@pytest.mark.long
def test_the_pictures_have_a_curve_for_each_quantity(tmp_path: Path) -> None:
    figures = [
        Figure(name=f"CPU per judgment, by {kind}", unit="µs", values=(1.0, 2.0), size=size)
        for kind in KINDS
        for size in (10.0, 100.0)
    ]
    draw(section(*figures), tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {f"growth-{kind}.svg" for kind in KINDS}
    assert "CPU per judgment" in (tmp_path / "growth-judges.svg").read_text()


def test_a_section_replaces_itself_and_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performance, "RESULTS", tmp_path / "results.json")
    old, new, other = (section(Figure(name="n", unit="s", values=(value,))) for value in (1.0, 2.0, 3.0))
    for name, each in (("peers", other), ("stream", old), ("stream", new)):
        performance.store(name, each)
    assert performance.read_results().sections == {"stream": new, "peers": other}
    assert list(performance.read_results().sections) == ["stream", "peers"], "in the order of the page"


def test_a_script_that_fails_is_an_error_and_its_output_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performance, "ROOT", tmp_path)
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/broken.py").write_text("import sys\nprint('{')\nsys.exit(3)\n")
    with pytest.raises(subprocess.CalledProcessError):
        performance.run(Source("broken", "broken.py"), quick=True)
    (tmp_path / "benchmarks/right.py").write_text('print(\'[{"name": "n", "unit": "s", "values": [2]}]\')\n')
    assert performance.run(Source("right", "right.py"), quick=True) == [Figure(name="n", unit="s", values=(2.0,))]
