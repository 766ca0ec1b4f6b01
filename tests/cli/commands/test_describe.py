"""`judgestream describe`: the amount of data by campaign, as Table 2 of the WMT13 findings counts it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.wire.events import Judgment, encode
from tests.builders import judgment
from tests.data import real_log


def run(file: Path, *options: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["describe", str(file), *options])


def written(tmp_path: Path, *log: Judgment) -> Path:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    return file


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of two campaigns, with one judge in both."""
    return written(
        tmp_path,
        judgment(1, campaign="c", judge="x", segment="s", systems=("a", "b", "c"), ranks=(1, 1, 2)),
        judgment(2, campaign="c", judge="y", segment="s", systems=("a", "b"), ranks=(2, 1)),
        judgment(3, campaign="d", judge="x", segment="s", systems=("a", "e"), ranks=(1, 1)),
        judgment(4, campaign="d", judge="x", segment="t", systems=("a", "e"), ranks=(1, 2)),
    )


@pytest.mark.data
def test_french_english_has_the_row_of_table_2() -> None:
    (row,) = json.loads(run(real_log("wmt13_fr-en_rank.csv.gz"), "--json").stdout)["campaigns"]
    assert (row["systems"], row["decided"], round(row["average"], 2)) == (13, 80_741, 6_210.85)
    assert (row["rankings"], row["comparisons"]) == (9_996, 99_960)


def test_every_campaign_and_the_totals_are_counted(log: Path) -> None:
    found = json.loads(run(log, "--json").stdout)
    c, d = found["campaigns"]
    assert c == {
        "campaign": "c",
        "systems": 3,
        "judges": 2,
        "segments": 1,
        "rankings": 2,
        "comparisons": 4,
        "ties": 1,
        "decided": 3,
        "average": 1.0,
        "scores": 0,
    }
    assert (d["systems"], d["judges"], d["segments"], d["ties"], d["average"]) == (2, 1, 2, 1, 0.5)
    total = found["total"]
    assert (total["campaign"], total["systems"], total["judges"], total["segments"]) == (None, 5, 2, 3)
    assert (total["rankings"], total["comparisons"], total["decided"], total["average"]) == (4, 6, 4, 0.8)


def test_one_campaign_has_no_totals(log: Path) -> None:
    assert json.loads(run(log, "--campaign", "d", "--json").stdout)["total"] is None
    assert "total" not in run(log, "--campaign", "d").stdout


def test_csv_and_the_table_hold_the_same(log: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(log, "--csv").stdout)))
    assert [(row["campaign"], row["decided"]) for row in rows] == [("c", "3"), ("d", "1"), ("", "4")]
    lines = [line.split() for line in run(log).stdout.splitlines()]
    assert lines[-1] == ["total", "5", "2", "3", "4", "6", "2", "4", "0.80"]
    assert "scores" not in lines[0]


def test_direct_assessments_are_counted_apart(tmp_path: Path) -> None:
    file = written(tmp_path, *(judgment(k, systems=("a",), ranks=None, score=50.0 + k) for k in range(3)))
    (row,) = json.loads(run(file, "--json").stdout)["campaigns"]
    assert (row["systems"], row["rankings"], row["comparisons"], row["scores"], row["average"]) == (1, 0, 0, 3, 0.0)
    assert "average" not in run(file).stdout


@pytest.mark.parametrize(
    ("options", "said"), [(("--json", "--csv"), "choose one"), (("--campaign", "x"), "no campaign 'x' in the log")]
)
def test_wrong_use_is_told(log: Path, options: tuple[str, ...], said: str) -> None:
    result = run(log, *options)
    assert result.exit_code == 2
    assert said in result.output
