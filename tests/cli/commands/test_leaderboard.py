"""`judgestream leaderboard`: the live ranking, how far the campaign is, and clear words for what is not there."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest
from click.testing import CliRunner, Result

from streams.cli.commands.leaderboard import command
from streams.core.models import MODELS
from streams.errors import JudgestreamError
from streams.reports.score_axis import judge_range
from streams.wire.events import Leaderboard, WithdrawSystem
from tests.builders import judgment
from tests.faulty_model import faulty
from tests.reports.campaigns import LATER, Running, crowd, opened


class Output(msgspec.Struct, forbid_unknown_fields=True):
    campaigns: list[Leaderboard]


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(command, arguments)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running(monkeypatch)
    running.take(opened(budget=1000), *crowd(150))
    return running


def test_json_is_the_leaderboard_that_the_worker_publishes(running: Running) -> None:
    found = msgspec.json.decode(run("wmt.fr-en", "--json").stdout, type=Output, strict=True)
    assert found.campaigns == [running.stream.campaign("wmt.fr-en").leaderboard()]


def test_people_see_state_budget_outlook_ranges_and_clusters(running: Running) -> None:
    result = run("wmt.fr-en")
    assert result.exit_code == 0, result.output
    board = running.stream.campaign("wmt.fr-en").leaderboard()
    assert "wmt.fr-en  open, trueskill, matches by information" in result.stdout
    assert "150 of 1,000 judgments of 8 systems by 7 judges" in result.stdout
    assert "until the next line" in result.stdout
    lines = [line.split() for line in result.stdout.splitlines() if "±" in line and "dev." not in line]
    ranges = [
        f"{row.rank_low}-{row.rank_high}" if row.rank_low < row.rank_high else str(row.rank) for row in board.rows
    ]
    assert [[*line[:2], line[3]] for line in lines] == [
        [str(row.rank), shown, row.system] for row, shown in zip(board.rows, ranges, strict=True)
    ]
    assert [line[2] for line in lines] == [judge_range(row) for row in board.rows]
    rules = [line for line in result.stdout.splitlines() if line.startswith(("───", "╌╌╌"))]
    assert len(rules) == board.rows[-1].cluster  # one under the heading, one between each two


def test_what_was_left_out_is_said(running: Running) -> None:
    log = crowd(150)
    running.take(log[0], WithdrawSystem(id="w", campaign="wmt.fr-en", at=LATER, system="system-7"))
    shown = run("wmt.fr-en").stdout
    segments = len({each.segment for each in log})
    assert f"of 7 systems (1 withdrawn) by 7 judges on {segments} segments; 1 duplicate" in shown
    assert "system-7" not in shown


def test_csv_has_a_row_a_system(running: Running) -> None:
    rows = list(csv.DictReader(io.StringIO(run("wmt.fr-en", "--csv").stdout)))
    board = running.stream.campaign("wmt.fr-en").leaderboard()
    assert [(row["system"], float(row["score"]), int(row["rank_high"])) for row in rows] == [
        (row.system, row.score, row.rank_high) for row in board.rows
    ]


@pytest.mark.usefixtures("running")
def test_a_campaign_that_is_not_there_is_answered_with_the_one_that_was_meant() -> None:
    result = run("wmt.fr-ne")
    assert isinstance(result.exception, JudgestreamError)
    assert str(result.exception) == "no campaign 'wmt.fr-ne'; did you mean 'wmt.fr-en'?"


@pytest.mark.usefixtures("running")
def test_two_forms_at_once_are_wrong_use() -> None:
    result = run("wmt.fr-en", "--json", "--csv")
    assert result.exit_code == 2
    assert "choose one" in result.stderr


def test_a_name_can_not_command_the_terminal(running: Running) -> None:
    running.take(judgment(999, campaign="wmt.fr-en", systems=("\x1b[2Jgone", "system-1")))
    shown = run("wmt.fr-en").stdout
    assert "\x1b" not in shown
    assert "\\x1b[2Jgone" in shown


def test_a_quarantined_campaign_is_shown_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, "trueskill", faulty("apply", name="trueskill"))
    Running(monkeypatch).take(*crowd(30), judgment(9999, campaign="wmt.fr-en", systems=("x", "y")))
    result = run("wmt.fr-en")
    assert result.exit_code == 0, result.output
    shown = " ".join(result.stdout.split())
    assert "wmt.fr-en quarantined" in shown
    assert "ZeroDivisionError: the model fails in apply" in shown
    assert "Update Judgestream, then run: judgestream rebuild wmt.fr-en" in shown
    assert " held" in shown


def test_a_quarantined_campaign_that_cannot_be_ranked_is_an_error_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(MODELS, "trueskill", faulty("informations", "load_row", name="trueskill"))
    Running(monkeypatch).take(*crowd(30))
    result = run("wmt.fr-en")
    assert isinstance(result.exception, JudgestreamError)
    assert str(result.exception).startswith("wmt.fr-en can't be shown, because ")
    assert str(result.exception).endswith("judgestream rebuild wmt.fr-en")


def test_an_unexpected_error_without_a_quarantine_is_not_hidden(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "trueskill", faulty("load_row", name="trueskill"))
    assert isinstance(run("wmt.fr-en").exception, ZeroDivisionError)


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--at", "soon"), "at: 'soon' is not a date, a time or a whole number; write e.g. 2026-05-01"),
        (("--at", "-3"), "at: '-3' is not a date"),
        (("--at", "5", "--json", "--csv"), "--json and --csv can't be combined"),
    ],
)
def test_a_past_that_can_t_be_read_is_wrong_use(options: tuple[str, ...], said: str) -> None:
    result = run("wmt.fr-en", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


@pytest.mark.usefixtures("running")
def test_the_past_needs_the_key_of_the_workers() -> None:
    result = run("wmt.fr-en", "--at", "5")
    assert isinstance(result.exception, JudgestreamError)
    assert "set JUDGESTREAM_JUDGE_KEY" in str(result.exception)


# -- by category -----------------------------------------------------------------------------------------


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running(monkeypatch)
    log = [
        msgspec.structs.replace(each, tags={"language": "de" if place % 3 else "fr"} if place % 4 else None)
        for place, each in enumerate(crowd(120))
    ]
    running.take(opened(boards=["language"]), *log)
    return running


def test_by_shows_the_leaderboard_of_each_value(divided: Running) -> None:
    boards = divided.stream.campaign("wmt.fr-en").category_leaderboards()
    found = msgspec.json.decode(run("wmt.fr-en", "--by", "language", "--json").stdout, type=Output, strict=True)
    assert found.campaigns == [*boards]
    text = run("wmt.fr-en", "--by", "language").stdout
    assert "30 judgments without language, 0 of other values" in text
    assert "wmt.fr-en, language: de  trueskill, 60 judgments" in text
    one = msgspec.json.decode(run("wmt.fr-en", "--by", "language", "--value", "fr", "--json").stdout, type=Output)
    assert one.campaigns == [boards[1]]


def test_a_category_that_does_not_exist_is_a_usage_error(divided: Running) -> None:
    for arguments, words in (
        (("--by", "domain"), "no leaderboards by 'domain'"),
        (("--by", "language", "--value", "en"), "has language 'en'"),
        (("--value", "en"), "--value needs --by"),
    ):
        result = run("wmt.fr-en", *arguments)
        assert result.exit_code == 2
        assert words in result.stderr
