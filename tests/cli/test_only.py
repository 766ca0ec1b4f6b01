"""`--only` in the commands that read a log: each works on the part as on a file with only this part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from streams.cli.main import cli
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log
from tests.data import real_log

HEAD = "campaign,pair,seq,segment,judge,judge_type,n,systems,ranks,duration_s,timestamp,hit"
ROWS = (
    "t,x,1,s1,r1,researcher,3,a|b|c+d,1|2|3,,,",
    "t,x,2,s1,r2,researcher,3,a|b|c+d,1|2|3,,,",
    "t,x,3,s1,t1,turker,3,a|b|c+d,3|2|1,,,",
    "t,x,4,s2,t1,turker,3,a|b|c+d,3|1|2,,,",
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def write(file: Path, log: list[Judgment]) -> Path:
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    return file


LOG = [replace(each, source="turker" if each.judge < "judge-3" else "researcher") for each in crowd_log(300)]
COMMANDS: dict[str, tuple[str, ...]] = {
    "rank": ("--json",),
    "clusters": ("--json", "--runs", "20"),
    "head-to-head": ("--json", "--runs", "20"),
    "agreement": ("--json",),
    "replay": ("--direct", "--speed", "max", "--json"),
}


def without_offsets(value: Any) -> Any:
    """Remove what depends on places in the file or on the name of the file."""
    if isinstance(value, dict):
        return {name: without_offsets(each) for name, each in value.items() if name not in ("offset", "file")}
    return [without_offsets(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("command", COMMANDS)
def test_a_part_gives_what_a_file_with_this_part_gives(command: str, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.jsonl", LOG)
    part = write(tmp_path / "part.jsonl", [each for each in LOG if each.source == "researcher"])
    found, expected = (
        run(command, str(whole), "--only", "source=researcher", *COMMANDS[command]),
        run(command, str(part), *COMMANDS[command]),
    )
    assert found.exit_code == 0, found.output
    assert without_offsets(json.loads(found.stdout)) == without_offsets(json.loads(expected.stdout))


def test_how_much_was_kept_goes_to_standard_error(tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", LOG)
    kept = sum(each.judge in ("judge-1", "judge-2") for each in LOG)
    result = run("rank", str(file), "--only", "judge=judge-1", "--only", "judge=judge-2", "--csv")
    assert f"{kept} of 300 judgments were kept by --only" in result.stderr
    assert "kept" not in result.stdout
    assert "kept" not in run("rank", str(file)).stderr


def test_values_are_read_from_a_file(tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", LOG)
    names = tmp_path / "segments.txt"
    names.write_text("segment-1\n\nsegment-2\nsegment-3\n")
    kept = sum(each.segment in ("segment-1", "segment-2", "segment-3") for each in LOG)
    board = json.loads(run("rank", str(file), "--only", f"segment=@{names}", "--json").stdout)["campaigns"][0]
    assert board["judgments"] == kept


def test_a_part_is_converted(tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", LOG)
    result = run("convert", str(file), str(tmp_path / "part.jsonl"), "--only", "source=turker", "--json")
    kept = sum(each.source == "turker" for each in LOG)
    assert json.loads(result.stdout)["kept"] == kept
    assert len((tmp_path / "part.jsonl").read_text().splitlines()) == kept


def test_shared_outputs_lose_the_systems_that_are_not_chosen(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("\n".join([HEAD, *ROWS, ""]))
    only = ("--only", "system=a", "--only", "system=d", "--only", "judge_type=researcher")
    rows = json.loads(run("agreement", str(file), *only, "--json").stdout)["agreement"]
    # One pair, a and d, in each of two rankings that agree.
    assert {(row["agree"], row["comparable"], row["total"]) for row in rows if row["kind"] == "inter"} == {(1, 1, 2)}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--only", "source"), "write NAME=VALUE"),
        (("--only", "jugde=x"), "did you mean 'judge'?"),
        (("--only", "source=researchers"), "did you mean 'researcher'?"),
        (("--only", "campaign=c"), "--campaign"),
        (("--only", "segment=@nowhere.txt"), "nowhere.txt: can't be read"),
        (("--only", "source=turker", "--only", "judge=judge-6"), "none of 300 judgments is left"),
        (("--only", "source=turker", "--campaign", "x"), "no campaign 'x'"),
    ],
)
@pytest.mark.parametrize("command", ["rank", "agreement", "audit", "clusters", "head-to-head"])
def test_wrong_use_is_told(tmp_path: Path, command: str, options: tuple[str, ...], said: str) -> None:
    result = run(command, str(write(tmp_path / "log.jsonl", LOG[:300])), *options)
    assert result.exit_code == 2, result.output
    assert said in result.output


def test_a_replay_sends_nothing_if_a_value_does_not_occur(tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", LOG)
    result = run("replay", str(file), "--kafka", "127.0.0.1:9", "--only", "judge=judge-1", "--only", "judge=x")
    assert result.exit_code == 2
    assert "1 of 2 judges have no judgment; the first is number 2" in result.output


@pytest.mark.data
def test_the_researchers_of_wmt13_agree_as_their_own_row_says() -> None:
    file = str(real_log("wmt13_fr-en_rank.csv.gz"))
    alone = json.loads(run("agreement", file, "--only", "judge_type=researcher", "--json").stdout)["agreement"]
    every = json.loads(run("agreement", file, "--json").stdout)["agreement"]
    for row in alone:
        twin = {**row, "judges": "researcher"}
        assert twin in every
