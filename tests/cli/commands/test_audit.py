"""`judgestream audit`: both engines on a log, the largest differences, and clear errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.core.models import trueskill_package
from streams.errors import FormatError
from streams.wire.events import encode
from tests.builders import crowd_log, judgment
from tests.data import real_log


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["audit", *arguments])


def found(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    read: dict[str, Any] = json.loads(result.stdout)
    return read


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(60, campaigns=2, ways=3)))
    return file


@pytest.mark.parametrize("options", [(), ("--parameter", "ways=free-for-all"), ("--parameter", "profile=wmt")])
def test_both_engines_rate_every_campaign_alike(log: Path, options: tuple[str, ...]) -> None:
    answer = found(str(log), *options, "--budget", "100")
    assert answer["passed"]
    assert answer["ratio"] > 1
    in_pairs = "ways=free-for-all" not in options
    assert [(row["campaign"], row["judgments"], row["matches"]) for row in answer["campaigns"]] == [
        (name, 30, 90 if in_pairs else 30) for name in ("campaign-0", "campaign-1")
    ]
    for row in answer["campaigns"]:
        assert 0 <= max(row["mean_difference"], row["deviation_difference"]) < 1e-10
        assert row["mean_system"].startswith("system-")
        assert row["failed"] == 0


def test_a_difference_above_the_tolerance_fails_and_names_the_system(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = trueskill_package.rate_rankings

    def moved(mean: Any, variance: Any, *more: Any) -> int:
        left = exact(mean, variance, *more)
        mean[2] += 2e-6
        variance[3] += 1e-5
        return left

    monkeypatch.setattr(trueskill_package, "rate_rankings", moved)
    result = run(str(log), "--campaign", "campaign-0", "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    names = list(dict.fromkeys(name for each in crowd_log(60, campaigns=2, ways=3)[::2] for name in each.systems))
    (row,) = answer["campaigns"]
    assert not answer["passed"]
    assert row["mean_difference"] == pytest.approx(2e-6, rel=1e-3)
    assert (row["mean_system"], row["deviation_system"]) == (names[2], names[3])
    assert "more than the tolerance of 1e-06" in run(str(log)).stdout
    assert run(str(log), "--tolerance", "0.01").exit_code == 0


def test_a_prefix_is_audited(log: Path) -> None:
    answer = found(str(log), "--judgments", "7")
    assert [row["judgments"] for row in answer["campaigns"]] == [4, 3]
    (row,) = found(str(log), "--judgments", "7", "--campaign", "campaign-1")["campaigns"]
    assert (row["campaign"], row["judgments"]) == ("campaign-1", 7)


def test_matches_that_the_package_can_not_rate_are_counted(log: Path) -> None:
    answer = found(str(log), "--parameter", "margin=0")
    ties = 0
    for each in crowd_log(60, campaigns=2, ways=3):
        ranks = np.array(each.ranks)
        ties += int((ranks[:, None] == ranks[None, :]).sum() - 3) // 2
    assert sum(row["failed"] for row in answer["campaigns"]) == ties > 0


def test_the_table_has_the_differences_and_the_times(log: Path) -> None:
    text = run(str(log)).stdout
    assert "campaign-0" in text
    assert "times as long" in text
    assert "within the tolerance of 1e-06" in text


def test_a_score_log_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"
    scores = [judgment(n, systems=("a",), ranks=None, score=50.0) for n in range(3)]
    file.write_bytes(b"".join(encode(each) + b"\n" for each in scores))
    result = run(str(file))
    assert isinstance(result.exception, FormatError)
    assert "rated none of 3 judgments" in str(result.exception)
    assert "needs a log of rankings" in str(result.exception)


def test_an_empty_log_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text("")
    result = run(str(file))
    assert isinstance(result.exception, FormatError)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--parameter", "engine=package"), "leave it out"),
        (("--parameter", "wyas=pairs"), "its parameters"),
        (("--parameter", "profile=wmt"), "budget"),
        (("--campaign", "campaign-2"), "did you mean 'campaign-"),
        (("--judgments", "0"), "--judgments"),
    ],
)
def test_wrong_use_is_told(log: Path, options: tuple[str, ...], said: str) -> None:
    result = run(str(log), *options)
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.data
def test_the_beginning_of_wmt13_has_the_same_ratings_by_the_package() -> None:
    answer = found(str(real_log("wmt13_fr-en_rank.csv.gz")), "--judgments", "100")
    assert answer["campaigns"][0]["matches"] == 1000
    assert answer["passed"]
