"""The difference of two boards: chance is not called a change, and new systems do not push others."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from streams.reports.board_diff import compare_boards
from streams.reports.diff_text import describe_change, diff_as_text
from streams.wire.events import Leaderboard, Row


def board(*rows: tuple[str, int, int, int], **fields: Any) -> Leaderboard:
    """Return a board with rows of system, rank_low, rank_high and cluster, in the order of rank."""
    made = tuple(
        Row(
            system=system,
            rank=place + 1,
            rank_low=low,
            rank_high=high,
            cluster=cluster,
            score=1.0 - place,
            deviation=0.1,
            judgments=10,
        )
        for place, (system, low, high, cluster) in enumerate(rows)
    )
    usual: dict[str, Any] = {"campaign": "c", "model": "trueskill", "sequence": 1, "offset": 0, "judgments": 10}
    return Leaderboard(rows=made, **usual | fields)


def test_a_move_within_overlapping_ranges_is_chance() -> None:
    diff = compare_boards(board(("a", 1, 2, 1), ("b", 1, 2, 1)), board(("b", 1, 2, 1), ("a", 1, 2, 1)))
    assert [(each.system, each.moved, each.real) for each in diff.systems] == [("b", 1, False), ("a", -1, False)]
    assert (diff.lines, diff.is_real) == ((), False)
    assert "No real change" in diff_as_text(diff)


def test_ranges_that_do_not_overlap_are_a_real_change() -> None:
    before = board(("a", 1, 2, 1), ("b", 1, 2, 1), ("c", 3, 4, 1), ("d", 3, 4, 1))
    after = board(("c", 1, 2, 1), ("b", 1, 3, 1), ("a", 2, 4, 1), ("d", 3, 4, 1))
    changed = {each.system: (each.apart, each.real) for each in compare_boards(before, after).systems}
    assert changed == {"c": (True, True), "b": (False, False), "a": (False, False), "d": (False, False)}


def test_a_line_that_turned_makes_both_moves_real() -> None:
    diff = compare_boards(board(("a", 1, 1, 1), ("b", 2, 2, 2)), board(("b", 1, 1, 1), ("a", 2, 2, 2)))
    assert [(line.change, line.above, line.below) for line in diff.lines] == [("turned", "b", "a")]
    assert all(each.real for each in diff.systems)
    assert "! a line turned: b is above a, and was below" in diff_as_text(diff)


def test_a_system_that_others_pass_on_both_sides_keeps_its_range_and_changes_its_order() -> None:
    before = board(("a", 1, 1, 1), ("b", 2, 2, 2), ("c", 3, 3, 3))
    diff = compare_boards(before, board(("c", 1, 1, 1), ("b", 2, 2, 2), ("a", 3, 3, 3)))
    assert [describe_change(each) for each in diff.systems] == ["! up 2", "! order", "! down 2"]


def test_passing_a_system_from_which_a_line_separates_now_is_real() -> None:
    before = board(("a", 1, 3, 1), ("b", 1, 3, 1), ("c", 1, 3, 1))
    after = board(("b", 1, 1, 1), ("c", 2, 3, 2), ("a", 2, 3, 2))
    diff = compare_boards(before, after)
    assert [(line.change, line.above, line.below) for line in diff.lines] == [("appeared", "b", "c")]
    # c has passed a too, but no line is between them.
    assert {each.system: (each.moved, each.real) for each in diff.systems} == {
        "b": (1, True),
        "c": (1, False),
        "a": (-2, True),
    }


def test_of_a_new_line_only_the_nearest_systems_are_listed() -> None:
    names = "abcdef"
    before = board(*((name, 1, 6, 1) for name in names))
    after = board(*((name, 1, 3, 1) for name in "abc"), *((name, 4, 6, 2) for name in "def"))
    assert [(line.change, line.above, line.below) for line in compare_boards(before, after).lines] == [
        ("appeared", "c", "d")
    ]
    assert [(line.change, line.above, line.below) for line in compare_boards(after, before).lines] == [
        ("vanished", "c", "d")
    ]


def test_new_and_gone_systems_do_not_move_the_others() -> None:
    before = board(("gone", 1, 1, 1), ("a", 2, 2, 2), ("b", 3, 3, 3))
    after = board(("new", 1, 1, 1), ("newer", 2, 2, 2), ("a", 3, 3, 3), ("b", 4, 4, 4))
    diff = compare_boards(before, after)
    assert [(each.system, each.moved, each.apart, each.real) for each in diff.systems] == [
        (name, 0, False, False) for name in ("new", "newer", "a", "b", "gone")
    ]
    assert [(each.before is None, each.after is None) for each in diff.systems] == [
        *[(True, False)] * 2,
        *[(False, False)] * 2,
        (False, True),
    ]
    assert not any(each.apart for each in compare_boards(after, before).systems)
    assert diff.notes == ("Systems are new or gone, which shifts ranks. Moves count the systems on both boards only.",)
    below = compare_boards(
        board(("a", 1, 1, 1), ("b", 2, 2, 2)), board(("b", 1, 1, 1), ("a", 2, 2, 2), ("new", 3, 3, 3))
    )
    assert all(each.apart for each in below.systems if each.before)  # a new system below explains nothing


def test_systems_of_different_islands_have_no_line() -> None:
    apart = board(("a", 1, 1, 1), ("b", 1, 1, 2))
    apart = replace(apart, rows=(apart.rows[0], replace(apart.rows[1], rank=1, island=2)))
    together = board(("a", 1, 1, 1), ("b", 2, 2, 2))
    assert [line.change for line in compare_boards(apart, together).lines] == ["appeared"]


def test_other_campaigns_models_and_scales_are_said() -> None:
    before, after = (
        board(("a", 1, 1, 1)),
        board(("z", 1, 1, 1), campaign="d", model="elo", scale="elo", pending="Wait."),
    )
    assert compare_boards(before, after).notes == (
        "The campaigns differ: c and d.",
        "The models differ: trueskill and elo. Their scores can't be compared.",
        "The scales differ: score and elo. Their scores can't be compared.",
        "No system is on both boards.",
        "The second board is not complete: Wait.",
    )
    assert "c → d  trueskill → elo, 10 judgments, 1 cluster" in diff_as_text(compare_boards(before, after))


def test_the_text_has_both_values_where_they_differ() -> None:
    before = board(("a", 1, 1, 1), ("b", 2, 2, 2))
    after = board(("b", 1, 1, 1), ("a", 2, 2, 2))
    lines = [line.split("  ") for line in diff_as_text(compare_boards(before, after)).splitlines()]
    assert [cell.strip() for cell in lines[2] if cell] == ["2 → 1", "2 → 1", "2 → 1", "b", "+0.00 → +1.00", "! up 1"]


def test_boards_without_rows_are_equal() -> None:
    diff = compare_boards(board(), board())
    assert (diff.systems, diff.lines, diff.notes) == ((), (), ())
