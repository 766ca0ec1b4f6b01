"""`--since` and `--until` in the commands that read a log: each works on the window as on a file with this part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log
from tests.cli.test_only import COMMANDS, without_offsets

LOG = crowd_log(300)
AT = LOG[199].at.isoformat()
READING = (*COMMANDS, "baseline", "describe")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def write(file: Path, log: list[Judgment]) -> Path:
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    return file


@pytest.mark.parametrize("command", READING)
def test_a_window_gives_what_a_file_with_this_part_gives(command: str, tmp_path: Path) -> None:
    whole, part = write(tmp_path / "whole.jsonl", LOG), write(tmp_path / "part.jsonl", LOG[100:200])
    options = COMMANDS.get(command, ("--json",))
    found = run(command, str(whole), "--since", "100", "--until", AT, *options)
    assert found.exit_code == 0, found.output
    expected = run(command, str(part), *options)
    assert without_offsets(json.loads(found.stdout)) == without_offsets(json.loads(expected.stdout))


def test_how_much_was_kept_goes_to_standard_error(tmp_path: Path) -> None:
    file = str(write(tmp_path / "log.jsonl", LOG))
    assert "200 of 300 judgments were kept by --until\n" in run("rank", file, "--until", AT).stderr
    both = run("rank", file, "--only", "judge=judge-1", "--since", "1", "--until", AT, "--json")
    assert "judgments were kept by --only and --since and --until\n" in both.stderr
    assert "kept" not in both.stdout


def test_a_window_is_converted(tmp_path: Path) -> None:
    file, target = str(write(tmp_path / "log.jsonl", LOG)), tmp_path / "part.jsonl"
    result = run("convert", file, str(target), "--until", "20")
    assert "20 kept by --until" in result.stderr
    assert target.read_bytes() == write(tmp_path / "expected.jsonl", LOG[:20]).read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--until", "soon"), "until: 'soon' is not a date, a time or a whole number"),
        (("--since", "2026-02-30"), "since: '2026-02-30' is not a date"),
        (("--until", "1999-12-31"), "none of 300 judgments is left"),
        (("--since", "300"), "none of 300 judgments is left"),
        (("--since", "5", "--until", "5"), "is not before until"),
    ],
)
@pytest.mark.parametrize("command", ["rank", "describe", "clusters"])
def test_wrong_use_is_told(tmp_path: Path, command: str, options: tuple[str, ...], said: str) -> None:
    result = run(command, str(write(tmp_path / "log.jsonl", LOG)), *options)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert said in result.stderr


def test_a_window_needs_a_log(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("system,score\na,1\nb,2\n")
    result = run("baseline", "--scores", str(scores), "--until", "5")
    assert result.exit_code == 2
    assert "--until select a part of a log" in result.output


def test_a_replay_of_an_empty_window_sends_nothing(tmp_path: Path) -> None:
    file = str(write(tmp_path / "log.jsonl", LOG))
    result = run("replay", file, "--kafka", "127.0.0.1:9", "--until", "1999-12-31")
    assert result.exit_code == 2
    assert "none of 300 judgments is left" in result.output
