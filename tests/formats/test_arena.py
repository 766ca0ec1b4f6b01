"""Battles of an arena: the spellings of a winner, in CSV, JSON and JSON Lines."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest

from streams import formats
from streams.wire.events import EPOCH, Judgment
from tests.formats.samples import ARENA, BATTLES


def read(data: bytes) -> list[Judgment]:
    return [entry.judgment for entry in formats.read(io.BytesIO(data), campaign="arena")]


@pytest.mark.parametrize(
    ("winner", "ranks"),
    [
        *(("model_a", (1, 2)), ("left", (1, 2)), ("model_b", (2, 1)), ("right", (2, 1)), ("tie", (1, 1))),
        *((tie, (1, 1)) for tie in ("tie (bothbad)", "both bad", "bothbad", "both_bad", "Tie (Both bad)", " tie ")),
    ],
)
def test_a_winner_may_be_spelled_in_several_ways(winner: str, ranks: tuple[int, int]) -> None:
    (judgment,) = read(json.dumps([{"model_a": "x", "model_b": "y", "winner": winner}]).encode())
    assert (judgment.systems, judgment.ranks) == (("x", "y"), ranks)


def test_lines_and_an_array_give_the_same_battles() -> None:
    array = b"[\n" + BATTLES.strip().replace(b"\n", b",\n") + b"\n]\n"
    assert read(BATTLES) == read(array) == read(json.dumps(json.loads(array), indent=4).encode())
    first, second = read(BATTLES)
    assert (first.judge, first.segment, first.at.year) == ("j1", "q1", 2023)
    assert (second.judge, second.segment, second.at) == ("7", "Why?", EPOCH.replace(second=2))


def test_a_row_has_its_own_time() -> None:
    assert read(ARENA)[1].at == datetime(2023, 4, 24, 15, 53, 12, 500_000, tzinfo=UTC)


def test_who_judged_what_may_be_unknown() -> None:
    (judgment,) = read(b"model_a,model_b,winner\nx,y,tie\n")
    assert (judgment.judge, judgment.segment) == ("anonymous", "unspecified")


def test_a_long_prompt_is_shortened_and_stays_unique() -> None:
    rows = [{"left": "x", "right": "y", "winner": "tie", "prompt": "p" * 500 + end} for end in "ab"]
    first, second = read(json.dumps(rows).encode())
    assert first.segment[:180] == second.segment[:180] == "p" * 180
    assert first.segment != second.segment
    assert len(first.segment) == 200


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_spreadsheet_may_have_used_another_delimiter(delimiter: str) -> None:
    assert read(ARENA.replace(b",", delimiter.encode())) == read(ARENA)


def test_two_equal_battles_are_two_judgments() -> None:
    first, second = read(b"model_a,model_b,winner\n" + b"x,y,tie\n" * 2)
    assert first.id != second.id


def test_a_bad_line_does_not_affect_other_lines() -> None:
    reading = formats.read(io.BytesIO(BATTLES.replace(b"\n", b"\n{broken\n", 1)), campaign="c", on_error="skip")
    assert [entry.line for entry in reading] == [1, 3]
    assert reading.summary.skipped == {"invalid_json": 1}
