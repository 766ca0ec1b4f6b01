"""The leaderboard's table: digits, lines, second ranges, islands and what is said below it."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper

import msgspec
import numpy as np
import pytest
from rich.console import Console

from streams.cli.render import LeaderboardTable, extra_lines, print_board
from streams.core.ranking import rows
from streams.reports.scale import on_scale
from streams.wire.events import Leaderboard
from tests.reports.boards import CAUTION, settled_board


@pytest.mark.parametrize(("deviation", "shown"), [(0.05, "+0.60 ± 0.05"), (0.004, "+0.604 ± 0.004")])
def test_small_deviations_get_a_digit_more(deviation: float, shown: str) -> None:
    board = Leaderboard(
        campaign="c",
        model="m",
        sequence=1,
        offset=0,
        judgments=1,
        rows=rows(["a", "b"], np.array([0.604, 0.2]), np.full(2, deviation), [1, 1]),
    )
    console = Console(file=StringIO(), width=80)
    console.print(LeaderboardTable(leaderboard=board, width=80))
    assert isinstance(console.file, StringIO)
    assert shown in console.file.getvalue()


def printed(board: Leaderboard, *, width: int = 80, encoding: str = "utf-8") -> list[str]:
    file = TextIOWrapper(BytesIO(), encoding=encoding, errors="replace")
    print_board(Console(file=file, width=width), board, width=width)
    file.seek(0)
    return file.read().splitlines()


def test_a_board_without_trouble_gets_one_line_more_than_its_table() -> None:
    lines = printed(settled_board())
    assert lines[0].split()[:4] == ["rank", "range", "others", "system"]
    assert [line.split()[:4] for line in lines if "±" in line][1:] == [
        ["1", "1", "1", "ash"],
        ["2", "2", "2-3", "birch"],
        ["3", "3", "2-3", "cedar"],
    ]
    assert len(lines) == 2 + 3 + 2 + 1
    assert lines[-1].startswith("── holds for other judges; ╌╌ ")


def test_long_names_are_cut_in_the_middle_so_that_they_differ() -> None:
    names = [f"a-family-of-models-with-a-name-that-is-longer-than-the-room-for-it-v{k}" for k in range(3)]
    board = settled_board()
    board = msgspec.structs.replace(
        board,
        rows=tuple(msgspec.structs.replace(row, system=name) for row, name in zip(board.rows, names, strict=True)),
    )
    shown = [line for line in printed(board) if "…" in line]
    assert [line.split("…")[1].split()[0][-2:] for line in shown] == ["v0", "v1", "v2"]
    assert max(map(len, printed(board))) <= 80
    assert all(name in "\n".join(printed(board, width=140)) for name in names)


def test_islands_are_separate_blocks() -> None:
    lines = printed(settled_board(islands=True))
    place = lines.index("never compared with the systems above")
    assert lines[place - 1] == ""
    assert lines[place + 2].split()[:4] == ["1", "1-2", "1-2", "oak"]
    assert extra_lines(settled_board(islands=True).rows) == 2 + 3


def test_cautions_are_wrapped_to_the_width() -> None:
    long = msgspec.structs.replace(CAUTION, message="word " * 30 + "end.")
    lines = printed(settled_board(cautions=(long,)), width=60)
    first = next(k for k, line in enumerate(lines) if line.startswith("- word"))
    assert all(line.startswith("  ") for line in lines[first + 1 :])
    assert max(map(len, lines)) <= 60
    assert lines[-1].endswith("(docs/ranking.md#few-judges)")


def test_dashed_lines_can_be_told_apart_in_ascii() -> None:
    lines = printed(settled_board(), encoding="ascii")
    assert lines[3] == "-" * 80
    assert lines[5].rstrip() == ("- " * 40).rstrip()
    assert "-- holds for other judges; - - for these judges;" in lines[-1]


def test_elo_points_have_their_own_heading_and_origin() -> None:
    heading, _, first, *_ = printed(on_scale(settled_board(), "elo"))
    assert "elo ± dev." in heading
    assert "1000" in heading
    assert "1100 ± 20" in first
