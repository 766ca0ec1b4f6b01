"""Figures and tables of benchmarks: medians, goals, JSON, Markdown."""

from __future__ import annotations

import json

import msgspec
import pytest

from streams.bench.figures import BenchResults, Figure, Section, missed
from streams.bench.machine import Machine, describe_machine
from streams.bench.measuring import take_turns
from streams.bench.tables import format_goal, rows, section_table
from streams.errors import FormatError

MACHINE = Machine(
    processor="Z80", cores=1, memory_gib=0.0, system="CP/M 2.2", python="3.11.7", judgestream="0.1.0", load=0.25
)


def section(*figures: Figure) -> Section:
    return Section(machine=MACHINE, measured_at="1976-07-01 12:00 UTC", figures=figures)


def test_the_median_of_an_even_number_of_runs_is_between_the_two_in_the_middle() -> None:
    figure = Figure(name="n", unit="s", values=(9.0, 1.0, 2.0, 4.0))
    assert (figure.median, figure.spread) == (3.0, (1.0, 9.0))


@pytest.mark.parametrize(
    ("values", "at_most", "at_least", "is_met"),
    [
        ((1.0, 5.0, 100.0), 5.0, None, True),  # the median counts, not the worst run
        ((6.0,), 5.0, None, False),
        ((2.0,), None, 2.0, True),
        ((1.9,), None, 2.0, False),
        ((1.0,), None, None, None),
    ],
)
def test_a_goal_is_met_by_the_median(
    values: tuple[float, ...], at_most: float | None, at_least: float | None, is_met: bool | None
) -> None:
    figure = Figure(name="n", unit="s", values=values, at_most=at_most, at_least=at_least)
    assert figure.is_met is is_met
    assert missed([figure]) == ([figure] if is_met is False else [])
    assert bool(format_goal(figure)) is (is_met is not None)


def test_results_that_are_written_and_read_again_are_the_same() -> None:
    figures = (
        Figure(name='a "b"', unit="µs", values=(1.5, 2.0), at_most=3.0),
        Figure(name="c", unit="", values=(1.0,)),
    )
    results = BenchResults(sections={"one": section(*figures), "two": section()})
    text = results.encode()
    assert BenchResults.decode(text, place="x") == results
    assert set(json.loads(text)) == {"layout", "sections"}
    assert sum(b'"name":' in line for line in text.splitlines()) == 2, "one line per figure"


@pytest.mark.parametrize("text", [b"[]", b"{", b'{"sections":{"a":{}}}', b'{"layout":99,"sections":{}}'])
def test_what_is_no_result_is_refused_with_its_place(text: bytes) -> None:
    with pytest.raises(FormatError, match=r"^results\.json: "):
        BenchResults.decode(text, place="results.json")


def test_a_curve_is_in_the_order_of_its_sizes() -> None:
    of = section(*(Figure(name="n", unit="s", values=(size,), size=size) for size in (10.0, 2.0, 300.0)))
    assert [each.size for each in of.curve("n")] == [2.0, 10.0, 300.0]
    assert of.find("n", size=10.0).median == 10.0
    with pytest.raises(KeyError):
        of.find("m")


def test_a_table_has_median_spread_goal_and_machine() -> None:
    table = section_table(
        section(
            Figure(name="worker", unit="µs", values=(4.0, 6.0, 5.5), at_most=5.0, note="prefix of 10,000"),
            Figure(name="rate", unit="judgments/s", values=(123456.7,), size=20),
        )
    )
    assert table == (
        "|  | median | lowest to highest | goal |  |\n"
        "|---|---|---|---|---|\n"
        "| worker (prefix of 10,000) | 5.5 µs | 4 to 6 | at most 5 | **missed** |\n"
        "| rate, 20 | 123,457 judgments/s | one run |  |  |\n"
        "\n"
        "Z80, 1 core, CP/M 2.2, Python 3.11.7, judgestream 0.1.0, load 0.2; 1976-07-01 12:00 UTC."
    )


def test_contenders_take_turns_and_another_one_begins_each_time() -> None:
    calls: list[str] = []
    timings = take_turns({name: lambda name=name: calls.append(name) for name in "ab"}, repeats=3)  # type: ignore[misc]
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"
    assert [len(each) for each in timings.values()] == [3, 3]
    assert all(timing.wall >= 0 and timing.cpu >= 0 for each in timings.values() for timing in each)


def test_this_machine_is_described() -> None:
    found = describe_machine()
    assert found.cores >= 1
    assert found.python in found.describe()
    assert found.busy is None or 0.0 <= found.busy <= 1.0
    assert found.step_ns is not None
    assert f"{found.step_ns:.0f} ns per step" in found.describe()


@pytest.mark.parametrize(("load", "busy", "is_quiet"), [(9.0, 0.02, True), (0.0, 0.5, False), (9.0, None, False)])
def test_a_machine_is_quiet_if_other_programs_leave_it(load: float, busy: float | None, is_quiet: bool) -> None:
    machine = msgspec.structs.replace(MACHINE, load=load, busy=busy)
    assert machine.is_quiet is is_quiet
    assert ("busy before" in machine.describe()) is (busy is not None)
    assert rows([]) == []
