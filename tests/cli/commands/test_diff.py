"""`judgestream diff`: boards from files, logs and standard input, and clear words for what can't be compared."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

import streams
from streams.cli.main import cli
from streams.errors import FormatError
from streams.offline.diff import diff
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log

LOG = crowd_log(300, campaigns=2)
ONE = [each for each in LOG if each.campaign == "campaign-0"]


def run(*arguments: str, text: bytes | None = None) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["diff", *arguments], input=text)


def write(file: Path, log: list[Judgment]) -> Path:
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    return file


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(write(tmp_path / "log.jsonl", LOG))


@pytest.fixture
def one(tmp_path: Path) -> str:
    return str(write(tmp_path / "one.jsonl", ONE))


def boards_of(log: str, *options: str) -> bytes:
    result = CliRunner().invoke(cli, ["rank", log, "--json", *options])
    assert result.exit_code == 0, result.output
    return result.stdout_bytes


def found(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_boards_and_logs_give_the_same_difference_as_the_library(one: str, tmp_path: Path) -> None:
    early = tmp_path / "early.json"
    early.write_bytes(boards_of(one, "--until", "60"))
    by_file = found(run(str(early), one, "--json"))
    expected = diff(streams.rank(one, until=60), streams.rank(one))
    (campaign,) = by_file["campaigns"]
    assert [(each["system"], each["moved"], each["real"]) for each in campaign["systems"]] == [
        (each.system, each.moved, each.real) for each in expected.campaigns[0].systems
    ]
    assert any(each["moved"] for each in campaign["systems"])
    assert found(run("-", one, "--json", text=early.read_bytes())) == by_file
    assert found(run(str(early), "-", "--json", text=Path(one).read_bytes())) == by_file
    packed = tmp_path / "early.json.gz"
    packed.write_bytes(gzip.compress(early.read_bytes()))
    assert found(run(str(packed), one, "--json")) == by_file


def test_a_pipe_is_read_once(one: str, tmp_path: Path) -> None:
    pipe, content = tmp_path / "pipe", Path(one).read_bytes()
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=[content])
    writer.start()
    result = found(run(one, str(pipe), "--json"))
    writer.join()
    assert all(each["before"] == each["after"] for each in result["campaigns"][0]["systems"])


def test_a_log_is_ranked_with_the_options_of_rank(one: str, tmp_path: Path) -> None:
    boards = tmp_path / "boards.json"
    boards.write_bytes(boards_of(one, "--model", "expected-wins", "--runs", "50", "--seed", "3"))
    same = found(run(str(boards), one, "--json", "--model", "expected-wins", "--runs", "50", "--seed", "3"))
    assert all(each["before"] == each["after"] for each in same["campaigns"][0]["systems"])
    assert same["campaigns"][0]["notes"] == []
    other = run(str(boards), one)
    assert "The models differ: expected-wins and trueskill." in " ".join(other.stdout.split())


def test_campaigns_are_matched_by_name(log: str, tmp_path: Path) -> None:
    third = write(tmp_path / "third.jsonl", [*ONE, *crowd_log(20, campaigns=3)[2::3]])
    result = found(run(log, str(third), "--json"))
    assert [each["before"]["campaign"] for each in result["campaigns"]] == ["campaign-0"]
    assert (result["only_before"], result["only_after"]) == (["campaign-1"], ["campaign-2"])
    assert "Only the first has: campaign-1." in run(log, str(third)).stdout
    boards = tmp_path / "boards.json"
    boards.write_bytes(boards_of(log))
    chosen = found(run(str(boards), log, "--campaign", "campaign-1", "--json"))
    assert [each["before"]["campaign"] for each in chosen["campaigns"]] == ["campaign-1"]


def test_a_single_campaign_of_another_name_is_compared_and_said(one: str, tmp_path: Path) -> None:
    boards = tmp_path / "boards.json"
    boards.write_bytes(boards_of(one).replace(b"campaign-0", b"renamed"))
    assert found(run(str(boards), one, "--json"))["campaigns"][0]["notes"] == [
        "The campaigns differ: renamed and campaign-0."
    ]


@pytest.mark.parametrize("columns", ["80", "60"])
def test_the_table_fits_the_terminal(one: str, tmp_path: Path, columns: str) -> None:
    boards = tmp_path / "boards.json"
    boards.write_bytes(
        boards_of(one, "--until", "60").replace(b"system-", b"a-system-with-a-very-long-name-of-its-own-")
    )
    named = write(tmp_path / "named.jsonl", ONE)
    named.write_bytes(named.read_bytes().replace(b"system-", b"a-system-with-a-very-long-name-of-its-own-"))
    result = CliRunner(env={"COLUMNS": columns}).invoke(cli, ["diff", str(boards), str(named)])
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= int(columns)
    assert "…" in result.stdout


def test_names_of_a_file_can_t_control_the_terminal(one: str, tmp_path: Path) -> None:
    boards = tmp_path / "boards.json"
    boards.write_bytes(boards_of(one).replace(b"system-1", b"system\\u001b[31m"))
    assert "\x1b" not in run(str(boards), one).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-", "-"), 2, "only one of A and B can be standard input"),
        (("boards.json", "boards.json", "--model", "elo"), 2, "--model ranks a log, but A and B are leaderboards"),
        (("boards.json", "boards.json", "--until", "5"), 2, "--until ranks a log, but A and B are leaderboards"),
        (("boards.json", "boards.json", "--campaign", "campaign-2"), 2, "boards.json: no campaign 'campaign-2'"),
        (("boards.json", "log.jsonl", "--campaign", "campaign-7"), 2, "no campaign 'campaign-7'"),
        (("boards.json", "other.json"), 2, "no campaign is in both; the first has campaign-0, campaign-1"),
        (("boards.json", "log.jsonl", "--model", "elos"), 2, "did you mean 'elo'"),
        (("boards.json", "log.jsonl", "--until", "soon"), 2, "until: 'soon' is not a date"),
        (("nowhere.json", "log.jsonl"), 1, "nowhere.json: can't be read"),
        (("broken.json", "log.jsonl"), 1, "broken.json: not what `rank --json` prints"),
        (("deep.json", "log.jsonl"), 1, "deep.json: not what `rank --json` prints"),
        (("none.json", "log.jsonl"), 1, "none.json: there is no leaderboard in it"),
        (("twice.json", "log.jsonl"), 1, "twice.json: a campaign has two leaderboards"),
        (("same.json", "log.jsonl"), 1, "same.json: a system is twice on the leaderboard of 'campaign-0'"),
    ],
)
def test_what_can_t_be_compared_is_said(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    boards = boards_of(log)
    first, second = json.loads(boards)["campaigns"]
    files = {
        "boards.json": boards,
        "other.json": boards.replace(b'"campaign-', b'"else-'),
        "broken.json": boards[:-30],
        "deep.json": b'{"campaigns": ' + b"[" * 100_000,
        "none.json": b'{"campaigns": []}',
        "twice.json": encode({"campaigns": [first, first]}),
        "same.json": encode({"campaigns": [{**first, "rows": first["rows"][:1] * 2}, second]}),
    }
    for name, content in files.items():
        Path(name).write_bytes(content)
    result = run(*arguments)
    if code == 1:
        assert isinstance(result.exception, FormatError)
        assert said in str(result.exception)
    else:
        assert (result.exit_code, result.stdout) == (2, ""), result.output
        assert said in result.stderr


def test_a_difference_prints_itself_and_becomes_a_dataframe(one: str) -> None:
    found = streams.diff(streams.rank(one, until=60), streams.rank(one))
    assert "60 → 150 judgments" in str(found)
    frame = found.to_pandas()
    assert list(frame["system"]) == [each.system for each in found.campaigns[0].systems]
    assert {"rank_before", "rank_after", "moved", "real"} <= set(frame.columns)
