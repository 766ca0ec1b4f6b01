"""Control items in `rank`: a log whose result is computed by hand, files of controls, and WMT13 from end to end."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

import streams
from streams.agreement.control_rows import Controls
from streams.cli.main import cli
from streams.errors import FormatError, JudgestreamError, ParameterError
from streams.wire.events import EPOCH, Judgment, encode
from tests.data import real_log

# The verdicts of each judge about a and b on segment s1: + for a, - for b, = for a tie. Six researchers prefer a, so it
# is a control (6 > 5). On segment s2, five of them do, so it is none.
VERDICTS = {
    "t1": "++++------",  # 4 of 10: fails
    "t2": "+++++-----",  # 5 of 10: failed half, but not more
    "t3": "---------",  # 0 of 9: met too few
    "t4": "+++++=====",  # 5 of 10
    "t5": "++++======",  # 4 of 10, because a tie fails
}
RANKS = {"+": (1, 2), "-": (2, 1), "=": (1, 1)}
# a wins 6 + 5 times by researchers and 4 + 5 + 0 + 5 + 4 by Turkers; b wins 0 + 6 + 5 + 9. Without t1 and t5, 21 to 14.
ALL, PASSING = 29 / 49, 21 / 35


def log_of(campaign: str = "t.x") -> list[Judgment]:
    given = [(f"r{k}", "s1", "researcher", "+") for k in range(6)]
    given += [(f"r{k}", "s2", "researcher", "+") for k in range(5)]
    given += [(judge, "s1", "turker", sign) for judge, signs in VERDICTS.items() for sign in signs]
    return [
        Judgment(
            id=f"{campaign}-{number}",
            campaign=campaign,
            segment=segment,
            judge=judge,
            source=source,
            systems=("a", "b"),
            ranks=RANKS[sign],
            at=EPOCH,
        )
        for number, (judge, segment, source, sign) in enumerate(given)
    ]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def found(*arguments: str) -> list[dict[str, Any]]:
    result = run("rank", *arguments, "--model", "expected-wins", "--json")
    assert result.exit_code == 0, result.output
    boards: list[dict[str, Any]] = json.loads(result.stdout)["campaigns"]
    return boards


def write(file: Path, log: list[Judgment]) -> Path:
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    return file


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "log.jsonl", log_of())


def test_the_board_stands_with_and_without_those_who_fail(log: Path) -> None:
    (board,) = found(str(log), "--controls", "researcher", "--leave-out-failing")
    assert board["controls"] == {
        "campaign": "t.x",
        "items": 1,
        "tested": 4,
        "judgments": 60,
        "failing": [
            {"judge": judge, "source": "turker", "controls": 10, "passed": 4, "judgments": 10} for judge in ("t1", "t5")
        ],
        "left_out": 20,
    }
    assert (board["judgments"], board["without_failing"]["judgments"]) == (60, 40)
    assert board["rows"][0]["score"] == pytest.approx(ALL)
    assert board["without_failing"]["rows"][0]["score"] == pytest.approx(PASSING)
    (plain,) = found(str(log))
    assert {name: board[name] for name in plain} == plain  # fields are only added
    assert set(board) - set(plain) == {"controls", "without_failing"}


def test_without_leaving_out_the_failing_judges_are_only_reported(log: Path) -> None:
    (board,) = found(str(log), "--controls", "researcher")
    assert "without_failing" not in board
    assert [each["judge"] for each in board["controls"]["failing"]] == ["t1", "t5"]
    text = run("rank", str(log), "--controls", "researcher").stdout
    assert "t.x  1 control; 4 judges met at least 10, 2 of them passed less than 50%\n" in text
    assert "4 of 10" in text
    assert "left out" not in text
    assert text.count("t.x  trueskill") == 1


def test_the_table_shows_both_boards_and_how_much_was_left_out(log: Path) -> None:
    text = run("rank", str(log), "--controls", "researcher", "--leave-out-failing").stdout
    assert "t.x  trueskill, 60 judgments" in text
    assert "; left out: 2 judges and 20 of 60 judgments\n" in text
    assert "t.x.without-failing  trueskill, 40 judgments" in text


@pytest.mark.parametrize(
    ("options", "failing"),
    [
        (("--margin", "6"), []),
        (("--margin", "4"), ["t1", "t5"]),  # s2 becomes a control, which no Turker met
        (("--fewest", "9"), ["t3", "t1", "t5"]),
        (("--fewest", "11"), []),
        (("--threshold", "0.4"), []),
        (("--threshold", "0.51"), ["t1", "t5", "t2", "t4"]),
    ],
)
def test_the_thresholds_are_options(log: Path, options: tuple[str, ...], failing: list[str]) -> None:
    (board,) = found(str(log), "--controls", "researcher", *options, "--leave-out-failing")
    assert [each["judge"] for each in board["controls"]["failing"]] == failing
    assert board["without_failing"]["judgments"] == 60 - board["controls"]["left_out"]


def test_a_judge_is_left_out_only_where_they_fail(tmp_path: Path) -> None:
    careful = [replace(each, ranks=(1, 2)) if each.judge == "t1" else each for each in log_of("t.y")]
    file = write(tmp_path / "two.jsonl", [*log_of("t.x"), *careful])
    one, two = found(str(file), "--controls", "researcher", "--leave-out-failing")
    assert (one["controls"]["left_out"], two["controls"]["left_out"]) == (20, 10)
    assert (one["without_failing"]["judgments"], two["without_failing"]["judgments"]) == (40, 50)
    (only,) = found(str(file), "--campaign", "t.y", "--controls", "researcher", "--leave-out-failing")
    assert only["without_failing"]["rows"] == two["without_failing"]["rows"]
    assert only["controls"] == two["controls"]


def test_csv_and_markdown_have_both_boards(log: Path) -> None:
    options = ("rank", str(log), "--model", "expected-wins", "--controls", "researcher", "--leave-out-failing")
    result = run(*options, "--csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["judges"], row["system"]) for row in rows] == [
        ("all", "a"),
        ("all", "b"),
        ("without failing", "a"),
        ("without failing", "b"),
    ]
    assert [float(rows[k]["score"]) for k in (0, 2)] == pytest.approx([ALL, PASSING])
    assert "20 of 60 judgments" in result.stderr
    assert "### t.x.without-failing" in run(*options, "--markdown").stdout
    assert "judges" not in run("rank", str(log), "--csv").stdout.splitlines()[0]


def test_messages_about_the_file_are_printed_once(tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", [*log_of(), *log_of()[:3]])
    result = run("rank", str(file), "--controls", "researcher", "--leave-out-failing")
    assert result.stderr.count("duplicates") == 1
    part = run("rank", str(file), "--only", "segment=s1", "--controls", "researcher", "--leave-out-failing")
    assert part.stderr.count("kept by --only") == 1
    assert "20 of 55 judgments" in part.stdout


def test_controls_are_saved_and_read_back(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "controls.csv"
    saved = run("agreement", str(log), "--controls", "researcher", "--save-controls", str(file))
    assert saved.exit_code == 0, saved.output
    assert list(csv.DictReader(io.StringIO(file.read_text()))) == [
        {"campaign": "t.x", "segment": "s1", "better": "a", "worse": "b", "lead": "6", "made_by": "researcher"}
    ]
    options = (str(log), "--leave-out-failing", "--controls")
    assert found(*options, f"@{file}") == found(*options, "researcher")
    first, second = (
        run("agreement", str(log), "--judges", "--controls", each, "--json").stdout
        for each in ("researcher", f"@{file}")
    )
    assert first == second


def test_controls_written_by_hand_test_everybody_who_met_them(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "controls.csv"
    file.write_text("segment;worse;better\ns1;a;b\nnowhere;a;b\n")  # b is right
    (board,) = found(str(log), "--controls", f"@{file}", "--fewest", "1")
    failing = {each["judge"]: (each["passed"], each["controls"]) for each in board["controls"]["failing"]}
    assert failing == {f"r{k}": (0, 1) for k in range(6)} | {"t4": (0, 10), "t5": (0, 10)}
    assert board["controls"]["items"] == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("segment,better\ns1,a\n", "no column worse"),
        ("segment,better,worse\n", "there is no control in it"),
        ("segment,better,worse\ns1,a,a\n", ":2: better: a control needs two different systems"),
        ("segment,better,worse\ns1,a,b\ns1,b,a\n", ":3: better: segment 's1' has 'b' as better and as worse than 'a'"),
        ("segment,better,worse\ns1,a\n", ":2: 2 cells, but the header has 3"),
    ],
)
def test_a_wrong_file_of_controls_is_an_error_with_its_line(log: Path, content: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "controls.csv"
    file.write_text(content)
    result = run("rank", str(log), "--controls", f"@{file}")
    assert isinstance(result.exception, JudgestreamError)
    assert said in str(result.exception)
    assert str(file) in str(result.exception)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--leave-out-failing",), "needs --controls"),
        (("--threshold", "0.6"), "--threshold needs --controls"),
        (("--fewest", "3"), "--fewest needs --controls"),
        (("--controls", "researchers"), "did you mean 'researcher'?"),
        (("--controls", "CONTROLS"), "write --controls @"),
        (("--controls", "researcher", "--campaign", "t.z"), "no campaign 't.z'"),
        (("--controls", "researcher", "--threshold", "2"), "--threshold"),
    ],
)
def test_wrong_use_is_told(log: Path, options: tuple[str, ...], said: str) -> None:
    result = run("rank", str(log), *(str(log) if word == "CONTROLS" else word for word in options))
    assert result.exit_code == 2, result.output
    assert said in result.output


def test_without_a_control_there_is_a_way_out(log: Path, tmp_path: Path) -> None:
    text = run("rank", str(log), "--controls", "researcher", "--margin", "6").stdout
    assert "no controls: no pair with so large a lead is in this campaign; lower --margin (now 6)" in text
    file = tmp_path / "controls.csv"
    file.write_text("segment,better,worse\ns9,a,b\n")
    result = run("rank", str(log), "--controls", f"@{file}")
    assert result.exit_code == 2
    assert "none of the 1 given controls occurs in the log; the first: segment 's9'" in result.output


def test_a_log_that_can_be_read_only_once_is_refused() -> None:
    given = b"".join(encode(each) + b"\n" for each in log_of())
    result = CliRunner().invoke(cli, ["rank", "-", "--controls", "researcher"], input=given)
    assert result.exit_code == 2
    assert "can be read only once" in result.output


def test_a_missing_file_of_controls_is_an_error(log: Path) -> None:
    result = run("rank", str(log), "--controls", "@nowhere.csv")
    assert isinstance(result.exception, FormatError)


def test_if_everybody_fails_nothing_is_ranked(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "controls.csv"
    file.write_text("segment,better,worse\ns1,b,a\n")
    few = write(tmp_path / "few.jsonl", [each for each in log_of() if each.judge in ("t4", "t5")])
    result = run("rank", str(few), "--controls", f"@{file}", "--leave-out-failing")
    assert result.exit_code == 2
    assert "every judge fails" in result.output
    assert run("rank", str(few), "--controls", f"@{file}").exit_code == 0
    with pytest.raises(ParameterError, match="every judge fails"):
        streams.rank(few, controls=f"@{file}")


def test_the_library_ranks_with_and_without_those_who_fail(log: Path) -> None:
    for source in (log, log_of()):
        ranking = streams.rank(source, model="expected-wins", controls="researcher")
        (result,) = ranking.controls
        assert [each.judge for each in result.failing] == ["t1", "t5"]
        assert ranking.rows[0].score == pytest.approx(ALL)
        assert ranking.without_failing is not None
        assert ranking.without_failing.rows[0].score == pytest.approx(PASSING)
    part = streams.rank(log, only={"segment": "s1"}, controls=Controls(makers="researcher", fewest=9))
    assert [each.judge for each in part.controls[0].failing] == ["t3", "t1", "t5"]
    assert part.left_out == 5


@pytest.mark.data
def test_the_way_of_the_wmt13_findings_from_end_to_end() -> None:
    file = str(real_log("wmt13_fr-en_rank.csv.gz"))
    (board,) = found(file, "--controls", "researcher", "--leave-out-failing")
    result, rest = board["controls"], board["without_failing"]
    assert (result["items"], result["tested"], len(result["failing"]), result["left_out"]) == (180, 35, 16, 1479)
    assert {each["source"] for each in result["failing"]} == {"turker"}
    assert all(each["controls"] >= 10 and 2 * each["passed"] < each["controls"] for each in result["failing"])
    assert (board["judgments"], rest["judgments"]) == (9996, 9996 - 1479)
    assert [row["system"] for row in rest["rows"]] == [row["system"] for row in board["rows"]]


@pytest.mark.data
@pytest.mark.long
def test_the_controls_of_wmt13_are_saved_and_read_back(tmp_path: Path) -> None:
    file, controls = str(real_log("wmt13_fr-en_rank.csv.gz")), tmp_path / "controls.csv"
    (board,) = found(file, "--controls", "researcher")
    saved = ("--controls", "researcher", "--judges", "--save-controls", str(controls), "--json")
    judges = json.loads(run("agreement", file, *saved).stdout)["judges"]
    assert {row["judge"] for row in judges if row["rejected"]} == {
        each["judge"] for each in board["controls"]["failing"]
    }
    assert found(file, "--controls", f"@{controls}") == [board]
