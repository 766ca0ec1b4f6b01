"""The library: public names, import time, and rankings from files and DataFrames that equal those of the command."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import streams
from streams.cli.main import cli
from streams.cli.render import as_json
from streams.core.campaign.campaign import Campaign
from streams.errors import FormatError, JudgestreamError, ParameterError
from streams.reports.notes import describe_trouble
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log, judgment, judgments, unzip
from tests.data import real_log

PAGE = Path("docs/library.md").resolve()

NAMES = [
    "Campaign",
    "CampaignSettings",
    "Embedded",
    "JudgestreamError",
    "Judgment",
    "Judgments",
    "Leaderboard",
    "Ranking",
    "RankingDiff",
    "diff",
    "rank",
    "read",
    "wire_pseudonym",
]


def test_these_are_the_public_names() -> None:
    assert streams.__all__ == NAMES
    assert set(NAMES) <= set(dir(streams))
    for name in NAMES:
        assert getattr(streams, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'streams' has no attribute 'rnak'"):
        streams.rnak  # type: ignore[attr-defined]  # noqa: B018


def test_the_import_loads_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import streams; "
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(loaded - sys.stdlib_module_names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "{'streams'}"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(200, campaigns=2)))
    return file


@pytest.mark.parametrize(
    ("model", "ranges"),
    [("trueskill", None), ("trueskill", "wmt"), ("grm", "bootstrap"), ("expected-wins", None), ("grm", "posterior")],
)
def test_rank_gives_what_the_command_gives(log: Path, model: str, ranges: str | None) -> None:
    ranking = streams.rank(log, model=model, ranges=ranges, seed=3)
    options = ["--model", model, "--seed", "3", "--json", *(["--ranges", ranges] if ranges else [])]
    printed = CliRunner().invoke(cli, ["rank", str(log), *options]).stdout
    assert as_json(ranking.leaderboards) == printed.strip()


def test_a_path_its_judgments_and_their_frame_give_the_same(log: Path) -> None:
    found = streams.read(log)
    assert list(found) == crowd_log(200, campaigns=2)
    ranking = streams.rank(log)
    assert streams.rank(str(log)).leaderboards == ranking.leaderboards
    assert streams.rank(found).leaderboards == ranking.leaderboards
    assert streams.rank(iter(found)).leaderboards == ranking.leaderboards
    assert streams.rank(found.to_pandas()).leaderboards == ranking.leaderboards


@given(st.lists(judgments(), min_size=1, max_size=20))
def test_judgments_come_back_from_a_frame(log: list[Judgment]) -> None:
    found = streams.read(streams.Judgments(tuple(log)).to_pandas())
    assert list(found) == log


def test_battles_in_a_frame_are_those_in_a_file(tmp_path: Path) -> None:
    battles = "model_a,model_b,winner,judge\nx,y,model_a,1\ny,z,tie,2\nz,x,model_b,\n"
    (tmp_path / "dataframe.csv").write_text(battles)
    from_file = streams.read(tmp_path / "dataframe.csv")
    from_frame = streams.read(pd.read_csv(io.StringIO(battles)))
    assert [(each.systems, each.ranks, each.judge, each.campaign) for each in from_frame] == [
        (each.systems, each.ranks, each.judge, each.campaign) for each in from_file
    ]


@pytest.mark.data
def test_an_arena_log_gives_the_same_as_a_frame() -> None:
    file = real_log("raw/llmfao.csv.gz")
    frame = streams.rank(streams.read(pd.read_csv(file), campaign="llmfao"))
    assert frame.leaderboards == streams.rank(file).leaderboards


def test_a_frame_needs_only_systems_and_ranks() -> None:
    frame = pd.DataFrame({"systems": [["a", "b"], ("b", "c")], "ranks": [[1, 2], np.array([1, 1])]})
    first, second = streams.read(frame, campaign="mine")
    assert (first.id, first.campaign, first.systems, first.ranks) == ("1", "mine", ("a", "b"), (1, 2))
    assert (second.id, second.ranks) == ("2", (1, 1))


def test_missing_cells_of_a_frame_are_missing_fields() -> None:
    frame = pd.DataFrame(
        {
            "systems": [["a", "b"], ["a"]],
            "ranks": [[1, 2], None],
            "score": [np.nan, 71.5],
            "duration_ms": [1200, None],
            "segment": [7, 8],
            "at": pd.to_datetime(["2026-05-01 12:00", "2026-05-01 12:01"]),
            "judge": ["anna", None],
            "comment": ["fine", pd.NA],
        }
    )
    ranked, scored = streams.read(frame)
    assert (ranked.ranks, ranked.score, ranked.duration_ms, ranked.segment) == ((1, 2), None, 1200, "7")
    assert (scored.ranks, scored.score, scored.duration_ms) == (None, 71.5, None)
    assert (ranked.judge, scored.judge) == ("anna", "anonymous")
    assert ranked.at.isoformat() == "2026-05-01T12:00:00+00:00"


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame({"a": [1], "b": [2]}), "unknown format with the columns 'a', 'b'"),
        (
            pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["nobody"]}),
            "dataframe:1: winner: 'nobody' is not a winner",
        ),
        (pd.DataFrame({"systems": [["a", "b"], ["a", "a"]], "ranks": [[1, 2]] * 2}), "dataframe:2: systems: "),
        (pd.DataFrame({"systems": ["a|b"], "ranks": [[1, 2]]}), "dataframe:1: "),
    ],
)
def test_a_bad_frame_is_named_with_its_row(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        streams.rank(frame)
    assert words in str(caught.value)


def test_bad_rows_can_be_left_out_and_are_counted(log: Path) -> None:
    log.write_bytes(log.read_bytes() + b"no judgment\n")
    found = streams.read(log, on_error="skip")
    assert (len(found), found.summary.skipped.total()) == (200, 1)
    assert repr(found) == "<200 judgments, 1 bad rows skipped>"


def test_duplicates_and_rejections_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.core.campaign.admission.MAX_SYSTEMS", 10)
    many = [judgment(k, systems=(f"x{2 * k}", f"x{2 * k + 1}")) for k in range(7)]
    ranking = streams.rank([*many, many[0]])
    assert (ranking.read, ranking.duplicates, ranking.rejected) == (8, 1, 2)
    for shown in (repr(ranking), str(ranking), unescape(ranking._repr_html_())):
        assert "1 duplicate" in shown
        assert "2 of 8 rejected, the first: the campaign 'c' has 10 systems" in shown


def test_an_empty_log_is_an_error() -> None:
    with pytest.raises(FormatError, match="the judgments: there is no judgment in it"):
        streams.rank([])


# -- the ranking -------------------------------------------------------------------------------------------


def test_a_ranking_is_a_frame_with_one_row_per_system(log: Path) -> None:
    ranking = streams.rank(log)
    frame = ranking.to_pandas()
    assert frame.columns.tolist() == [
        *("campaign", "model", "system", "rank", "rank_low", "rank_high", "cluster", "score", "deviation", "judgments"),
        *("judge_rank_low", "judge_rank_high", "line_above", "island"),
    ]
    for board in ranking.leaderboards:
        mine = frame[frame.campaign == board.campaign]
        assert mine.system.tolist() == [row.system for row in board.rows]
        assert mine.score.tolist() == [row.score for row in board.rows]


def test_the_pairs_are_a_frame_too(log: Path) -> None:
    frame = streams.rank(log).pairs_to_pandas()
    assert (frame.wins + frame.ties + frame.losses).sum() == 200
    assert set(frame.campaign) == {"campaign-0", "campaign-1"}


def test_one_campaign_is_selected_by_name(log: Path) -> None:
    ranking = streams.rank(log)
    assert ranking.campaigns == ("campaign-0", "campaign-1")
    assert ranking["campaign-1"].rows == ranking.leaderboards[1].rows
    assert streams.rank(log, campaigns=["campaign-1"]).leaderboards == ranking["campaign-1"].leaderboards
    with pytest.raises(ParameterError, match=r"no campaign 'campaign1' in the ranking; did you mean 'campaign-1'\?"):
        ranking["campaign1"]
    with pytest.raises(
        ParameterError, match=r"the ranking has 2 campaigns; choose one, for example ranking\['campaign-0'\]"
    ):
        _ = ranking.rows


def test_a_ranking_shows_itself(log: Path) -> None:
    ranking = streams.rank(log)["campaign-0"]
    html = ranking._repr_html_()
    lines = str(ranking).splitlines()
    assert lines[0] == repr(ranking).removeprefix("<Ranking ").removesuffix(">").replace(": ", "  ")
    assert lines[1 + len(ranking.rows) :] == describe_trouble(ranking.leaderboards[0])
    for line, row in zip(lines[1:], ranking.rows, strict=False):
        assert line.split()[0] == str(row.rank)
        assert row.system in line
        assert f">{row.system}</bdi>" in html


def test_judgments_show_themselves_and_nothing_foreign_runs() -> None:
    hostile = judgment(systems=("<img src=x onerror=alert(1)>", "b"))
    found = streams.Judgments((hostile, *crowd_log(30)))
    assert "<img" not in found._repr_html_()
    assert "21 more" in found._repr_html_()
    assert "<img" not in streams.rank(found)["c"]._repr_html_()


def test_a_page_and_a_figure_come_from_a_ranking(log: Path) -> None:
    ranking = streams.rank(log)
    assert ranking.to_html().startswith("<!doctype html>")
    assert len(ranking["campaign-0"].plot().get_axes()) >= 2


def test_a_live_campaign_can_be_ranked() -> None:
    campaign = Campaign("c")
    campaign.apply(*unzip([(0, judgment())]))
    assert streams.Ranking.of(campaign).leaderboards == (campaign.leaderboard(),)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "truskill"}, "did you mean 'trueskill'?"),
        ({"ranges": "postrior"}, "did you mean 'posterior'?"),
        ({"campaigns": ["campaign-8"]}, "no campaign 'campaign-8' in the log"),
        ({"parameters": {"betta": 2.0}}, "betta"),
    ],
)
def test_wrong_use_names_the_right_one(log: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        streams.rank(log, **options)  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_rows_in_memory_that_are_no_judgments_are_refused() -> None:
    with pytest.raises(ParameterError, match="the log has a dict instead of a Judgment; make a DataFrame"):
        streams.rank([{"model_a": "x", "model_b": "y", "winner": "tie"}])  # type: ignore[arg-type]


def test_a_wrong_on_error_is_named_before_the_log_is_read(log: Path) -> None:
    with pytest.raises(ParameterError, match="on_error: 'ignore' is not known; use 'stop', 'skip' or a function"):
        streams.rank(log, on_error="ignore")  # type: ignore[arg-type]


def test_without_pandas_the_extra_is_named(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranking = streams.rank(log)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(JudgestreamError, match=r"a DataFrame needs pandas: pip install 'judgestream\[pandas\]'"):
        ranking.to_pandas()
    assert streams.rank(log).leaderboards == ranking.leaderboards


def test_the_code_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("samples").symlink_to(PAGE.parents[1] / "samples")
    Path("battles.csv").write_text("model_a,model_b,winner\nx,y,model_a\nx,y,tie\n")
    log = b"".join(encode(each) + b"\n" for each in crowd_log(60))
    Path("wmt15.csv.gz").write_bytes(log.replace(b'"campaign-0"', b'"wmt15.de-en"'))  # its content says what it is
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "arena  bradley-terry, 3,000 judgments, 4 clusters"
    assert [line.split()[2] for line in said[1:8]] == ["cedar", "birch", "maple", "aspen", "willow", "alder", "hazel"]
    assert said[8:12] == ["x", "x", "x", "435 2565"]
    assert said[12].startswith("1 1 ")
    assert said[-1] == "2 Counter()"
    assert Path("ranking.html").read_text().startswith("<!doctype html>")
    assert Path("ranking.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"model": "grm", "baseline": "birch"}, ["--model", "grm", "--baseline", "birch"]),
        (
            {"model": "elo", "parameters": {"k": 8.0}, "runs": 5},
            ["--model", "elo", "--parameter", "k=8", "--runs", "5"],
        ),
        ({"model": "glicko2"}, ["--model", "glicko2"]),
    ],
)
def test_parameters_and_a_baseline_are_those_of_the_command(options: dict[str, Any], arguments: list[str]) -> None:
    ranking = streams.rank("samples/arena.csv", **options)
    result = CliRunner().invoke(cli, ["rank", "samples/arena.csv", *arguments, "--json"])
    assert result.stdout.strip() == as_json(ranking.leaderboards)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "elo", "parameters": {"k": "fast"}}, "model 'elo'.*k"),
        ({"model": "elo", "parameters": {"kk": 1.0}}, "did you mean 'k'"),
        ({"model": "grm", "baseline": "brich"}, "did you mean 'birch'"),
        ({"baseline": "birch"}, "has no baseline"),
        ({"model": "uniform"}, "does not rank"),
    ],
)
def test_a_wrong_parameter_or_baseline_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        streams.rank("samples/arena.csv", **options)
