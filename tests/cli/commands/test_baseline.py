"""`judgestream baseline`: the choice from a log and from metric scores, its reason, and clear words for wrong use."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.core.methods.baseline_choice import choose_baseline_by_scores
from streams.errors import FormatError, ParameterError
from streams.wire.events import encode
from tests.builders import judgment
from tests.data import real_log

BLEU = "system,score\na,0.30\nb,0.20\nc,0.22\n"


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["baseline", *arguments])


def chosen(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["campaigns"]
    campaign: dict[str, Any] = found
    return campaign


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log where b is in the middle: a always beats c, and b wins, ties and loses against both."""
    outcomes = [
        *[(("a", "c"), (1, 2))] * 9,
        *[(("a", "b"), ranks) for ranks in ((1, 2), (2, 1), (1, 1)) for _ in range(3)],
        *[(("b", "c"), ranks) for ranks in ((1, 2), (2, 1), (1, 1)) for _ in range(3)],
    ]
    file = tmp_path / "log.jsonl"
    lines = [encode(judgment(k, systems=systems, ranks=ranks)) for k, (systems, ranks) in enumerate(outcomes)]
    file.write_bytes(b"\n".join([*lines, b""]))
    return file


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    file = tmp_path / "bleu.csv"
    file.write_text(BLEU)
    return file


def test_a_log_chooses_the_system_whose_comparisons_have_most_information(log: Path) -> None:
    found = chosen(str(log))
    assert (found["campaign"], found["by"], found["baseline"]) == ("c", "judgments", "b")
    assert "b wins 33%, ties 33% and loses 33%" in found["reason"]
    first, *others = found["candidates"]
    assert (first["system"], first["chosen"], first["score"]) == ("b", True, None)
    assert first["wins"] == first["ties"] == first["losses"] == pytest.approx(1 / 3)
    assert all(first["information"] > other["information"] for other in others)
    assert not any(other["chosen"] for other in others)


def test_the_reason_has_the_shares_of_the_table_also_after_one_judgment(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(encode(judgment(1, systems=("a", "b"), ranks=(1, 2))))
    assert chosen(str(file))["reason"] == "comparisons with any system tell the same, so the choice is the first: a"
    more = [judgment(1, systems=("a", "b"), ranks=(1, 2)), judgment(2, systems=("c", "b"), ranks=(1, 1))]
    file.write_bytes(b"\n".join(map(encode, more)))
    found = chosen(str(file))
    for one in found["candidates"]:
        record = f"{one['system']} wins {one['wins']:.0%}, ties {one['ties']:.0%} and loses {one['losses']:.0%}"
        assert record in found["reason"] or not one["chosen"]


def test_only_a_part_of_the_log_chooses(log: Path) -> None:
    found = chosen(str(log), "--only", "system=a", "--only", "system=b")
    assert {one["system"] for one in found["candidates"]} == {"a", "b"}


def test_scores_choose_the_system_closest_to_their_mean(scores: Path) -> None:
    found = chosen("--scores", str(scores))  # the mean is .24
    assert (found["campaign"], found["by"], found["baseline"]) == (None, "scores", "c")
    assert found["reason"] == "the score of c, 0.22, is closest to the mean of 3 systems, 0.24"
    assert [(one["system"], round(one["distance"], 6)) for one in found["candidates"]] == [
        ("c", 0.02),
        ("b", 0.04),
        ("a", 0.06),
    ]


def test_with_both_the_scores_choose_and_the_log_adds_the_information(log: Path, scores: Path) -> None:
    found, alone = chosen(str(log), "--scores", str(scores)), chosen(str(log))
    assert (found["by"], found["baseline"]) == ("scores", "c")
    information = {one["system"]: one["information"] for one in alone["candidates"]}
    assert {one["system"]: one["information"] for one in found["candidates"]} == information


def test_the_table_has_the_choice_the_reason_and_the_candidates(log: Path, scores: Path) -> None:
    lines = run(str(log), "--scores", str(scores)).stdout.splitlines()
    assert lines[0] == "c  baseline: c"
    assert lines[1].startswith("the score of c")
    assert lines[2].split() == ["system", "wins", "ties", "losses", "information", "score", "distance"]
    assert len(lines) == 6
    assert run("--scores", str(scores)).stdout.splitlines()[2].split() == ["system", "score", "distance"]
    row, *_ = csv.DictReader(io.StringIO(run(str(log), "--csv").stdout))
    assert (row["campaign"], row["by"], row["system"], row["chosen"]) == ("c", "judgments", "b", "yes")


@pytest.mark.data
def test_on_wmt13_a_system_in_the_middle_is_chosen() -> None:
    found = chosen(str(real_log("wmt13_fr-en_rank.csv.gz")))
    assert "MES" in found["baseline"]  # seventh of 13 in the findings
    assert "Shef" in found["candidates"][-1]["system"]  # the last one, as Otani et al. found on Spanish-English


def test_every_campaign_of_a_log_gets_its_baseline(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    lines = [encode(judgment(k, campaign=name, ranks=(1, 2))) for k, name in enumerate("dcdc")]
    file.write_bytes(b"\n".join([*lines, b""]))
    found = json.loads(run(str(file), "--json").stdout)["campaigns"]
    assert [one["campaign"] for one in found] == ["c", "d"]
    (tmp_path / "bleu.csv").write_text(BLEU)
    result = run(str(file), "--scores", str(tmp_path / "bleu.csv"))
    assert result.exit_code == 2
    assert "2 campaigns, but scores are of one; choose it with --campaign NAME" in result.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("system,bleu\na,1\n", "bleu.csv:1: no column 'score'"),
        ("system,score\na,high\nb,1\n", "bleu.csv:2: the column 'score' has 'high', which is not a number"),
        ("system,score\na,1\na,2\n", "bleu.csv:3: a second score of 'a'; leave one row per system"),
        ("system,score\n,1\nb,2\n", "bleu.csv:2: the column 'system' is empty"),
        ("system,score\na,1\n", "a baseline needs the scores of at least 2 systems; there are 1"),
    ],
)
def test_a_wrong_table_of_scores_is_told_with_its_place(scores: Path, content: str, said: str) -> None:
    scores.write_text(content)
    result = run("--scores", str(scores))
    assert isinstance(result.exception, (FormatError, ParameterError))
    assert said in str(result.exception)


def test_a_system_of_the_log_without_a_score_is_told(log: Path, scores: Path) -> None:
    scores.write_text("system,score\na,1\nb,2\n")
    result = run(str(log), "--scores", str(scores))
    assert "campaign 'c': no score of 'c'; add it to the scores" in str(result.exception)


def test_a_log_without_rankings_is_told(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(encode(judgment(1, systems=("a",), ranks=None, score=50.0)) + b"\n")
    assert "there are scores only, and no comparisons; choose by --scores FILE" in str(run(str(file)).exception)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "there is nothing to choose from; add a log, or --scores FILE"),
        (("--scores", "SCORES", "--campaign", "c"), "--campaign, --only, --since and --until select a part of a log"),
        (("--scores", "SCORES", "--only", "judge=x"), "--campaign, --only, --since and --until select a part of a log"),
        (("--scores", "SCORES", "--json", "--csv"), "choose one"),
    ],
)
def test_wrong_use_is_told(scores: Path, options: tuple[str, ...], said: str) -> None:
    result = run(*(str(scores) if option == "SCORES" else option for option in options))
    assert result.exit_code == 2
    assert said in result.output


def test_among_equal_distances_the_first_system_is_chosen() -> None:
    assert choose_baseline_by_scores(np.array([3.0, 1.0])).system == 0
    with pytest.raises(ParameterError, match="not a finite number"):
        choose_baseline_by_scores(np.array([1.0, float("nan")]))
