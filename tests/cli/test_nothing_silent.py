"""What a log lacks is said once, and what can't be compared is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import streams
from streams.cli.main import cli
from streams.formats import RowError

ROWS = "model_a,model_b,winner,judge,segment\nx,y,model_a,{},s1\ny,x,model_b,{},s1\nx,y,tie,{},s2\n"
NO_JUDGE = "no judgment names a judge; all have the judge 'anonymous'"


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), input=stdin)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.csv"
    file.write_text(ROWS.format("anna", "ben", "anna"))
    return file


@pytest.mark.parametrize("command", [["rank"], ["clusters"], ["head-to-head"], ["describe"], ["replay", "--direct"]])
def test_a_missing_judge_is_said_once(log: Path, command: list[str]) -> None:
    assert "anonymous" not in run(command[0], log, *command[1:]).stderr
    log.write_text(ROWS.format("", "", ""))
    result = run(command[0], log, *command[1:])
    assert result.exit_code == 0, result.output
    assert result.stderr.count(NO_JUDGE) == 1


def test_the_summary_of_convert_says_what_is_missing(log: Path, tmp_path: Path) -> None:
    log.write_text(ROWS.format("anna", "", "ben").replace(",s2", ","))
    result = run("convert", log, tmp_path / "out.jsonl")
    assert "1 of 3 judgments name no judge and have 'anonymous'" in result.stderr
    assert "1 of 3 judgments name no segment and have 'unspecified'" in result.stderr
    again = run("rank", tmp_path / "out.jsonl")
    assert "1 of 3 judgments name no judge and have 'anonymous'" in again.stderr
    assert json.loads(run("convert", log, tmp_path / "two.jsonl", "--json").stdout)["anonymous"] == 1


def test_a_ranking_in_a_script_says_what_is_missing(log: Path) -> None:
    assert streams.rank(log).warnings == ()
    log.write_text(ROWS.format("", "", ""))
    ranking = streams.rank(log)
    assert ranking.warnings == (NO_JUDGE,)
    assert NO_JUDGE in str(ranking)


@pytest.mark.parametrize(("column", "name"), [("judge", "judge"), ("segment", "segment")])
def test_agreement_refuses_what_cannot_be_compared(log: Path, column: str, name: str) -> None:
    assert run("agreement", log).exit_code == 0
    log.write_text(log.read_text().replace(column, "other"))
    error = str(run("agreement", log).exception)
    assert f"no judgment names a {name}, so there is nothing to compare" in error
    assert f"--columns a=COLUMN,b=COLUMN,winner=COLUMN,{name}=COLUMN" in error


def test_a_bad_row_mentions_on_error_whether_it_stops_or_is_skipped(log: Path) -> None:
    log.write_text(log.read_text().replace("tie", "nobody"))
    for command in ("rank", "agreement", "describe"):
        assert "add --on-error skip or report" in str(run(command, log).exception)
        assert "1 of 3 rows were skipped by --on-error" in run(command, log, "--on-error", "skip").stderr


def test_a_script_may_skip_bad_rows_too(log: Path) -> None:
    log.write_text(log.read_text().replace("tie", "nobody"))
    with pytest.raises(RowError):
        streams.rank(log)
    ranking = streams.rank(log, on_error="skip")
    assert (ranking.read, ranking.warnings) == (2, ("1 of 3 rows were bad and were skipped",))
    errors: list[RowError] = []
    streams.rank(log, on_error=errors.append)
    assert [error.line for error in errors] == [4]


def test_a_model_of_scores_on_rankings_says_which_model_to_choose(log: Path) -> None:
    error = str(run("rank", log, "--model", "assessment").exception)
    assert "ranks instead of a score" in error
    assert "trueskill" in error


def campaigns(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [board["campaign"] for board in json.loads(result.stdout)["campaigns"]]


def test_the_campaign_of_a_log_that_names_none_may_be_named(log: Path) -> None:
    assert campaigns(run("rank", log, "--json")) == ["log"]
    assert campaigns(run("rank", log, "--json", "--campaign", "mine")) == ["mine"]
    text = log.read_text()
    assert campaigns(run("rank", "-", "--json", "--campaign", "mine", stdin=text)) == ["mine"]
    assert "name it with --campaign" in str(run("rank", "-", stdin=text).exception)
    assert streams.rank(log, campaigns=["mine"]).campaigns == ("mine",)


def test_several_files_and_a_folder_are_ranked_as_one_log(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    folder.mkdir()
    for name in ("anna.csv", "ben.csv"):
        shutil.copy(log, folder / name)
    files = sorted(folder.iterdir())
    for found in (run("rank", folder, "--json"), run("rank", *files, "--json", "--campaign", "votes")):
        (board,) = json.loads(found.stdout)["campaigns"]
        assert (board["campaign"], board["judgments"]) == ("votes", 6)
    assert streams.rank(folder).read == streams.rank(files).read == 6
    target = tmp_path / "all.jsonl"
    assert run("convert", *files, target).exit_code == 0
    assert len(target.read_text().splitlines()) == 6


def test_a_mapping_works_in_every_command_that_reads_a_log(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("one,two,best,who,where\n" + "x,y,1,anna,s1\ny,x,2,ben,s1\nx,y,2,anna,s2\n" * 3)
    mapping = tmp_path / "mapping.toml"
    mapping.write_text('[columns]\na = "one"\nb = "two"\nwinner = "best"\njudge = "who"\nsegment = "where"\n')
    for command in (
        *(["rank"], ["clusters"], ["head-to-head"], ["describe"], ["agreement"], ["replay", "--direct"], ["baseline"]),
        ["audit", "--judgments", "3"],
    ):
        result = run(command[0], file, *command[1:], "--columns", f"@{mapping}")
        assert result.exit_code == 0, (command, result.output, result.exception)
