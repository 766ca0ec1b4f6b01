"""What holds of every experiment, and of the runner: same seed same bits, nothing done twice, nothing lost."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streams.errors import JudgestreamError, ParameterError
from streams.lab.experiments import EXPERIMENTS, Estimate, Experiment, Log, Result, ResultTable, experiment
from streams.lab.running.figures import draw_image
from streams.lab.running.results import cell_key, read
from streams.lab.running.runner import run
from tests.lab.logs import QUICK, rankings, small_log

pytestmark = pytest.mark.long

every = pytest.mark.parametrize("name", EXPERIMENTS)
CERTAIN = {"online", "annotators"}  # draw nothing


def quick(name: str, **options: Any) -> Experiment:
    return experiment(name, QUICK[name] | options)


@pytest.fixture(scope="module")
def log() -> Log:
    return small_log()


@cache
def measured(name: str) -> tuple[Result, ...]:
    """Run an experiment once."""
    return run(quick(name), small_log()).results


@every
def test_the_cells_of_an_experiment_differ_and_can_stand_in_json(name: str, log: Log) -> None:
    cells = quick(name).cells(log)
    assert cells
    assert len({cell_key(cell) for cell in cells}) == len(cells)
    assert [msgspec.json.decode(msgspec.json.encode(cell)) for cell in cells] == cells
    assert name in CERTAIN or all(cell["seed"] == 1 for cell in cells)


@every
def test_a_cell_measured_again_gives_the_same_bits(name: str, log: Log) -> None:
    for result in measured(name)[:: max(1, len(measured(name)) // 5)]:
        again = EXPERIMENTS[name].measure(log, result.cell)
        assert msgspec.json.encode(again) == msgspec.json.encode(result.measured)


@pytest.mark.parametrize("name", sorted(EXPERIMENTS.keys() - CERTAIN))
def test_another_seed_or_repeat_measures_something_else(name: str, log: Log) -> None:
    other = run(quick(name, seed=2), log).results
    assert [one.measured for one in other] != [one.measured for one in measured(name)]


@every
def test_tables_are_full_and_can_stand_in_json(name: str) -> None:
    tables = quick(name).tables(measured(name))
    assert tables
    for table in tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert msgspec.json.decode(msgspec.json.encode(table), type=ResultTable).columns == table.columns
        assert table.markdown().count("\n") == len(table.rows) + 2


@every
def test_what_was_stored_gives_the_same_tables(name: str) -> None:
    stored = msgspec.json.decode(msgspec.json.encode(measured(name)), type=list[Result])
    assert quick(name).tables(stored) == quick(name).tables(measured(name))


@every
@pytest.mark.parametrize(("suffix", "head"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_a_figure_is_drawn(name: str, suffix: str, head: bytes) -> None:
    drawn = draw_image(quick(name), measured(name), suffix=suffix)
    assert drawn.startswith(head)
    assert drawn == draw_image(quick(name), measured(name), suffix=suffix)


@every
def test_a_log_of_several_campaigns_is_measured_as_one(name: str) -> None:
    both = [*rankings(systems=4, seed=1), *rankings(campaign="d", seed=2)]
    chosen, log = quick(name, repeats=1), Log.of(both, file="two")
    results = run(chosen, log).results
    assert {one.cell["campaign"] for one in results} == {"c", "d"}
    assert all(table.rows for table in chosen.tables(results))
    assert draw_image(chosen, results, suffix=".png")


def test_two_processes_give_what_one_gives(log: Log, tmp_path: Path) -> None:
    chosen = quick("prediction", models=["expected-wins", "elo"])
    alone, together = run(chosen, log, jobs=1), run(chosen, log, jobs=2, file=tmp_path / "results.jsonl")
    assert together == alone
    assert read(tmp_path / "results.jsonl") == alone


class StopError(Exception):
    """What ends a run early."""


def test_a_run_that_was_cut_off_goes_on_with_what_is_missing(log: Log, tmp_path: Path) -> None:
    file, chosen = tmp_path / "deep" / "results.jsonl", quick("prediction", models=["expected-wins", "elo"])
    total = len(chosen.cells(log))
    assert total > 3

    def stop(done: int, _: int) -> None:
        if done == 3:
            raise StopError

    with pytest.raises(StopError):
        run(chosen, log, file=file, progress=stop)
    with file.open("ab") as stream:
        stream.write(b'{"cell": {"half a li')
    kept = read(file)
    assert kept is not None
    assert len(kept.results) == 3

    steps: list[tuple[int, int]] = []
    resumed = run(chosen, log, file=file, progress=lambda *step: steps.append(step))
    assert steps == [(done, total) for done in range(3, total + 1)]
    assert resumed == run(chosen, log)
    assert read(file) == resumed


def test_more_repeats_keep_the_results_of_fewer(log: Log, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    few = run(quick("prediction", models=["elo"], repeats=1), log, file=file)
    steps: list[int] = []
    many = run(
        quick("prediction", models=["elo"], repeats=3), log, file=file, progress=lambda done, _: steps.append(done)
    )
    assert steps[0] == len(few.results)
    assert set(map(msgspec.json.encode, few.results)) < set(map(msgspec.json.encode, many.results))
    fewer = run(quick("prediction", models=["elo"], repeats=1), log, file=file)
    assert fewer.results == few.results
    kept = read(file)
    assert kept is not None
    assert len(kept.results) == len(many.results)


def test_results_of_another_log_or_experiment_are_not_mixed_in(log: Log, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    chosen = quick("prediction", models=["elo"], repeats=1)
    run(chosen, log, file=file)
    with pytest.raises(JudgestreamError, match="has results on another log, small"):
        run(chosen, small_log(seed=9), file=file)
    file.write_bytes(file.read_bytes().replace(b'"experiment":"prediction"', b'"experiment":"other"', 1))
    with pytest.raises(JudgestreamError, match="has results of 'other'; choose another file for 'prediction'"):
        run(chosen, log, file=file)
    file.write_text("what is this\n")
    with pytest.raises(JudgestreamError, match="not a results file of an experiment"):
        run(chosen, log, file=file)
    assert file.read_text() == "what is this\n"


def test_the_head_has_what_it_takes_to_repeat_a_run(log: Log) -> None:
    head = run(quick("prediction", models=["elo"], repeats=1, seed=5), log).head
    assert head.experiment == "prediction"
    assert experiment(head.experiment, head.options) == quick("prediction", models=["elo"], repeats=1, seed=5)
    assert head.log == log.source
    assert {"python", "numpy", "judgestream"} <= head.versions.keys()


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("predicton", {}, "did you mean 'prediction'"),
        ("prediction", {"repeats": 0}, "repeats"),
        ("prediction", {"size": 3}, "its options: sizes, models"),
    ],
)
def test_a_wrong_experiment_or_option_is_named(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        experiment(name, options)


def test_a_model_with_a_typo_suggests_the_right_one(log: Log) -> None:
    with pytest.raises(ParameterError, match="did you mean 'trueskill'"):
        quick("prediction", models=["truskill"]).cells(log)


def test_an_estimate_has_the_standard_error_of_its_mean() -> None:
    assert Estimate.of([0.1, 0.2, 0.3, 0.4]).error == pytest.approx(0.0645497, abs=1e-6)  # sd 0.1290994 over 2
    assert Estimate.of([0.5]).error is None
