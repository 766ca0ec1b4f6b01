"""Leaderboards by category from a log: each is what a log with these judgments alone gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

import streams
from streams.cli.log_options import LogFile
from streams.cli.main import cli
from streams.errors import ParameterError
from streams.offline import categories
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log, judgment

if TYPE_CHECKING:
    from pathlib import Path

LANGUAGES = ("de", "fr", None)


def tagged_log(count: int = 300) -> list[Judgment]:
    """Every third judgment has no language."""
    return [
        replace(each, tags={"language": language} if (language := LANGUAGES[place % 3]) else {"kind": "x"})
        for place, each in enumerate(crowd_log(count))
    ]


def of_language(log: list[Judgment], language: str) -> list[Judgment]:
    return [each for each in log if (each.tags or {}).get("language") == language]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def write(file: Path, log: list[Judgment]) -> str:
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    return str(file)


@pytest.mark.parametrize("model", ["trueskill", "trueskill-judges", "bradley-terry", "expected-wins"])
def test_each_value_is_ranked_as_a_log_of_its_own(model: str) -> None:
    log = tagged_log()
    ranking = streams.rank(log, by="language", model=model, runs=20)
    assert ranking.leaderboards == streams.rank(log, model=model, runs=20).leaderboards
    assert set(ranking.category_leaderboards) == {("campaign-0", "de"), ("campaign-0", "fr")}
    for (_, language), board in ranking.category_leaderboards.items():
        alone = streams.rank(of_language(log, language), model=model, runs=20)
        assert board.category is not None
        assert (board.category.tag, board.category.value) == ("language", language)
        assert (board.rows, board.judgments, board.judges) == (alone.rows, 100, alone.leaderboards[0].judges)
    assert any("100 judgments without language" in warning for warning in ranking.warnings)


def test_a_duplicate_counts_once_even_if_its_tag_differs() -> None:
    one, other = (replace(judgment(1), tags={"language": language}) for language in ("de", "fr"))
    ranking = streams.rank([one, other], by="language")
    assert list(ranking.category_leaderboards) == [("c", "de")]


def test_one_judgment_of_a_category_gives_wide_ranges() -> None:
    log = [*tagged_log(200), replace(judgment(999, campaign="campaign-0"), tags={"language": "is"})]
    board = streams.rank(log, by="language").category_leaderboards["campaign-0", "is"]
    assert [(row.system, row.rank_low, row.rank_high) for row in board.rows] == [("a", 1, 2), ("b", 1, 2)]
    assert board.judgments == 1


def test_scores_are_ranked_by_category() -> None:
    log = [
        replace(
            judgment(
                k, systems=("a" if k % 2 else "b",), ranks=None, score=float(90 if k % 4 in (1, 2) else 10 + k % 5)
            ),
            tags={"language": "de" if k % 4 < 2 else "fr"},
            segment=f"s{k // 4}",
        )
        for k in range(80)
    ]
    boards = streams.rank(log, by="language").category_leaderboards
    # Of the odd judgments, which are of a, those with k % 4 == 1 are German and get 90.
    assert [row.system for row in boards["c", "de"].rows] == ["a", "b"]
    assert [row.system for row in boards["c", "fr"].rows] == ["b", "a"]


def test_the_rarest_values_have_no_board(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories, "MOST_BOARDS", 2)
    values = ["x"] * 3 + ["y"] * 1 + ["z"] * 2
    log = [replace(judgment(k), tags={"domain": value}) for k, value in enumerate(values)]
    ranking = streams.rank(log, by="domain")
    assert list(ranking.category_leaderboards) == [("c", "x"), ("c", "z")]
    assert any("1 judgment of other values of domain" in warning for warning in ranking.warnings)


def test_a_long_log_which_is_read_as_columns_has_the_same_boards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "log.jsonl", tagged_log())
    short = run("rank", file, "--by", "language", "--json")
    monkeypatch.setattr(LogFile, "is_long", property(lambda _: True))
    long = run("rank", file, "--by", "language", "--json")
    assert (long.exit_code, long.stdout) == (0, short.stdout)
    assert len(json.loads(long.stdout)["campaigns"]) > 2


def test_each_judge_has_a_board_on_request() -> None:
    log = tagged_log(120)
    boards = streams.rank(log, by="judge").category_leaderboards
    for judge in {each.judge for each in log}:
        assert boards["campaign-0", judge].rows == streams.rank(log, only={"judge": judge}).rows


def test_an_unknown_tag_suggests_the_ones_that_exist() -> None:
    with pytest.raises(ParameterError, match="by: no judgment has the tag langage; did you mean 'language'"):
        streams.rank([replace(judgment(1), tags={"language": "de"})], by="langage")
    with pytest.raises(ParameterError, match="divides no log"):
        streams.rank([judgment(1)], by="campaign")


def test_the_command_prints_the_overall_board_and_one_per_value(tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", tagged_log())
    found = run("rank", file, "--by", "language", "--json")
    boards = json.loads(found.stdout)["campaigns"]
    assert [board["category"] for board in boards] == [
        None,
        {"tag": "language", "value": "de"},
        {"tag": "language", "value": "fr"},
    ]
    assert "100 judgments without language" in found.stderr
    text = run("rank", file, "--by", "language").stdout
    assert "campaign-0, language: de  trueskill, 100 judgments" in text
    table = run("rank", file, "--by", "language", "--csv").stdout.splitlines()
    assert table[0].endswith(",scale,tag,value")
    assert table[1].endswith(",score,,")
    assert table[-1].endswith(",score,language,fr")
    page = tmp_path / "page.html"
    assert run("rank", file, "--by", "language", "--html", str(page)).exit_code == 0
    assert "campaign-0, language: fr</h2>" in page.read_text()


def test_values_that_begin_with_the_same_long_text_have_figures_of_their_own(tmp_path: Path) -> None:
    values = [letter * 30 + end for letter in "xé" for end in ("x" * 40 + "one", "x" * 40 + "two")]
    log = [replace(judgment(k), tags={"domain": value}) for k, value in enumerate(values)]
    found = run("rank", write(tmp_path / "log.jsonl", log), "--by", "domain", "--plot", str(tmp_path / "plot.svg"))
    assert found.exit_code == 0, found.output
    assert len(list(tmp_path.glob("plot.c.domain=*.svg"))) == len(values)


def test_printed_boards_by_category_can_be_compared(tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", tagged_log())
    boards = tmp_path / "boards.json"
    boards.write_text(run("rank", file, "--by", "language", "--json").stdout)
    found = run("diff", str(boards), str(boards), "--json")
    assert [each["after"]["campaign"] for each in json.loads(found.stdout)["campaigns"]] == [
        "campaign-0",
        "campaign-0, language: de",
        "campaign-0, language: fr",
    ]


@pytest.mark.parametrize("options", [("--controls", "everybody"), ("--history", "history.csv")])
def test_by_is_refused_where_it_has_no_meaning(options: tuple[str, ...], tmp_path: Path) -> None:
    file = write(tmp_path / "log.jsonl", tagged_log(20))
    found = run("rank", file, "--by", "language", *options)
    assert found.exit_code == 2
    assert "can't be combined" in found.stderr
