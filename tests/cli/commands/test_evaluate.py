"""`judgestream evaluate`: tables for people, JSON for programs, figures, and results that can be taken up again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.lab.experiments import EXPERIMENTS
from streams.wire.events import encode
from tests.lab.logs import rankings

QUICK = (
    "--experiment",
    "prediction",
    "--repeats",
    "2",
    "--sizes",
    "20,40",
    "--models",
    "expected-wins,elo",
    "--jobs",
    "1",
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["evaluate", *arguments])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\n".join(map(encode, rankings())) + b"\n")
    return file


def test_the_list_names_every_experiment_with_its_paper_and_options() -> None:
    result = run("--list")
    assert result.exit_code == 0
    for name, experiment in EXPERIMENTS.items():
        assert f"{name}\n    {experiment.title}\n    after {experiment.reference}" in result.output
        assert f"repeats={experiment.repeats}" in result.output


def test_people_get_tables_with_standard_errors(log: Path) -> None:
    result = run(str(log), *QUICK)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Accuracy and perplexity on held-out judgments")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["trained", "on", "pairs", "expected-wins", "elo"] in lines
    assert next(line[3] for line in lines if line[:2] == ["all", "40"]) == "±"


def test_programs_get_tables_results_and_what_it_takes_to_repeat_them(log: Path) -> None:
    result = run(str(log), *QUICK, "--seed", "7", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["experiment"] == "prediction"
    assert found["options"]["sizes"] == [20, 40]
    assert found["options"]["seed"] == 7
    assert found["log"]["file"] == "log.jsonl"
    assert len(found["log"]["sha256"]) == 64
    assert "numpy" in found["versions"]
    assert len(found["results"]) == 2 * 2 * 2 * 2
    assert found["tables"][0]["rows"][0][2].keys() == {"mean", "error", "count"}
    assert run(str(log), *QUICK, "--seed", "7", "--json").stdout == result.stdout


def test_markdown_can_be_pasted(log: Path) -> None:
    result = run(str(log), *QUICK, "--markdown")
    assert "| trained on | pairs | expected-wins | elo |\n|---|---|---:|---:|\n" in result.stdout


@pytest.mark.long
def test_a_figure_is_written(log: Path, tmp_path: Path) -> None:
    result = run(str(log), *QUICK, "--plot", str(tmp_path / "figure.svg"))
    assert result.exit_code == 0, result.output
    assert "expected-wins" in (tmp_path / "figure.svg").read_text()


def test_results_in_a_folder_are_taken_up_again(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    first = run(str(log), *QUICK, "--results", str(folder))
    (file,) = folder.iterdir()
    assert file.name.startswith("prediction.")
    lines = file.read_bytes().splitlines(keepends=True)
    tampered = lines[1].replace(b'"accuracy":0', b'"accuracy":7', 1)
    file.write_bytes(b"".join([lines[0], tampered, *lines[2:-3]]))
    second = run(str(log), *QUICK, "--results", str(folder))
    assert second.exit_code == 0, second.output
    assert second.stdout != first.stdout, "what was there was measured again"
    assert len(file.read_bytes().splitlines()) == len(lines)


def test_other_options_are_given_by_name(log: Path) -> None:
    result = run(str(log), *QUICK, "--option", "pools=researchers", "--option", "held_out=50", "--json")
    assert result.exit_code == 0, result.output
    options = json.loads(result.stdout)["options"]
    assert (options["pools"], options["held_out"]) == (["researchers"], 50)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--experiment", "predicton"], "no experiment 'predicton'; did you mean 'prediction'?"),
        (["--experiment", "prediction", "--models", "eloo"], "no model 'eloo'; did you mean 'elo'?"),
        (["--experiment", "prediction", "--sizes", "many"], "sizes"),
        (["--experiment", "ranking", "--sizes", "5"], "its options: repeats, runs, seed"),
        (["--experiment", "prediction", "--option", "pools"], "write NAME=VALUE"),
        (["--experiment", "prediction", "--campaign", "d"], "no campaign 'd' in the log"),
        (["--experiment", "prediction", "--plot", "log.jsonl"], "the name must end in .png or .svg or .pdf"),
        (["--experiment", "prediction", "--json", "--markdown"], "choose one"),
        (["--experiment", "clusters", "--sizes", "100000"], "no campaign has 100,000 pairs; use smaller sizes"),
        ([], "Missing option '--experiment'"),
    ],
)
def test_wrong_use_is_exit_code_2_and_the_right_one_is_named(log: Path, arguments: list[str], words: str) -> None:
    result = run(str(log), *arguments)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.stderr.split())
