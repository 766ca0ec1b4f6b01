"""`judgestream rank`: published scores, every model of the registry, and clear words for wrong use."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from benchmarks.wmt13 import PUBLISHED
from streams.cli.main import cli
from streams.core.campaign.campaign import Campaign
from streams.core.models import MODELS
from streams.core.ranking import PairCounts, rank_scores
from streams.errors import FormatError
from streams.formats import read
from streams.wire.events import CampaignSettings, Leaderboard, encode
from tests.builders import judgment, unzip
from tests.data import WMT13_SYSTEMS, real_log

HEAD = "campaign,pair,seq,segment,judge,judge_type,n,systems,ranks,duration_s,timestamp,hit\n"


class Output(msgspec.Struct, forbid_unknown_fields=True):
    campaigns: list[Leaderboard]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["rank", *arguments])


def boards(result: Result) -> list[Leaderboard]:
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout, type=Output, strict=True).campaigns


@pytest.fixture
def log(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    lines = []
    for k in range(1, 121):
        shown = random.choice(4, size=3, replace=False)
        seen = np.unique(np.round(shown + random.normal(size=3)), return_inverse=True)[1] + 1
        names, ranks = "|".join(f"s{i}" for i in shown), "|".join(map(str, seen))
        lines.append(f"t,{'one' if k % 3 else 'two'},{k},seg{k % 7},judge{k % 5},,3,{names},{ranks},,,")
    file = tmp_path / "log.csv"
    file.write_text(HEAD + "\n".join(lines) + "\n")
    return file


@pytest.mark.data
def test_expected_wins_of_wmt13_are_published_scores_and_ranges() -> None:
    file = real_log("wmt13_fr-en_rank.csv.gz")
    (board,) = boards(run(str(file), "--model", "expected-wins", "--ranges", "bootstrap", "--json"))
    assert (board.campaign, board.model, board.judgments) == ("wmt13.fr-en", "expected-wins", 9996)
    assert [row.system for row in board.rows] == list(WMT13_SYSTEMS)
    scores = list(PUBLISHED)
    low = [1, 2, 2, 4, 4, 5, 7, 8, 9, 9, 10, 12, 13]
    high = [1, 3, 3, 5, 5, 6, 7, 8, 10, 11, 11, 12, 13]
    np.testing.assert_allclose([row.score for row in board.rows], scores, atol=0.001)
    np.testing.assert_allclose([row.rank_low for row in board.rows], low, atol=1)
    np.testing.assert_allclose([row.rank_high for row in board.rows], high, atol=1)


@pytest.mark.parametrize("model", [name for name, model in MODELS.items() if model.kind == "rankings"])
@pytest.mark.parametrize("ranges", ["closed", "posterior"])
def test_every_online_model_ranks_as_a_campaign_with_it_does(log: Path, model: str, ranges: str) -> None:
    one, two = boards(run(str(log), "--model", model, "--ranges", ranges, "--json"))
    campaign = Campaign("t.one", CampaignSettings(model=model))
    campaign.apply(*unzip([(k, verdict) for k, (_, verdict) in enumerate(read(log)) if verdict.campaign == "t.one"]))
    expected = campaign.leaderboard()
    assert [(row.system, row.score, row.deviation, row.judgments) for row in one.rows] == [
        (row.system, row.score, row.deviation, row.judgments) for row in expected.rows
    ]
    assert (one.campaign, one.model, one.sequence, one.offset, one.judgments) == ("t.one", model, 80, 118, 80)
    assert two.offset == 119


@pytest.mark.parametrize("model", ["expected-wins", "bradley-terry"])
def test_a_model_of_pair_counts_has_bootstrap_ranges_by_default(log: Path, model: str) -> None:
    one, two = boards(run(str(log), "--model", model, "--runs", "50", "--seed", "3", "--json"))
    counts = PairCounts.of(verdict for _, verdict in read(log) if verdict.campaign == "t.one")
    ranked = rank_scores("bootstrap", counts, score=model, runs=50, seed=3)
    assert one.rows == ranked.rows(counts.systems, counts.judgments.tolist())
    assert (one.model, one.sequence, one.offset, one.judgments) == (model, 80, 118, 80)
    assert (two.sequence, two.offset) == (40, 119)


def test_trueskill_with_wmt_ranges_is_what_clusters_gives(log: Path) -> None:
    ranked = run(str(log), "--ranges", "wmt", "--runs", "30", "--json")
    clustered = CliRunner().invoke(cli, ["clusters", str(log), "--runs", "30", "--json"])
    assert ranked.stdout == clustered.stdout
    assert {board.model for board in boards(ranked)} == {"wmt"}


def test_people_get_a_table_a_campaign(log: Path) -> None:
    result = run(str(log), "--campaign", "t.two")
    assert result.exit_code == 0
    assert result.stdout.startswith("t.two  trueskill, 40 judgments, ")
    assert "t.one" not in result.stdout
    assert result.stdout.count("●") == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "truskill"], "no model 'truskill'; did you mean 'trueskill'?"),
        (["--model", "expected-win"], "no model 'expected-win'; did you mean 'expected-wins'?"),
        (["--ranges", "postrior"], "no ranges 'postrior'; did you mean 'posterior'?"),
        (["--model", "expected-wins", "--ranges", "closed"], "it has: bootstrap; models with closed: trueskill"),
        (["--model", "bradley-terry", "--ranges", "wmt"], "it has: bootstrap; models with wmt: trueskill"),
        (["--campaign", "t.owe"], "no campaign 't.owe' in the log; did you mean 't.one'?"),
        (["--runs", "0"], "Invalid value for '--runs'"),
    ],
)
def test_wrong_use_is_exit_code_2_and_the_right_one_is_named(log: Path, arguments: list[str], words: str) -> None:
    result = run(str(log), *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


@pytest.mark.parametrize("model", ["trueskill", "expected-wins"])
def test_a_ranking_that_stands_twice_counts_once(log: Path, model: str) -> None:
    once = boards(run(str(log), "--json", "--model", model))
    lines = [encode(verdict) for _, verdict in read(log)]
    log.write_bytes(b"\n".join([*lines, lines[0], b""]))
    twice = run(str(log), "--json", "--model", model)
    assert [(board.judgments, board.rows) for board in boards(twice)] == [(each.judgments, each.rows) for each in once]
    assert "1 of 121 judgments are duplicates and were ignored" in twice.stderr


def test_a_ranking_that_is_refused_is_not_silent(log: Path) -> None:
    many = "\n".join(f"u,,{k},s,j,,2,x{2 * k}|x{2 * k + 1},1|2,,," for k in range(1, 503))
    log.write_text(HEAD + many + "\n")
    result = run(str(log), "--json")
    assert (
        ": 2 of 502 judgments were rejected; the first: the campaign 'u' has 1000 systems; at most 1000 fit"
        in result.stderr
    )
    assert boards(result)[0].judgments == 500


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    file = tmp_path / "scores.jsonl"
    lines = [
        encode(judgment(k, systems=(f"s{k % 3}",), ranks=None, score=1.0 + (2 * k + k % 3) % 7, segment=f"seg{k // 3}"))
        for k in range(60)
    ]
    file.write_bytes(b"\n".join(lines) + b"\n")
    return file


def test_a_log_of_scores_is_rated_by_assessment(scores: Path) -> None:
    (board,) = boards(run(str(scores), "--json"))
    assert (board.model, board.judgments, len(board.rows)) == ("assessment", 60, 3)
    assert boards(run(str(scores), "--json", "--score-range", "1,7")) == [board]
    partly = run(str(scores), "--json", "--score-range", "1,5")
    assert 0 < boards(partly)[0].judgments < 60
    assert "takes scores from 1 to 5" in partly.stderr


@pytest.mark.parametrize("command", [["rank", "--model", "trueskill"], ["clusters"], ["head-to-head"]])
def test_a_command_that_rated_nothing_fails_with_the_reason(scores: Path, command: list[str]) -> None:
    result = CliRunner().invoke(cli, [command[0], str(scores), *command[1:]])
    assert isinstance(result.exception, FormatError)  # exit code 1, see `main`
    assert "nothing was rated: 60 of 60 judgments were rejected" in str(result.exception)
    assert "models for scores: assessment" in str(result.exception)
    assert result.stdout == ""


def test_a_campaign_of_which_nothing_was_rated_is_left_out(scores: Path) -> None:
    ranking = encode(judgment(900, campaign="rankings"))
    scores.write_bytes(ranking + b"\n" + scores.read_bytes())
    result = run(str(scores), "--json")
    assert [board.campaign for board in boards(result)] == ["rankings"]
    assert "nothing of the campaign 'c' was rated; rank it alone with --campaign" in result.stderr
    assert [board.model for board in boards(run(str(scores), "--json", "--campaign", "c"))] == ["assessment"]


@pytest.mark.parametrize("bounds", ["7,1", "1", "1,2,3", "low,high", "nan,7", "1,inf"])
def test_a_wrong_score_range_is_refused(scores: Path, bounds: str) -> None:
    result = run(str(scores), "--score-range", bounds)
    assert result.exit_code == 2
    assert "score_range" in result.stderr
