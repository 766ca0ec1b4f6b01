"""`rank --history`: the boards over time in a file, and clear words for what can't be written."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import streams
from streams.cli.main import cli
from streams.errors import JudgestreamError
from streams.wire.events import encode
from tests.builders import crowd_log

LOG = crowd_log(120, systems=4)


def run(*arguments: str, text: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["rank", *arguments], input=text)


@pytest.fixture
def log(tmp_path: Path) -> str:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in LOG))
    return str(file)


def table(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_last_moment_is_the_board_and_the_file_is_reported(log: str, tmp_path: Path) -> None:
    file = tmp_path / "history.csv"
    result = run(log, "--history", str(file), "--every", "50")
    assert result.exit_code == 0, result.output
    assert f"written: {file}" in result.stderr
    rows = table(file)
    assert [row["judgments"] for row in rows] == [*["50"] * 4, *["100"] * 4, *["120"] * 4]
    board = streams.rank(LOG).rows
    assert [(row["system"], int(row["rank_low"]), float(row["score"])) for row in rows[-4:]] == [
        (row.system, row.rank_low, row.score) for row in board
    ]
    assert rows[-1]["at"] == LOG[-1].at.isoformat().replace("+00:00", "Z")


def test_there_are_about_a_hundred_moments_by_default(log: str, tmp_path: Path) -> None:
    file = tmp_path / "history.csv"
    run(log, "--history", str(file))
    assert len({row["judgments"] for row in table(file)}) == 60


def test_parquet_has_the_same_rows(log: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("history.csv", "history.parquet"):
        assert run(log, "--history", str(tmp_path / name), "--every", "60").exit_code == 0
    found = parquet.read_table(tmp_path / "history.parquet")
    assert str(found.schema.field("at").type) == "timestamp[us, tz=UTC]"
    rows = found.to_pylist()
    for row in rows:
        row["at"] = row["at"].isoformat().replace("+00:00", "Z")
    assert [{name: str(value) for name, value in row.items()} for row in rows] == table(tmp_path / "history.csv")


def test_the_options_of_rank_hold_for_the_history(log: str, tmp_path: Path) -> None:
    file = tmp_path / "history.csv"
    options = ("--until", "60", "--scale", "elo", "--model", "expected-wins", "--campaign", "campaign-0")
    assert run(log, "--history", str(file), "--every", "20", *options).exit_code == 2  # it has no Elo scale
    assert not file.exists()
    result = run(log, "--history", str(file), "--every", "20", *options[:4])
    assert result.exit_code == 0, result.output
    rows = table(file)
    assert sorted({int(row["judgments"]) for row in rows}) == [20, 40, 60]
    board = streams.rank(LOG[:60], scale="elo").rows
    assert [float(row["score"]) for row in rows[-4:]] == [row.score for row in board]


def test_moments_before_the_anchor_are_left_out_and_said(tmp_path: Path) -> None:
    late = [each for each in LOG if "system-3" not in each.systems]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(encode(each) + b"\n" for each in [*late[:20], *LOG]))
    options = ("--history", str(tmp_path / "history.csv"), "--every", "10", "--scale", "elo", "--anchor", "system-3")
    result = run(str(log), *options)
    assert result.exit_code == 0, result.output
    assert "2 moments are not in the history; the first: " in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--history", "history.txt"), "--history history.txt: the name must end in .csv or .parquet"),
        (("--every", "5"), "--every needs --history FILE"),
        (("--history", "history.csv", "--every", "0"), "0 is not in the range x>=1"),
    ],
)
def test_wrong_use_is_said(log: str, options: tuple[str, ...], said: str) -> None:
    result = run(log, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_standard_input_can_t_be_read_twice(log: str, tmp_path: Path) -> None:
    result = run("-", "--history", str(tmp_path / "history.csv"), text=Path(log).read_bytes())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "can be read only once, and this needs it twice" in result.stderr


def test_without_pyarrow_parquet_is_an_error_with_the_way_out(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run(log, "--history", str(tmp_path / "history.parquet"))
    assert result.stdout == ""
    assert isinstance(result.exception, JudgestreamError)
    assert "history.parquet: writing Parquet needs pyarrow: pip install 'judgestream[parquet]'" in str(result.exception)
