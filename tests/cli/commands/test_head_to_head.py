"""`judgestream head-to-head`: Table 25 of the WMT13 findings, its forms, and clear words for wrong use."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.wire.events import encode
from tests.builders import crowd_log, judgment
from tests.data import WMT13_SYSTEMS, real_log


def run(*arguments: str, columns: int = 200) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(cli, ["head-to-head", *arguments])


def found(*arguments: str) -> list[dict[str, Any]]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    campaigns: list[dict[str, Any]] = json.loads(result.stdout)["campaigns"]
    return campaigns


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Give a log where a beat b nine times of ten and tied twice, and nobody met c but in a tie with b."""
    met = [((1, 2), 9), ((2, 1), 1), ((1, 1), 2)]
    outcomes = [ranks for ranks, times in met for _ in range(times)]
    judgments = [judgment(k, ranks=ranks, segment=f"s{k}") for k, ranks in enumerate(outcomes)]
    judgments.append(judgment(99, systems=("b", "c"), ranks=(1, 1)))
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in judgments))
    return file


@pytest.mark.data
def test_table_25_of_the_wmt13_findings_comes_out() -> None:
    file = str(real_log("wmt13_fr-en_rank.csv.gz"))
    (campaign,) = found(file, "--runs", "50")
    assert tuple(row["system"] for row in campaign["rows"]) == WMT13_SYSTEMS
    pairs = {(pair["system"], pair["opponent"]): pair for pair in campaign["pairs"]}
    assert len(pairs) == 78
    assert sum(pair["wins"] + pair["losses"] for pair in campaign["pairs"]) == 80_741
    first, second, third, *_, last = WMT13_SYSTEMS
    assert (round(pairs[first, second]["win_rate"], 2), pairs[first, second]["star"]) == (0.55, "‡")
    assert (round(pairs[second, third]["win_rate"], 2), pairs[second, third]["star"]) == (0.48, "⋆")
    assert (round(pairs[first, last]["win_rate"], 2), pairs[first, last]["star"]) == (0.76, "‡")
    text = run(file, "--runs", "50").stdout.splitlines()
    assert text[2].split()[1:6] == ["uedin-heafield-unconstrained.2755", "–", ".55‡", ".54‡", ".54‡"]
    assert text[-3].split()[:2] == ["rank", "1"]


def test_wins_ties_and_losses_are_counted_from_the_higher_system(log: Path) -> None:
    (campaign,) = found(str(log))
    pairs = [tuple(pair.values())[1:] for pair in campaign["pairs"]]
    assert pairs[0] == ("a", "b", 9, 2, 1, 0.9, pytest.approx(11 / 1024), "†", 1, "none")
    assert ("c", "b", 0, 1, 0, None, 1.0, "", 1, "none") in pairs
    assert len(pairs) == 2


def test_with_two_sides_the_test_is_harder(log: Path) -> None:
    (campaign,) = found(str(log), "--sides", "2")
    assert campaign["pairs"][0]["p"] == pytest.approx(22 / 1024)


def test_the_matrix_says_how_often_the_row_beat_the_column(log: Path) -> None:
    lines = [line.split() for line in run(str(log)).stdout.splitlines()]
    assert ["1", "a", "–", "–", ".90†"] in lines
    assert ["3", "b", ".10†", "–", "–"] in lines


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "sign test, one-sided, not corrected for 1 pair"),
        (("--sides", "2"), "sign test, two-sided, not corrected for 1 pair"),
        (("--list", "--correction", "holm"), "sign test, one-sided, corrected by Holm for 1 pair"),
        (("--markdown", "--correction", "bh"), "sign test, one-sided, corrected by Benjamini-Hochberg for 1 pair"),
    ],
)
def test_every_table_says_which_test_it_has(log: Path, options: tuple[str, ...], said: str) -> None:
    assert said in run(str(log), *options).stdout


def test_a_tiny_p_is_not_printed_as_zero(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(judgment(k, ranks=(1, 2), segment=f"s{k}")) + b"\n" for k in range(50)))
    assert "<0.0001" in run(str(file), "--list").stdout


def test_a_table_that_is_too_wide_is_a_pair_a_line(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(300)))
    assert "opponent" not in run(str(file)).stdout
    assert "opponent" in run(str(file), columns=50).stdout
    assert "opponent" in run(str(file), "--list").stdout


def test_csv_and_markdown_hold_the_same(log: Path) -> None:
    (row, _) = csv.DictReader(io.StringIO(run(str(log), "--csv").stdout))
    assert (row["campaign"], row["system"], row["wins"], row["win_rate"], row["star"]) == ("c", "a", "9", "0.9", "†")
    text = run(str(log), "--markdown").stdout
    assert "| 1 | a | – | – | .90† |" in text
    assert "| | score | .900 | .500 | .100 |" in text


@pytest.mark.long
@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_heat_map_is_written_for_each_campaign(tmp_path: Path, suffix: str, start: bytes) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(200, campaigns=2, systems=4)))
    result = run(str(file), "--plot", str(tmp_path / f"heat{suffix}"))
    assert result.exit_code == 0, result.output
    for campaign in ("campaign-0", "campaign-1"):
        assert (tmp_path / f"heat.{campaign}{suffix}").read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--json", "--markdown"), "choose one"),
        (("--campaign", "d"), "no campaign 'd'"),
        (("--plot", "figure.txt"), "must end in"),
        (("--sides", "3"), "'3' is not one of"),
    ],
)
def test_wrong_use_is_told(log: Path, options: tuple[str, ...], said: str) -> None:
    result = run(str(log), *options)
    assert result.exit_code == 2
    assert said in result.output
