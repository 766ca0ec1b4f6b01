"""`judgestream rank`: published scores, every model of the registry, and clear words for wrong use."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from benchmarks.wmt13 import PUBLISHED
from streams.cli.main import cli
from streams.core.campaign.campaign import Campaign
from streams.core.methods import CountMethod
from streams.core.methods.registry import create_method
from streams.core.models import MODELS
from streams.core.ranking import PairCounts, rank_scores
from streams.core.ranking_models import RANKING_MODELS
from streams.errors import FormatError
from streams.formats import read
from streams.lab.measures.correlation import kendall
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


@pytest.mark.parametrize(
    ("model", "ranges"),
    [
        (name, ranges)
        for name, model in MODELS.items()
        for ranges in model.ranges
        if model.kind == "rankings" and ranges not in ("bootstrap", "wmt")
    ],
)
def test_every_online_model_ranks_as_a_campaign_with_it_does(log: Path, model: str, ranges: str) -> None:
    one, two = boards(run(str(log), "--model", model, "--ranges", ranges, "--json"))
    campaign = Campaign("t.one", CampaignSettings(model=model))
    campaign.apply(*unzip([(k, verdict) for k, (_, verdict) in enumerate(read(log)) if verdict.campaign == "t.one"]))
    expected = campaign.leaderboard()
    assert [(row.system, row.score, row.deviation, row.judgments) for row in one.rows] == [
        (row.system, row.score, row.deviation, row.judgments) for row in expected.rows
    ]
    assert (one.campaign, one.model, one.sequence, one.offset, one.judgments) == ("t.one", model, 80, 118, 80)
    assert one.judges == expected.judges == 5
    assert two.offset == 119


def test_the_board_of_any_order_of_the_log_is_the_same(log: Path) -> None:
    before, lines = boards(run(str(log), "--json")), [encode(verdict) for _, verdict in read(log)]
    log.write_bytes(b"\n".join([*reversed(lines), b""]))
    after = boards(run(str(log), "--json"))
    assert [msgspec.structs.replace(board, offset=0) for board in after] == [
        msgspec.structs.replace(board, offset=0) for board in before
    ]


@pytest.mark.parametrize("model", ["expected-wins", "bradley-terry"])
def test_a_model_of_pair_counts_has_bootstrap_ranges_by_default(log: Path, model: str) -> None:
    one, two = boards(run(str(log), "--model", model, "--runs", "50", "--seed", "3", "--json"))
    counts = PairCounts.of(verdict for _, verdict in read(log) if verdict.campaign == "t.one")
    method = create_method(model)
    assert isinstance(method, CountMethod)
    ranked = rank_scores("bootstrap", counts, method=method, runs=50, seed=3)
    assert one.rows == ranked.rows(counts.systems, counts.judgments.tolist())
    assert (one.model, one.sequence, one.offset, one.judgments) == (model, 80, 118, 80)
    assert (two.sequence, two.offset) == (40, 119)


def test_elo_points_are_the_same_board_on_another_scale(log: Path) -> None:
    (score, _), (elo, _) = (
        boards(run(str(log), "--json", *more)) for more in ((), ("--scale", "elo", "--anchor", "s1"))
    )
    assert (score.scale, elo.scale) == ("score", "elo")
    assert next(row.score for row in elo.rows if row.system == "s1") == 1000.0
    gaps = [[a.score - b.score for a, b in pairwise(board.rows)] for board in (score, elo)]
    assert score.elo_per_score is not None
    assert gaps[1] == pytest.approx([score.elo_per_score * gap for gap in gaps[0]])
    table = run(str(log), "--scale", "elo", "--anchor", "s1", "--csv").stdout.splitlines()
    assert table[0].endswith(",scale")
    assert all(line.endswith(",elo") for line in table[1:])


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
        (["--ranges", "closed"], "it has: groups, wmt; groups do not depend on the order of the log; models with"),
        (["--model", "expected-wins", "--ranges", "closed"], "it has: bootstrap; models with closed: "),
        (["--scale", "elo", "--anchor", "s11"], "no system 's11' in 't.one'; did you mean 's1'?"),
        (["--scale", "elo", "--model", "elo", "--runs", "3"], "the model 'elo' has no Elo scale"),
        (["--anchor", "s1"], "--anchor needs --scale elo"),
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


def test_a_ranking_that_is_refused_is_not_silent(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.core.campaign.admission.MAX_SYSTEMS", 10)
    many = "\n".join(f"u,,{k},s,j,,2,x{2 * k}|x{2 * k + 1},1|2,,," for k in range(1, 8))
    log.write_text(HEAD + many + "\n")
    result = run(str(log), "--json")
    assert (
        ": 2 of 7 judgments were rejected; the first: the campaign 'u' has 10 systems; at most 10 fit" in result.stderr
    )
    assert boards(result)[0].judgments == 5


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


@pytest.mark.parametrize("command", [["rank", "--model=trueskill"], ["rank", "--model=elo"], ["head-to-head"]])
def test_a_command_that_rated_nothing_fails_with_the_reason(scores: Path, command: list[str]) -> None:
    result = CliRunner().invoke(cli, [command[0], str(scores), *command[1:]])
    assert isinstance(result.exception, FormatError)  # exit code 1, see `main`
    assert "nothing was rated: 60 of 60 judgments were rejected" in str(result.exception)
    assert "the judgment has a score instead of ranks; the model 'assessment' ranks scores" in str(result.exception)
    assert result.stdout == ""


def test_a_score_range_that_is_none_is_refused_with_an_example(scores: Path) -> None:
    result = CliRunner().invoke(cli, ["rank", str(scores), "--score-range", "wide"])
    assert result.exit_code == 2
    assert "score_range is 'wide': write two numbers, for example 1,7" in result.stderr


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


SAMPLE = Path("samples/arena.csv").resolve()
RANKS = [name for name, model in RANKING_MODELS.items() if model.rates == "rankings"]
SLOW = {"grm-batch", "hopkins-may-categorical"}  # left to `make long`
EACH = [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in RANKS]


def finite(board: Leaderboard) -> bool:
    return all(np.isfinite([row.score, row.deviation]).all() for row in board.rows)


@pytest.mark.parametrize("model", EACH)
def test_every_model_ranks_the_sample(model: str) -> None:
    result = run(str(SAMPLE), "--model", model, "--runs", "5", "--json")
    (board,) = boards(result)
    assert (board.model, board.judgments, result.stderr) == (model, 3000, "")
    assert finite(board)
    assert {row.system for row in board.rows[:2]} == {"cedar", "birch"}
    assert board.rows[-1].system == "hazel"


@pytest.mark.parametrize("scale", ["z", "raw"])
def test_direct_assessment_is_ranked_on_either_scale(tmp_path: Path, scale: str) -> None:
    scores = [("x", "strict", 20.0), ("x", "kind", 90.0), ("y", "strict", 10.0), ("y", "kind", 80.0)]
    file = tmp_path / "scores.jsonl"
    file.write_bytes(
        b"\n".join(
            encode(judgment(k, systems=(system,), ranks=None, score=score, judge=judge))
            for k, (system, judge, score) in enumerate(scores)
        )
    )
    (board,) = boards(run(str(file), "--model", "assessment", "--parameter", f"scale={scale}", "--json"))
    # z of 20 and 10 is +-1/sqrt(2), and so for the other judge.
    expected = {"z": [0.5**0.5, -(0.5**0.5)], "raw": [55.0, 45.0]}[scale]
    assert [row.score for row in board.rows] == pytest.approx(expected)


@pytest.mark.data
@pytest.mark.long
@pytest.mark.parametrize("model", RANKS)
def test_every_model_ranks_wmt13_nearly_in_the_published_order(model: str) -> None:
    (board,) = boards(run(str(real_log("wmt13_fr-en_rank.csv.gz")), "--model", model, "--json"))
    places = [WMT13_SYSTEMS.index(row.system) for row in board.rows]
    # Elo and Glicko-2 forget old outcomes, and the comparisons with one baseline are a fraction of the log.
    assert kendall(-np.array(places), -np.arange(13.0)) > (0.6 if model in {"elo", "glicko2", "grm-batch"} else 0.9)
    assert finite(board)


def small(*verdicts: tuple[tuple[str, ...], tuple[int, ...]]) -> bytes:
    return b"\n".join(encode(judgment(k, systems=systems, ranks=ranks)) for k, (systems, ranks) in enumerate(verdicts))


LOGS = {
    "one judgment": small((("a", "b"), (1, 2))),
    "ties only": small(*[(("a", "b"), (1, 1)), (("b", "c"), (1, 1)), (("a", "c"), (1, 1))] * 3),
    "two islands": small(*[(("a", "b"), (1, 2)), (("c", "d"), (1, 2))] * 5),
    "one always wins": small(*[(("a", "b", "c"), (1, 2, 3))] * 9),
    "no judge": b"model_a,model_b,winner\na,b,model_a\nb,c,tie\nc,a,model_b\n",
}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("model", RANKS)
def test_a_meagre_log_is_ranked_without_a_warning(tmp_path: Path, model: str, name: str) -> None:
    file = tmp_path / ("log.csv" if name == "no judge" else "log.jsonl")
    file.write_bytes(LOGS[name])
    result = run(str(file), "--model", model, "--runs", "3", "--json")
    assert result.stderr.count("\n") == 2 * (name == "no judge")  # no judge and no segment is named, and no more
    (board,) = boards(result)
    assert finite(board)
    assert all(1 <= row.rank_low <= row.rank_high <= len(board.rows) for row in board.rows)
    if name == "ties only" and not {"seed", "bias_deviation"} & set(
        RANKING_MODELS[model].parameter_names
    ):  # no draw, no side
        assert {row.rank_low for row in board.rows} == {1}


@pytest.mark.parametrize("model", EACH)
def test_every_range_that_a_model_offers_can_be_computed(log: Path, model: str) -> None:
    for ranges in RANKING_MODELS[model].ranges:
        result = run(str(log), "--model", model, "--ranges", ranges, "--runs", "4", "--campaign", "t.one")
        assert result.exit_code == 0, result.output
        runs = {"bootstrap": "(bootstrap, "}.get(ranges, f"({ranges}, 4 runs)")
        runs = " cluster" if ranges in ("closed", "groups") else runs
        assert runs in result.stdout


def test_a_parameter_reaches_an_online_model(log: Path) -> None:
    (board, _) = boards(run(str(log), "--parameter", "ways=free-for-all", "--parameter", "beta=2", "--json"))
    campaign = Campaign("t.one", CampaignSettings(parameters={"ways": "free-for-all", "beta": 2.0}))
    campaign.apply(*unzip([(k, verdict) for k, (_, verdict) in enumerate(read(log)) if verdict.campaign == "t.one"]))
    assert [row.score for row in board.rows] == [row.score for row in campaign.leaderboard().rows]


def test_a_parameter_reaches_a_method() -> None:
    (plain,), (fast,) = (
        boards(run(str(SAMPLE), "--model", "elo", "--runs", "3", *more, "--json"))
        for more in ((), ("--parameter", "k=64"))
    )
    ratings = dict.fromkeys((row.system for row in plain.rows), 1500.0)
    for _, verdict in read(SAMPLE):
        (a, b), ranks = verdict.systems, verdict.ranks
        assert ranks is not None
        got = 0.5 * (1 + np.sign(ranks[1] - ranks[0]))
        step = 64 * (got - 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400)))
        ratings[a] += step
        ratings[b] -= step
    assert {row.system: row.score for row in fast.rows} == pytest.approx(ratings)
    assert plain.rows != fast.rows


def test_grm_with_a_baseline_is_ranked_as_a_campaign_with_it() -> None:
    (board,) = boards(run(str(SAMPLE), "--model", "grm", "--baseline", "birch", "--json"))
    campaign = Campaign("arena", CampaignSettings(model="grm", baseline="birch"))
    campaign.apply(*unzip([(k, verdict) for k, (_, verdict) in enumerate(read(SAMPLE))]))
    assert [(row.system, row.score) for row in board.rows] == [
        (row.system, row.score) for row in campaign.leaderboard().rows
    ]
    assert next(row.score for row in board.rows if row.system == "birch") == 0.0


@pytest.mark.long
def test_batch_grm_puts_the_baseline_at_zero() -> None:
    (board,) = boards(run(str(SAMPLE), "--model", "grm-batch", "--baseline", "aspen", "--json"))
    assert next((row.score, row.deviation) for row in board.rows if row.system == "aspen") == (0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--model", "grm", "--baseline", "brich"],
            "'brich' is no system of the campaign 'arena'; did you mean 'birch'?",
        ),
        (["--model", "grm-batch", "--baseline", "brich"], "did you mean 'birch'?"),
        (
            ["--baseline", "birch"],
            "'trueskill' has no baseline, but 'birch' is given; leave it out, or choose one of: grm",
        ),
        (["--model", "grm", "--parameter", "mode=baseline"], "needs a `baseline`"),
        (["--model", "grm", "--parameter", "mode=pairwise", "--baseline", "birch"], "leave out the baseline"),
        (["--model", "elo", "--parameter", "k"], "--parameter 'k': write NAME=VALUE"),
        (["--model", "elo", "--parameter", "k=1", "--parameter", "k=2"], "--parameter k is given twice"),
        (["--model", "elo", "--parameter", "kk=1"], "did you mean 'k'?; its parameters: k"),
        (["--model", "elo", "--parameter", "k=x"], "k is 'x', but it must be: above 0"),
        (["--parameter", "profile=wmt"], "needs the campaign's budget"),
        (["--ranges", "wmt", "--parameter", "beta=2"], "has its own parameters; leave out beta"),
        (["--model", "uniform"], "predicts judgments but does not rank systems"),
    ],
)
def test_a_wrong_parameter_or_baseline_is_exit_code_2(arguments: list[str], words: str) -> None:
    result = run(str(SAMPLE), *arguments)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.stderr.split())


def test_a_judge_who_votes_for_one_system_is_a_caution(tmp_path: Path) -> None:
    random, lines = np.random.default_rng(2), []
    for k in range(1200):
        a, b = random.choice(5, size=2, replace=False)
        corrupt = k % 10 == 0
        won = (4 in (a, b) and b != 4) if corrupt and 4 in (a, b) else random.random() < 1 / (1 + np.exp(a - b))
        judge = "friend" if corrupt else f"judge-{k % 9}"
        lines.append(encode(judgment(k, systems=(f"s{a}", f"s{b}"), ranks=(1, 2) if won else (2, 1), judge=judge)))
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    (board,) = boards(run(str(file), "--json"))
    (caution,) = (caution for caution in board.cautions if caution.code == "flagged_judges")
    assert caution.message.startswith("1 judge is flagged, with 10.0% of the judgments. They ")
    assert caution.link == "docs/ranking.md#flagged-judges"
    assert "docs/ranking.md#flagged-judges" in run(str(file)).stdout
