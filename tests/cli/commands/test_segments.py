"""`judgestream segments`: counts, information where the model has it, and a table that stays short."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest
from click.testing import CliRunner, Result

from streams.cli.commands.segments import command
from streams.reports.views import SegmentView, segment_views
from tests.reports.campaigns import Running, crowd, opened


class Output(msgspec.Struct, forbid_unknown_fields=True):
    campaign: str
    segments: list[SegmentView]


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, ("wmt.fr-en", *arguments))
    assert result.exit_code == 0, result.output
    return result


def segments(*arguments: str) -> list[SegmentView]:
    return msgspec.json.decode(run("--json", *arguments).stdout, type=Output, strict=True).segments


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running(monkeypatch)
    running.take(opened("grm", segments=[f"fresh-{k}" for k in range(9)]), *crowd(300))
    return running


def test_the_most_judged_come_first(running: Running) -> None:
    found = segments()
    expected = segment_views(running.stream.campaign("wmt.fr-en"))
    assert found == sorted(expected, key=lambda each: (-each.judgments, each.segment))
    assert found[-1].judgments == 0


@pytest.mark.usefixtures("running")
def test_or_what_tells_most_or_by_name() -> None:
    told = [each.information or 0.0 for each in segments("--sort", "information")]
    assert told == sorted(told, reverse=True)
    assert told[0] > told[-1]
    names = [each.segment for each in segments("--sort", "segment")]
    assert names == sorted(names)


@pytest.mark.usefixtures("running")
def test_a_table_is_cut_and_says_so_and_programs_get_all() -> None:
    shown = run().stdout
    assert len([line for line in shown.splitlines() if line.startswith(("segment-", "fresh-"))]) == 50
    assert shown.endswith("59 segments; 9 more with --limit 59\n")
    assert len(segments()) == 59
    assert len(list(csv.DictReader(io.StringIO(run("--csv").stdout)))) == 59
    assert len(segments("--limit", "3")) == 3


def test_a_model_without_segments_has_no_such_column(monkeypatch: pytest.MonkeyPatch) -> None:
    Running(monkeypatch).take(opened(), *crowd(60))
    assert "information" not in run().stdout
    assert {each.information for each in segments()} == {None}
