"""What is said around a leaderboard: nothing without trouble, and one sentence for each reason otherwise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from streams.reports.html_table import leaderboard_notes, leaderboard_table
from streams.reports.notes import APART, describe_board, describe_trouble, legend
from streams.wire.leaderboard import CautionCode, Leaderboard
from tests.reports.boards import CAUTION, OUTLOOK, settled_board


def shared_lead(**fields: Any) -> Leaderboard:
    board = settled_board(**fields)
    first = replace(board.rows[0], rank_high=2)
    second = replace(board.rows[1], rank_low=1, cluster=1, line_above=None)
    return replace(board, rows=(first, second, replace(board.rows[2], cluster=2)))


def test_a_board_without_trouble_has_no_sentences() -> None:
    assert describe_trouble(settled_board(fragility=30, outlook=OUTLOOK)) == []


@pytest.mark.parametrize(
    ("fragility", "sentence"),
    [(12, "12 judgments decide the first place."), (1, "1 judgment decides the first place.")],
)
def test_the_judgments_that_decide_are_named_where_the_leader_is_not_certain(fragility: int, sentence: str) -> None:
    assert describe_trouble(shared_lead(fragility=fragility)) == [sentence]


def test_a_leader_with_one_rank_but_no_line_below_is_not_certain() -> None:
    board = shared_lead(fragility=12)
    alone = replace(board, rows=(replace(board.rows[0], rank_high=1), *board.rows[1:]))
    assert describe_trouble(alone) == ["12 judgments decide the first place."]


def test_what_is_pending_comes_first_and_the_outlook_last() -> None:
    board = shared_lead(fragility=2, outlook=OUTLOOK, cautions=(CAUTION,), pending="A retraction is not included yet.")
    assert describe_trouble(board) == [
        "A retraction is not included yet.",
        "There are 3 judges. (docs/ranking.md#few-judges)",
        "2 judgments decide the first place.",
        "About 300 more judgments until the next line.",
    ]
    assert OUTLOOK.message not in describe_trouble(board, outlook=False)


def test_clusters_are_counted_in_every_island() -> None:
    assert describe_board(settled_board()) == "trueskill, 60 judgments, 3 clusters"
    assert describe_board(settled_board(islands=True)) == "trueskill, 60 judgments, 4 clusters in 2 islands"


def test_the_legend_explains_only_what_is_there() -> None:
    board = settled_board()
    assert legend(board, solid="--", dashed="..") == (
        "-- holds for other judges; .. for these judges; others: range for other judges"
    )
    assert legend(replace(board, rows=board.rows[:1]), solid="--", dashed="..") == "others: range for other judges"
    alone = replace(board.rows[0], judge_rank_low=None, judge_rank_high=None)
    assert legend(replace(board, rows=(alone,)), solid="--", dashed="..") == ""


def test_an_html_table_has_dashed_lines_second_ranges_and_islands() -> None:
    table = leaderboard_table(settled_board(islands=True))
    assert [part.split('"')[0] for part in table.split('<tbody class="')[1:]] == [
        "odd",
        "even",
        "odd dashed",
        "apart",
        "odd",
    ]
    assert table.count('<td class="others') == 5
    assert table.count(APART) == 1


def test_cautions_are_escaped_in_html() -> None:
    notes = leaderboard_notes(settled_board(cautions=(replace(CAUTION, message="<b> never lost."),)))
    assert "<li>&lt;b&gt; never lost. (docs/ranking.md#few-judges)</li>" in notes


@pytest.mark.parametrize("code", get_args(CautionCode))
def test_every_caution_has_a_section_in_the_documentation(code: str) -> None:
    headings = re.findall(r"^#+ (.*)$", Path("docs/ranking.md").read_text(), re.MULTILINE)
    assert code.replace("_", " ") in [heading.lower() for heading in headings]
