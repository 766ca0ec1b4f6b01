"""The CSV of rankings of WMT in columns: the same judgments, lines, counts and errors as row by row."""

from __future__ import annotations

import csv
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.wire.limits import MAX_NAME
from tests.formats.columns.test_columns import FILES, ODD, SEEDS, USUAL, as_csv, count_columns, told

if TYPE_CHECKING:
    from pathlib import Path

SYSTEMS = [f"newstest2013.fr-en.{name}" for name in ("a", "b", "c", "d", "é")]
OTHERS = ["_ref", "wmt15.x", "newstest2014.a", "newstest2013.a+b", "newstest2013.a|b", "newstest2013." + "x" * 300]
RANKS = [*"12345", "10"]
ODD_RANKS = ["-1", "", "0", "01", "1.5", "12345678", "1000001", "٣", "x"]


def make_rankings(seed: int) -> tuple[list[str], list[list[str]]]:
    """Make a table: mostly usual rows, and some with odd cells, other systems, or systems that were not ranked."""
    chance = random.Random(seed)
    count, usual = chance.choice((2, 3, 5)), chance.random() < 0.7
    places = chance.sample(range(1, count + 1), count) if chance.random() < 0.3 else list(range(1, count + 1))
    header = ["srclang", "trglang", "segmentId", "judgeId", "srcIndex"]
    header += [f"system{k}Id" for k in places] + [f"system{k}rank" for k in range(1, count + 1)]
    rows = []
    for _ in range(chance.choice((3, 80))):
        pair = chance.choice((("French", "English"), ("French", "English"), ("-1", "-1"), ("deu", "")))
        names = chance.sample(SYSTEMS, count)
        ranks = [chance.choice(RANKS) for _ in names]
        if not usual and chance.random() < 0.1:
            names[chance.randrange(count)] = chance.choice((*OTHERS, *SYSTEMS, ""))
        if not usual and chance.random() < 0.1:
            ranks[chance.randrange(count)] = chance.choice(ODD_RANKS)
        if not usual and chance.random() < 0.05:
            ranks = ["-1"] * count
        rows.append([*pair, chance.choice(USUAL["prompt"]), chance.choice(USUAL["judge"]), "7", *names, *ranks])
    for row in chance.sample(rows, 2 if chance.random() < 0.5 else 0):
        row[chance.randrange(len(row))] = chance.choice(ODD)
    return header, rows


@FILES
@given(
    SEEDS,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(",;\t"),
    st.sampled_from([None, "chosen"]),
)
def test_rankings_of_wmt_in_columns_are_those_row_by_row(
    tmp_path: Path, seed: int, end: str, quoting: int, delimiter: str, campaign: str | None
) -> None:
    path = tmp_path / "rankings.csv"
    path.write_bytes(as_csv(*make_rankings(seed), end=end, quoting=quoting, delimiter=delimiter))
    for options in ({}, {"shared_ties": False}):
        read = told(path, quick=True, campaign=campaign, **options)
        assert read == told(path, quick=False, campaign=campaign, **options)


HEAD = "srclang,trglang,segmentId,judgeId,system1Id,system1rank,system2Id,system2rank,system3Id,system3rank\n"


def usual_rows(count: int) -> list[str]:
    return [
        f"French,English,{k % 90},j{k % 7},{SYSTEMS[k % 4]},{k % 3 + 1},{SYSTEMS[(k + 1) % 4]},2,{SYSTEMS[4]},1\n"
        for k in range(count)
    ]


def test_rankings_of_wmt_are_read_as_columns(tmp_path: Path) -> None:
    path = tmp_path / "rankings.csv"
    path.write_text(HEAD + "".join(usual_rows(3000)))
    assert count_columns(path) == 3000
    assert told(path, quick=True) == told(path, quick=False)


@pytest.mark.parametrize("rank", ODD_RANKS)
def test_an_odd_rank_after_usual_ones_is_what_it_is_row_by_row(tmp_path: Path, rank: str) -> None:
    path, rows = tmp_path / "rankings.csv", usual_rows(200)
    rows[150] = f"French,English,5,j,{SYSTEMS[0]},1,{SYSTEMS[1]},{rank},{SYSTEMS[2]},2\n"
    path.write_text(HEAD + "".join(rows))
    assert told(path, quick=True) == told(path, quick=False)
    assert count_columns(path, on_error="skip") >= 190


@pytest.mark.parametrize("system", [*OTHERS, SYSTEMS[0], "", "x" * (MAX_NAME + 1)])
@pytest.mark.parametrize("place", [0, 1])
def test_an_odd_system_after_usual_ones_is_what_it_is_row_by_row(tmp_path: Path, system: str, place: int) -> None:
    path, rows = tmp_path / "rankings.csv", usual_rows(200)
    names = [system, SYSTEMS[0]] if place == 0 else [SYSTEMS[0], system]
    rows[150] = f"French,English,5,j,{names[0]},1,{names[1]},2,{SYSTEMS[2]},2\n"
    rows[151] = "French,English,5,j,a,1,b,2,c,3\n"
    path.write_text(HEAD + "".join(rows))
    assert told(path, quick=True) == told(path, quick=False)


def test_a_plus_in_a_name_far_from_letters_of_two_bytes_is_read(tmp_path: Path) -> None:
    """The mark of such a row was once a byte of another text, which could be half of a letter."""
    path, rows = tmp_path / "rankings.csv", usual_rows(200)
    rows[:150] = [f"French,English,5,{'é' * 30},{SYSTEMS[0]},1,{SYSTEMS[1]},2,{SYSTEMS[2]},2\n"] * 150
    rows[150] = "French,English,5,j,a,1,b+c,2,c,3\n"
    rows[151] = "French,English,5,jj,a,1,b+c,2,c,3\n"
    path.write_text(HEAD + "".join(rows))
    assert told(path, quick=True) == told(path, quick=False)


def test_a_first_row_that_was_not_ranked_leaves_no_other_row_out(tmp_path: Path) -> None:
    path, rows = tmp_path / "rankings.csv", usual_rows(200)
    rows[0] = f"French,English,5,j,{SYSTEMS[0]},-1,{SYSTEMS[1]},-1,{SYSTEMS[2]},-1\n"
    path.write_text(HEAD + "".join(rows))
    read = told(path, quick=True)
    assert read == told(path, quick=False)
    assert (len(read[0]), read[1].left_out) == (199, {"not ranked": 1})
