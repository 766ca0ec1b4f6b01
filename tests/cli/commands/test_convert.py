"""`judgestream convert`: whole files or none, and nothing lost on the way."""

from __future__ import annotations

import gzip
import json
import stat
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams import formats, wire_pseudonym
from streams.cli.commands.convert import command
from streams.errors import FormatError
from tests.formats.samples import APPRAISE, ARENA, JSONL, SAMPLES, UNIFORM

BAD_ARENA = ARENA.replace(b"model_a,j1", b"nobody,j1")


def convert(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "battles.csv"
    file.write_bytes(ARENA)
    return file


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("target", ["out.jsonl", "out.csv.gz", "out.ndjson.zst"])
def test_every_format_becomes_one_that_holds_the_same_judgments(tmp_path: Path, name: str, target: str) -> None:
    source = tmp_path / "log"
    source.write_bytes(SAMPLES[name].data)
    result = convert(source, tmp_path / target)
    assert result.exit_code == 0, result.output
    read = [entry.judgment for entry in formats.read(tmp_path / target)]
    assert read == [entry.judgment for entry in formats.read(source)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", target]


def test_standard_input_becomes_standard_output(log: Path) -> None:
    result = convert("-", "-", "--to", "jsonl", "--campaign", "mine", stdin=gzip.compress(ARENA))
    assert result.exit_code == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["campaign"], row["systems"], row["ranks"]) for row in rows] == [
        ("mine", ["gpt", "claude"], [1, 2]),
        ("mine", ["gpt", "llama"], [1, 1]),
    ]
    assert "2 rows of arena; 2 judgments" in result.stderr


def test_a_file_that_is_there_is_kept_unless_forced(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("precious")
    result = convert(log, target)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert target.read_text() == "precious"
    assert convert(log, target, "--force").exit_code == 0
    assert len(list(formats.read(target))) == 2


def test_a_file_may_replace_itself(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_bytes(UNIFORM)
    before = list(formats.read(file))
    assert convert(file, file, "--force").exit_code == 0
    assert [entry.judgment for entry in formats.read(file)] == [entry.judgment for entry in before]


def test_a_bad_row_stops_it_and_leaves_no_file(tmp_path: Path, log: Path) -> None:
    log.write_bytes(BAD_ARENA)
    result = convert(log, tmp_path / "out.jsonl")
    assert isinstance(result.exception, FormatError)
    assert str(result.exception).startswith(f"{log}:2: winner: 'nobody' is not a winner; use one of")
    assert [path.name for path in tmp_path.iterdir()] == ["battles.csv"]


@pytest.mark.parametrize(("how", "told"), [("skip", 0), ("report", 1)])
def test_bad_rows_are_skipped_and_counted_or_told_too(tmp_path: Path, log: Path, how: str, told: int) -> None:
    log.write_bytes(BAD_ARENA)
    result = convert(log, tmp_path / "out.jsonl", "--on-error", how, "--json")
    assert result.exit_code == 0
    assert result.stderr.count("battles.csv:2: winner") == told
    summary = json.loads(result.stdout)
    assert summary["skipped"] == {"invalid_value": 1}
    assert (summary["rows"], summary["judgments"], summary["format"], summary["written"]) == (2, 1, "arena", "jsonl")
    assert len(list(formats.read(tmp_path / "out.jsonl"))) == 1


def test_a_log_of_which_no_row_is_a_judgment_fails_and_leaves_no_file(tmp_path: Path, log: Path) -> None:
    log.write_bytes(ARENA.replace(b"model_a,j1", b"x,j1").replace(b"tie (bothbad)", b"x"))
    result = convert(log, tmp_path / "out.jsonl", "--on-error", "skip")
    assert isinstance(result.exception, FormatError)
    assert "none of its 2 rows is a judgment; the first error: " in str(result.exception)
    assert not (tmp_path / "out.jsonl").exists()


def test_shared_ties_can_be_left_out(tmp_path: Path) -> None:
    source = tmp_path / "log.xml"
    source.write_bytes(APPRAISE)
    assert convert(source, tmp_path / "tied.jsonl").exit_code == 0
    assert convert(source, tmp_path / "apart.jsonl", "--no-shared-ties").exit_code == 0
    ((_, tied),) = formats.read(tmp_path / "tied.jsonl")
    assert (tied.systems, tied.ranks) == (("a", "b", "c"), (2, 2, 1))
    apart = [entry.judgment for entry in formats.read(tmp_path / "apart.jsonl")]
    assert [(judgment.systems, judgment.ranks) for judgment in apart] == [(("a", "c"), (2, 1)), (("b", "c"), (2, 1))]
    assert len({judgment.id for judgment in apart}) == 2


def test_the_format_can_be_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert isinstance(convert(empty, tmp_path / "out.jsonl").exception, FormatError)
    assert convert(empty, tmp_path / "out.jsonl", "--from", "jsonl").exit_code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["out.txt"], "none of the suffixes .jsonl, .ndjson, .csv"),
        (["-"], "choose the format with --to"),
        (["out.jsonl", "--to", "jsnl"], "did you mean 'jsonl'?"),
        (["out.jsonl", "--to", "arena"], "can be read but not written"),
        (["out.jsonl", "--from", "areena"], "did you mean 'arena'?"),
        (["out.jsonl", "--campaign", "a b"], "'a b' is not a campaign name"),
        (["out.jsonl", "--on-error", "ignore"], "'ignore' is not one of"),
    ],
)
def test_wrong_use_is_exit_code_2_and_says_what_is_right(log: Path, arguments: list[str], words: str) -> None:
    result = convert(log, str(log.parent / arguments[0]) if arguments[0] != "-" else "-", *arguments[1:])
    assert result.exit_code == 2
    assert words in result.stderr
    assert [path.name for path in log.parent.iterdir()] == ["battles.csv"]


def test_a_place_that_can_not_be_written_is_named(log: Path, tmp_path: Path) -> None:
    result = convert(log, tmp_path / "nowhere" / "out.jsonl")
    assert isinstance(result.exception, FormatError)
    assert "out.jsonl: can't be written: No such file" in str(result.exception)


def test_a_pipe_is_written_to_and_not_replaced(log: Path, tmp_path: Path) -> None:
    import os

    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert convert(log, pipe).exit_code == 0
    reader.join(30)
    assert read[0].count(b"\n") == 2
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_commands_of_a_log_are_left_out_and_counted(tmp_path: Path) -> None:
    source = tmp_path / "log.jsonl"
    source.write_bytes(JSONL)
    result = convert(source, tmp_path / "out.csv")
    assert "1 left out: a command" in result.stderr


def test_judges_may_be_written_as_pseudonyms(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = convert(log, "-", "--to", "jsonl", "--pseudonyms")
    assert (without.exit_code, "set JUDGESTREAM_JUDGE_KEY" in without.stderr) == (2, True)
    monkeypatch.setenv("JUDGESTREAM_JUDGE_KEY", "a key")
    rows = [json.loads(line) for line in convert(log, "-", "--to", "jsonl", "--pseudonyms").stdout.splitlines()]
    plain = [json.loads(line) for line in convert(log, "-", "--to", "jsonl").stdout.splitlines()]
    assert rows == [row | {"judge": wire_pseudonym(row["judge"], "a key")} for row in plain]
