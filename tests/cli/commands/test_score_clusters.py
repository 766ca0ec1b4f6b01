"""`judgestream clusters` on files of scores: the official procedure, for people and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.offline.score_clusters import ScoreTest
from streams.wire.events import Leaderboard, encode
from tests.builders import judgment
from tests.formats.samples import MQM, WMT_RANKINGS


class ScoreOutput(msgspec.Struct, forbid_unknown_fields=True):
    campaigns: list[Leaderboard]
    scale: str
    tests: list[ScoreTest]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["clusters", *arguments])


def output(*arguments: str) -> ScoreOutput:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout, type=ScoreOutput, strict=True)


HEAD = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Write raw scores of two judges with different scales: a and b are equal, and both are better than HUMAN."""
    random = np.random.default_rng(1)
    lines = []
    for sid in range(40):
        for system, mean in (("a.1", 60.0), ("b.2", 60.0), ("HUMAN.0", 40.0)):
            judge = sid % 2
            score = round(float(np.clip((mean + random.normal(0, 4)) / (1 + judge), 0, 100)))
            lines.append(f"h\tw{judge}\tcs\ten\tad\t1\t{system}\t1\tSYSTEM\t{sid}\t{score}\t9.0\n")
    lines.append("h\tw0\tcs\ten\tad\t1\ta.1\t1\tBAD_REF\t1\t1\t9.0\n")
    file = tmp_path / "ad.csv"
    file.write_text(HEAD + "".join(lines))
    return str(file)


def test_the_systems_of_a_file_of_scores_are_ranked_with_tests_and_clusters(log: str) -> None:
    found = output(log)
    (board,) = found.campaigns
    assert (board.campaign, board.model, board.judgments, board.judges) == ("ad.cs-en", "wmt-assessment", 120, 2)
    assert [(row.cluster, row.rank_low, row.rank_high) for row in board.rows] == [(1, 1, 2), (1, 1, 2), (2, 3, 3)]
    assert board.rows[-1].system == "HUMAN.0"
    assert [(test.system, test.opponent) for test in found.tests] == [
        (board.rows[0].system, board.rows[1].system),
        (board.rows[0].system, "HUMAN.0"),
        (board.rows[1].system, "HUMAN.0"),
    ]
    assert [test.stars for test in found.tests] == ["", "***", "***"]
    assert found.tests[1].difference == pytest.approx(board.rows[0].score - board.rows[2].score)


def test_raw_scores_are_standardised_unless_told_otherwise(log: str) -> None:
    by_default, standardised, raw = output(log), output(log, "--z"), output(log, "--raw")
    assert (by_default.scale, raw.scale) == ("z", "raw")
    assert by_default == standardised
    assert abs(sum(row.score for row in by_default.campaigns[0].rows)) < 1e-9
    assert all(20 < row.score < 70 for row in raw.campaigns[0].rows)


def test_references_are_left_out_on_request(log: str) -> None:
    assert [row.system for row in output(log, "--no-references").campaigns[0].rows] in (["a.1", "b.2"], ["b.2", "a.1"])
    result = run(log, "--no-references")
    assert "41 of 121 rows were left out (a human reference: 40; a control (BAD_REF): 1)" in result.stderr


def test_people_see_the_board_and_the_tests(log: str) -> None:
    result = run(log, "--tests")
    assert "wmt-assessment, 120 judgments, 2 clusters" in result.stdout
    assert "***" in result.stdout
    assert "***" not in run(log).stdout


def test_options_of_the_other_kind_of_log_are_refused(log: str, tmp_path: Path) -> None:
    rankings = tmp_path / "rankings.csv"
    rankings.write_bytes(WMT_RANKINGS)
    for arguments, words in (
        ((log, "--runs", "10"), "--runs is for rankings"),
        ((str(rankings), "--tests"), "--z, --raw and --tests are for scores"),
        ((str(rankings), "--raw"), "--z, --raw and --tests are for scores"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr


def test_rank_uses_the_scale_of_the_file_too(log: str, tmp_path: Path) -> None:
    """Scores that are no whole numbers have been standardised."""
    file = tmp_path / "stnd.csv"
    rows = Path(log).read_text().splitlines()[1:]
    cells = [row.split("\t") for row in rows]
    file.write_text(HEAD + "".join("\t".join([*c[:10], f"{float(c[10]) / 50 - 1:.4f}", c[11]]) + "\n" for c in cells))
    official = {row.system: row.score for row in output(str(file)).campaigns[0].rows}
    result = CliRunner().invoke(cli, ["rank", str(file), "--json"])
    (board,) = msgspec.json.decode(result.stdout, type=dict[str, list[Leaderboard]])["campaigns"]
    assert {row.system: row.score for row in board.rows} == pytest.approx(official)
    result = CliRunner().invoke(cli, ["rank", str(file), "--json", "--parameter", "scale=z"])
    (board,) = msgspec.json.decode(result.stdout, type=dict[str, list[Leaderboard]])["campaigns"]
    assert board.rows[0].score > 1.5 * max(official.values())


def test_a_campaign_without_scores_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    scored = [judgment(k, systems=(name,), ranks=None, score=5.0 + k, segment=str(k)) for k, name in enumerate("abab")]
    file.write_bytes(b"\n".join(map(encode, [*scored, judgment(9, campaign="rankings")])))
    result = run(str(file), "--json")
    assert [board.campaign for board in msgspec.json.decode(result.stdout, type=ScoreOutput).campaigns] == ["c"]
    assert "rankings do not count, because the log begins with scores: 1 left out" in result.stderr


def test_replay_opens_a_campaign_with_the_scale_of_the_file(log: str, tmp_path: Path) -> None:
    mqm = tmp_path / "mqm.tsv"
    mqm.write_bytes(MQM)
    for file, setting in ((log, "z"), (str(mqm), "raw")):
        arguments = ["replay", file, "--direct", "--json", "--setting", "score_range=-100,100"]
        replayed = CliRunner().invoke(cli, arguments)
        (board,) = msgspec.json.decode(replayed.stdout, type=dict[str, Any])["campaigns"]
        found = {row["system"]: row["score"] for row in board["rows"]}
        official = output(file, f"--{setting}").campaigns[0]
        assert found == pytest.approx({row.system: row.score for row in official.rows})
