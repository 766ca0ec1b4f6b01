"""What `judgestream rank` writes besides its table: CSV, Markdown, a page and figures."""

from __future__ import annotations

import csv
import io
import re
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.formats.input.spreadsheets import unescape_formula
from streams.wire.events import Leaderboard, encode
from tests.builders import crowd_log, judgment


class Output(msgspec.Struct, forbid_unknown_fields=True):
    campaigns: list[Leaderboard]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(200, campaigns=2)))
    return file


def run(log: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["rank", str(log), *arguments])
    assert result.exit_code == 0, result.output
    return result


def boards(log: Path) -> list[Leaderboard]:
    return msgspec.json.decode(run(log, "--json").stdout, type=Output, strict=True).campaigns


def test_csv_holds_what_json_holds(log: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(log, "--csv").stdout)))
    assert [
        (row["campaign"], row["model"], row["system"], int(row["rank"]), float(row["score"]), float(row["deviation"]))
        for row in rows
    ] == [
        (board.campaign, board.model, row.system, row.rank, row.score, row.deviation)
        for board in boards(log)
        for row in board.rows
    ]


def test_a_cell_that_a_spreadsheet_would_run_is_defused(log: Path) -> None:
    names = ("=HYPERLINK(1)", "+1", "-x", "@SUM(A1)", "fine, with a comma")
    log.write_bytes(encode(judgment(systems=names, ranks=(1, 2, 3, 4, 5))) + b"\n")
    rows = list(csv.DictReader(io.StringIO(run(log, "--csv").stdout)))
    assert not [row for row in rows if row["system"].startswith(("=", "+", "-", "@"))]
    assert {unescape_formula(row["system"]) for row in rows} == set(names)
    assert min(float(row["score"]) for row in rows) < 0  # a number stays one


def test_markdown_is_a_table_a_campaign_with_its_clusters(log: Path) -> None:
    text = run(log, "--markdown").stdout
    for board in boards(log):
        block = text.partition(f"### {board.campaign}\n")[2].partition("###")[0]
        lines = [
            [cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines() if line.startswith("|")
        ]
        assert len({len(line) for line in lines}) == 1
        place = lines[0].index("system")
        assert [line[place] for line in lines[2:]] == [row.system for row in board.rows]
        assert ("range for other judges" in lines[0]) == (board.rows[0].judge_rank_low is not None)
        starts = [line[0] for line in lines[2:] if line[0]]
        assert starts == [str(number) for number in range(1, board.rows[-1].cluster + 1)]


def test_a_name_can_not_break_the_markdown(log: Path) -> None:
    log.write_bytes(encode(judgment(systems=("a|b\n<b>*x*", "c"))) + b"\n")
    (line,) = [line for line in run(log, "--markdown").stdout.splitlines() if line.startswith("|") and "a\\|b" in line]
    assert "a\\|b \\<b\\>\\*x\\*" in line
    assert len(re.split(r"(?<!\\)\|", line)) == 9


def test_a_page_is_written_whole_and_the_table_is_printed_too(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "ranking.html"
    result = run(log, "--html", str(file))
    text = file.read_text()
    for board in boards(log):
        assert board.campaign in text
        assert board.campaign in result.stdout
    assert result.stderr == f"written: {file}\n"
    assert sorted(tmp_path.iterdir()) == [log, file]


def test_a_page_states_its_file_options_and_version_but_no_judge(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "ranking.html"
    run(log, "--html", str(file), "--seed", "7", "--only", "judge!=judge-1", "--no-shared-ties")
    (footer,) = re.findall(r"<footer[^>]*>(.*?)</footer>", file.read_text())
    assert footer.startswith(f"{log.name}, {datetime.now(UTC):%Y-}")
    options = re.findall("<code>(.*?)</code>", footer)[0]
    assert sorted(options.split(" --")) == ["--no-shared-ties", "only &#x27;judge!=…&#x27;", "seed 7"]
    assert footer.endswith(f"Judgestream {version('judgestream')}")


@pytest.mark.long
def test_figures_are_one_a_campaign(log: Path, tmp_path: Path) -> None:
    run(log, "--plot", str(tmp_path / "r.png"))
    written = [tmp_path / "r.campaign-0.png", tmp_path / "r.campaign-1.png"]
    assert sorted(tmp_path.glob("*.png")) == written
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in written)


def test_the_figure_of_one_campaign_has_the_name_that_was_asked_for(log: Path, tmp_path: Path) -> None:
    run(log, "--plot", str(tmp_path / "r.svg"), "--campaign", "campaign-1", "--json")
    assert [file.name for file in tmp_path.glob("*.svg")] == ["r.svg"]


@pytest.mark.long
def test_ratings_over_time_are_in_the_figure(log: Path, tmp_path: Path) -> None:
    log.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(5000, ways=5)))
    run(log, "--plot", str(tmp_path / "r.svg"))
    assert "Ratings over time, by trueskill" in (tmp_path / "r.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--json", "--csv"], "choose one"),
        (["--csv", "--markdown"], "choose one"),
        (["--plot", "r.gif"], "the name must end in .png or .svg or .pdf"),
        (["--html", "log.jsonl"], "the name must end in .html or .htm"),
    ],
)
def test_wrong_use_is_seen_before_anything_is_read(log: Path, arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(cli, ["rank", str(log), *arguments])
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_without_matplotlib_the_extra_is_named(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = CliRunner().invoke(cli, ["rank", str(log), "--plot", str(tmp_path / "r.png")])
    assert str(result.exception) == "a plot needs matplotlib: pip install 'judgestream[plot]'"


def test_a_place_that_can_not_be_written_is_named(log: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["rank", str(log), "--html", str(tmp_path / "nowhere" / "r.html")])
    assert str(result.exception).startswith(f"{tmp_path}/nowhere/r.html: can't be written: ")
