"""`judgestream pairs`: a matrix for people, a list where it would be too wide, rows for programs."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest
from click.testing import CliRunner, Result

from streams.cli.commands.pairs import command
from streams.reports import PairView
from streams.reports.views import pair_views
from tests.builders import judgment
from tests.reports.campaigns import Running, crowd, opened


class Output(msgspec.Struct, forbid_unknown_fields=True):
    campaign: str
    pairs: list[PairView]


def run(*arguments: str, width: int = 120) -> Result:
    return CliRunner(env={"COLUMNS": str(width)}).invoke(command, ("wmt.fr-en", *arguments))


def pairs(*arguments: str) -> list[PairView]:
    return msgspec.json.decode(run("--json", *arguments).stdout, type=Output, strict=True).pairs


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running(monkeypatch)
    running.take(opened(), *crowd(300))
    return running


def test_json_and_csv_hold_every_pair(running: Running) -> None:
    expected = pair_views(running.stream.campaign("wmt.fr-en"))
    assert pairs() == expected
    rows = list(csv.DictReader(io.StringIO(run("--csv").stdout)))
    assert [(row["system"], row["opponent"], int(row["wins"])) for row in rows] == [
        (pair.system, pair.opponent, pair.wins) for pair in expected
    ]


def test_the_matrix_reads_row_over_column(running: Running) -> None:
    campaign = running.stream.campaign("wmt.fr-en")
    order = [row.system for row in campaign.leaderboard().rows]
    rates = {(pair.system, pair.opponent): pair.win_rate or 0.0 for pair in pair_views(campaign)}
    head, *lines = run().stdout.splitlines()
    assert head.split() == [str(place) for place in range(1, 9)]
    for place, line in enumerate(lines):
        rank, name, *cells = line.split()
        assert (int(rank), name) == (place + 1, order[place])
        for other, cell in zip([each for each in order if each != name], cells, strict=True):
            rate = rates.get((name, other), 1.0 - rates.get((other, name), 0.0))
            assert float(cell) == pytest.approx(100 * rate, abs=0.51)


def test_those_who_only_tied_and_those_who_never_met_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    met = [("a", "b", (1, 2)), ("b", "c", (1, 1))]
    log = [judgment(k, campaign="wmt.fr-en", systems=(a, b), ranks=ranks) for k, (a, b, ranks) in enumerate(met)]
    Running(monkeypatch).take(opened(), *log)
    lines = {line.split()[1]: line.split()[2:] for line in run().stdout.splitlines()[1:]}
    assert lines == {"a": ["·", "100"], "c": ["·", "-"], "b": ["0", "-"]}


@pytest.mark.usefixtures("running")
def test_where_the_matrix_is_too_wide_it_is_a_list() -> None:
    heading = run(width=60).stdout.splitlines()[0]
    assert heading.split() == ["system", "opponent", "wins", "ties", "losses", "win", "rate"]
    assert run("--list").stdout == run(width=60).stdout


@pytest.mark.usefixtures("running")
def test_one_system_s_pairs_are_seen_from_its_side() -> None:
    found = pairs("--system", "system-4")
    assert {pair.system for pair in found} == {"system-4"}
    assert len(found) == 7
    rates = {pair.opponent: pair.win_rate or 0.0 for pair in found}
    assert rates["system-0"] < 0.5 < rates["system-7"]


@pytest.mark.usefixtures("running")
def test_a_system_that_is_not_there_is_answered_with_the_one_that_was_meant() -> None:
    result = run("--system", "sytem-4")
    assert result.exit_code == 1
    assert "no system 'sytem-4' in wmt.fr-en; did you mean 'system-4'?" in result.stderr


def test_before_anybody_met_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    Running(monkeypatch).take(opened(systems=["a", "b"]))
    assert run().stdout == "No two systems have been compared yet.\n"
