"""`judgestream judges`: the report, in the order that is asked for, with marks where to look."""

from __future__ import annotations

import csv
import io
import json
from contextlib import nullcontext
from typing import TYPE_CHECKING

import msgspec
import pytest
from click.testing import CliRunner, Result

from benchmarks.judge_attacks import simulate
from streams.cli.commands.judges import SORTS, command
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.pipeline.record import Record
from streams.reports.views import JudgeView, judge_views
from streams.wire.events import ExcludeJudge, SuspendJudges, encode
from tests.builders import judgment
from tests.core.judges.logs import log_of
from tests.reports.campaigns import LATER, Running, opened
from tests.reports.test_views import coin_among_judges

if TYPE_CHECKING:
    from pathlib import Path


class Output(msgspec.Struct, forbid_unknown_fields=True):
    campaign: str
    judges: list[JudgeView]


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, ("wmt.fr-en", *arguments))
    assert result.exit_code == 0, result.output
    return result


def judges(*arguments: str) -> list[JudgeView]:
    return msgspec.json.decode(run("--json", *arguments).stdout, type=Output, strict=True).judges


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running(monkeypatch)
    log = [  # three of the judges are timed
        msgspec.structs.replace(each, campaign="wmt.fr-en", duration_ms=5000 + number if number % 7 < 3 else None)
        for number, each in enumerate(coin_among_judges(700))
    ]
    running.take(opened("trueskill-judges", judge_per_minute=8), *log)
    return running


def test_json_holds_what_the_campaign_knows(running: Running) -> None:
    expected = judge_views(running.stream.campaign("wmt.fr-en"))
    found = judges("--sort", "judge")
    assert found == sorted(expected, key=lambda judge: judge.judge)
    assert any(judge.too_fast for judge in found)


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("sort", SORTS)
def test_whom_to_look_at_comes_first(sort: str) -> None:
    found = judges("--sort", sort)
    column = [getattr(judge, sort.replace("-", "_")) for judge in found]
    if sort == "suspicious":
        column = [len(reasons) for reasons in column]
    known = [value for value in column if value is not None]
    assert known == sorted(known, reverse=sort in ("judgments", "too-fast", "suspicious"))
    assert column[: len(known)] == known  # what is not known stands last
    assert len(found) == 7


def test_only_the_marked_ones_are_shown_if_asked_for(running: Running) -> None:
    marked = [judge for judge in judge_views(running.stream.campaign("wmt.fr-en")) if judge.suspicious]
    assert len(marked) == 1
    assert judges("--suspicious") == marked
    shown = run("--suspicious").stdout
    assert f"! {', '.join(marked[0].suspicious)}" in shown
    assert "\n1 judge, 1 suspicious\n" in shown
    assert "votes of a judge to tell by what they prefer whether they answer at random" in shown


def test_an_excluded_judge_is_said_to_be(running: Running) -> None:
    assert "excluded" not in run().stdout
    running.take(ExcludeJudge(id="x", campaign="wmt.fr-en", at=LATER, judge="coin"))
    (line,) = [line for line in run().stdout.splitlines() if "excluded" in line]
    assert line.split()[0] == next(judge.judge for judge in judges() if judge.excluded)


@pytest.mark.usefixtures("running")
def test_a_column_that_nobody_has_is_left_out() -> None:
    heading = run().stdout.splitlines()[0]
    assert "reliability" in heading
    assert "sensitivity" not in heading


@pytest.mark.usefixtures("running")
def test_judges_are_never_shown_by_name() -> None:
    for shown in (run().stdout, run("--json").stdout, run("--csv").stdout):
        assert "coin" not in shown
        assert "judge-1" not in shown


@pytest.mark.usefixtures("running")
def test_csv_has_a_row_a_judge() -> None:
    rows = list(csv.DictReader(io.StringIO(run("--csv").stdout)))
    assert [row["judge"] for row in rows] == [judge.judge for judge in judges()]
    assert {row["excluded"] for row in rows} == {"no"}
    assert sum("like chance" in row["suspicious"] for row in rows) == 1


def test_a_campaign_of_scores_has_no_column_of_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running(monkeypatch)
    log = (
        judgment(k, campaign="wmt.fr-en", judge=f"judge-{k % 2}", systems=("a",), ranks=None, score=50.0 + k)
        for k in range(6)
    )
    running.take(opened("assessment"), *log)
    head = run().stdout.splitlines()[0]
    assert "agreement" not in head
    assert "judgments" in head


@pytest.fixture
def manipulated(monkeypatch: pytest.MonkeyPatch) -> tuple[Running, list[str]]:
    """A running campaign in which some judges favour a system, and their pseudonyms."""
    attack = simulate("chosen", 0.1, 11, systems=8, judges=30, judgments=1800)
    running, names = Running(monkeypatch), Pseudonyms(b"")
    log = [msgspec.structs.replace(each, campaign="wmt.fr-en") for each in log_of(attack.votes)]
    running.take(opened(), *log)
    records = [Record(k, b"wmt.fr-en", encode(each)) for k, each in enumerate(log)]

    class OpenedLog:
        def end(self, number: int) -> int:
            return len(records)

        def read(self, number: int, start: int, before: int) -> list[list[Record]]:
            return [records[start:before]]

    monkeypatch.setattr("streams.kafka.partitioned_log.PartitionedLog.open", lambda _: nullcontext(OpenedLog()))
    monkeypatch.setattr("streams.kafka.admin.count_log_partitions", lambda _: 1)
    return running, sorted(names[attack.votes.judges[k]] for k in attack.bad.nonzero()[0])


def test_the_check_names_who_is_flagged_and_why(manipulated: tuple[Running, list[str]]) -> None:
    _, bad = manipulated
    found = json.loads(run("--check", "--json").stdout)["campaigns"]
    assert [each["judge"] for each in found[0]["flagged"]] == bad
    text = run("--check").stdout
    assert all(judge in text for judge in bad)
    assert "voted for s04 in" in text
    assert "the other judges' votes predict" in text


def test_suspend_sends_one_command_for_all_flagged_judges(
    manipulated: tuple[Running, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[SuspendJudges] = []
    monkeypatch.setattr("streams.kafka.commands.send_command", lambda _, wanted, timeout: sent.append(wanted))
    assert "suspended 3 judges" in run("--check", "--suspend", "--yes").stdout
    assert [sorted(each.judges) for each in sent] == [[f"~{judge}" for judge in manipulated[1]]]


def test_a_file_is_tested_without_servers(tmp_path: Path) -> None:
    attack = simulate("chosen", 0.1, 11, systems=8, judges=30, judgments=1800)
    file = tmp_path / "votes.jsonl"
    file.write_bytes(b"\n".join(encode(each) for each in log_of(attack.votes)))
    result = CliRunner().invoke(command, [str(file)])
    assert result.exit_code == 0, result.output
    assert "c: 30 judges, 30 of them with enough votes for a test" in result.stdout
    assert "3 judges are flagged." in result.stdout
    assert CliRunner().invoke(command, [str(file), "--suspend"]).exit_code == 2
