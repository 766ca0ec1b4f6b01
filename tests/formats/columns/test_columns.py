"""Tables that are read as columns: the same judgments, lines, counts and errors as row by row."""

from __future__ import annotations

import csv
import io
import random
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams import formats
from streams.formats import RowError, Summary
from streams.formats.columns import table_reader, verdict_table
from streams.wire.events import Judgment
from streams.wire.scanner import JudgmentColumns

pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")

MAPPED = "a=model_a,b=model_b,winner=winner,judge=judge,segment=prompt,at=tstamp,id=id,duration=took,campaign=on"

IDS = ["", *(f"id-{k}" for k in range(40))]
USUAL = {
    "model_a": ["x", "y", "z é", "w"],
    "model_b": ["x", "y", "z é", "w"],
    "winner": ["model_a", "model_b", "tie", "tie (bothbad)", "x"],
    "judge": ["ann", "ben", "", "anonymous", "zoë", " eve "],
    "prompt": ["p1", "p2", "", "two words", "ünïcode", "unspecified"],
    "tstamp": ["", "2024-02-29T07:08:09Z", "2024-05-06 07:08:09.25", "1682351591.1322", "0", "17.5"],
    "id": IDS,
    "question_id": [str(k) for k in range(41)],
    "language": ["de", "en", ""],
    "anony": ["True", "False"],
    "took": ["", "3", "1.25", "0.0004", "35.337"],
    "on": ["spring", "autumn term"],
    "unused": ["", "any, text"],
}
ODD = [
    "",
    "nobody",
    'say "x"',
    "two\nlines",
    "a\rb",
    "back\\slash",
    "x" * 201,
    "é" * 150,
    "\t",
    "2024-01-01T00:00:00+02:00",
    "1e9",
    "-1",
]


VERDICT = ("model_a", "model_b", "winner", "language", "anony", "on")


def make_table(
    seed: int, usual: dict[str, list[str]], verdict: tuple[str, ...], *, always: int, odd: list[str]
) -> tuple[list[str], list[list[str]]]:
    """Make a table: mostly usual rows with few verdicts, so that they share templates, and some with an odd cell."""
    chance, names = random.Random(seed), list(usual)
    header = names[:always] + [name for name in names[always:] if chance.random() < 0.4]
    values = [chance.choices(usual[name], k=2) if name in verdict else usual[name] for name in header]
    rows = [[chance.choice(each) for each in values] for _ in range(chance.choice((3, 60)))]
    for row in chance.sample(rows, 3 if chance.random() < 0.7 else 0):
        row[chance.randrange(len(row))] = chance.choice(odd)
    return header, rows


def make_battles(seed: int, columns: tuple[str, ...] = tuple(USUAL)) -> tuple[list[str], list[list[str]]]:
    """Make a table of battles, sometimes with a row of another width."""
    chance, usual = random.Random(seed), {name: USUAL[name] for name in columns}
    header, rows = make_table(seed, usual, VERDICT, always=3, odd=ODD)
    if chance.random() < 0.3:
        rows.insert(chance.randrange(len(rows)), chance.choice([[], ["x"], ["x"] * 20]))
    return header, rows


SEEDS = st.integers(0, 2**32)


def as_csv(header: list[str], rows: list[list[str]], *, end: str, quoting: Any, delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=quoting, delimiter=delimiter).writerows([header, *rows])
    return text.getvalue().encode()


def told(path: Path, *, quick: bool, **options: Any) -> tuple[list[tuple[int, Judgment]], Summary, list[str]]:
    """Read a log. Return its judgments with their lines, its summary, and the errors."""
    errors: list[RowError] = []
    reading = formats.read(path, on_error=errors.append, **options)
    found = [
        entry for batch in reading.batches(columns=quick) for entry in zip(batch.lines, batch.judgments, strict=True)
    ]
    return found, reading.summary, [str(error) for error in errors]


def count_columns(path: Path, **options: Any) -> int:
    """Return how many judgments come as columns."""
    batches = formats.read(path, **options).batches(columns=True)
    return sum(len(batch.judgments) for batch in batches if isinstance(batch.judgments, JudgmentColumns))


FILES = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@FILES
@given(
    SEEDS,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(",;\t"),
    st.booleans(),
)
def test_a_table_in_columns_is_the_table_row_by_row(
    tmp_path: Path, seed: int, end: str, quoting: int, delimiter: str, has_bom: bool
) -> None:
    header, rows = make_battles(seed)
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbf" * has_bom + as_csv(header, rows, end=end, quoting=quoting, delimiter=delimiter))
    mapping = ",".join(pair for pair in MAPPED.split(",") if pair.partition("=")[2] in header)
    for options in ({}, {"columns": mapping}, {"columns": mapping, "values": "skip=tie,a=model_a,b=model_b"}):
        assert told(path, quick=True, **options) == told(path, quick=False, **options)


@FILES
@given(SEEDS)
def test_parquet_in_columns_is_parquet_row_by_row(tmp_path: Path, seed: int) -> None:
    columns = ("model_a", "model_b", "winner", "judge", "id", "question_id", "prompt", "tstamp", "language")
    header, rows = make_battles(seed, columns)
    rows = [row for row in rows if len(row) == len(header)]
    arrays = {}
    for name, values in zip(header, zip(*rows, strict=True), strict=True):
        kind = pa.float64() if name == "tstamp" else pa.int32() if name == "question_id" else pa.string()
        known = [None if value == "" else value for value in values]
        try:
            arrays[name] = pa.array(known, pa.string()).cast(kind)
        except pa.ArrowInvalid:
            arrays[name] = pa.array(known, pa.string())
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(arrays), path, row_group_size=17, use_dictionary=["judge", "model_a"])
    assert told(path, quick=True) == told(path, quick=False)


def test_usual_rows_around_an_unusual_one_are_read_as_columns(tmp_path: Path) -> None:
    rows = [[f"p{k}", "x", "y", "model_a", f"j{k % 7}"] for k in range(2000)]
    rows[700][0] = 'a "quoted" word'
    path = tmp_path / "table.csv"
    header = ["prompt", "model_a", "model_b", "winner", "judge"]
    path.write_bytes(as_csv(header, rows, end="\n", quoting=csv.QUOTE_MINIMAL, delimiter=","))
    assert count_columns(path) >= 1990
    assert told(path, quick=True) == told(path, quick=False)


@pytest.mark.parametrize("text", ["", "two\nlines", "2024-13-01"])
def test_a_bad_row_stops_with_its_line_after_many_usual_ones(tmp_path: Path, text: str) -> None:
    rows = [["x", "y", "model_a", "2024-05-06"] for _ in range(1000)]
    rows[900] = ["x", "", "model_a", "2024-05-06"] if not text else ["x", "y", "model_a", text]
    for row in rows:
        row[3] = row[3].replace("2024-05-06", "2024-05-06 00:00:00")
    path = tmp_path / "table.csv"
    header = ["model_a", "model_b", "winner", "tstamp"]
    path.write_bytes(as_csv(header, rows, end="\n", quoting=csv.QUOTE_MINIMAL, delimiter=","))
    with pytest.raises(RowError) as found:
        list(formats.read(path).batches(columns=True))
    assert found.value.line == 902


def test_bytes_that_are_not_text_are_reported_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"model_a,model_b,winner\n" + b"x,y,tie\n" * 500 + b"x,\xff,tie\n" + b"y,x,tie\n" * 500)
    assert told(path, quick=True) == told(path, quick=False)
    assert told(path, quick=True)[1].skipped == {"invalid_utf8": 1}


def test_several_files_are_numbered_on(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        tmp_path.joinpath(name).write_bytes(b"model_a,model_b,winner\n" + b"x,y,tie\n" * 50)
    read = told(tmp_path, quick=True)
    assert read == told(tmp_path, quick=False)
    assert len({judgment.id for _, judgment in read[0]}) == 100


def test_a_verdict_is_read_by_the_complete_reader_once_for_all_equal_rows(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"model_a,model_b,winner,judge\n" + b"".join(b"x,y,tie,j%d\n" % k for k in range(5000)))
    assert count_columns(path) == 5000
    assert count_columns(path, columns="a=model_a,b=model_b,winner=winner,judge=judge") == 5000


def test_a_repeated_conversation_among_usual_rows_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [f"q{k},x,y,model_a,1682351591.5\n" for k in range(300)]
    path.write_text(
        "question_id,model_a,model_b,winner,tstamp\n" + "".join([*rows, rows[7], rows[8].replace("_a", "_b")])
    )
    read = told(path, quick=True)
    assert read == told(path, quick=False)
    assert read[1].left_out == {"a repeated conversation": 1}


@pytest.mark.parametrize("columns", ["a=a,b=b,winner=winner,id=id", "a=a,b=b,winner=winner"])
def test_the_ids_of_a_table_and_their_checksums_are_those_of_its_judgments(tmp_path: Path, columns: str) -> None:
    path = tmp_path / "table.csv"
    ids = [f"{k}{'x' * (k % 20)}" for k in range(1500)]
    path.write_text("a,b,winner,id\n" + "".join(f"x,y,tie,{each}\n" for each in ids))
    (batch,) = formats.read(path, columns=columns).batches(columns=True)
    for part in (batch.judgments, batch.judgments[3:50], batch.judgments[50:]):
        assert isinstance(part, JudgmentColumns)
        expected = [judgment.id for judgment in part]
        assert list(part.ids()) == expected
        assert part.id_checksums().tolist() == [crc32(each.encode()) for each in expected]


def test_spaces_around_mapped_cells_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,winner,judge\n" + "x,y,a,ann\n" * 3 + "x,y,a, ann \n" + "x,y,a,\u00a0ann\u00a0\n")
    read = told(path, quick=True, columns="a=a,b=b,winner=winner,judge=judge")
    assert {judgment.judge for _, judgment in read[0]} == {"ann"}


RANKED = {
    "campaign": ["wmt", "spring term", "x" * 195],
    "pair": ["de-en", "", "en-de"],
    "segment": USUAL["prompt"],
    "judge": USUAL["judge"],
    "systems": ["a|b", "b|c", "a+c|b", "é|a", "a|b+c", "c|b"],
    "ranks": ["1|2", "2|1", "1|1", "02|1"],
    "judge_type": ["", "researcher"],
    "n": ["2"],
    "duration_s": USUAL["took"],
    "timestamp": USUAL["tstamp"],
    "hit": ["", "h1", "h2"],
    "id": IDS,
    "score": [*[""] * 30, "0.5"],
    "request": [*[""] * 30, "r1"],
    "source": ["", "crowd"],
    "tags": ["", "{}", '{"language": "de"}'],
    "version": ["", "", "1", "2"],
    "escaped": [*[""] * 30, "yes"],
}
ODD_RANKS = ["", "1", "1|", "|1|2", "1|2|", "0|1", "12345678|1", "1.5|2", "a||b", "a|a", "+", "-1", "7", "a%2Bb|c"]
RANKED_VERDICT = ("campaign", "pair", "judge_type", "source", "tags", "version")


def make_rankings(seed: int) -> tuple[list[str], list[list[str]]]:
    """Make a uniform table. Its numbers mostly ascend."""
    chance = random.Random(seed)
    header, rows = make_table(seed, RANKED, RANKED_VERDICT, always=6, odd=[*ODD, *ODD_RANKS])
    for number, row in enumerate(rows, start=1):
        row.append(str(number - (3 if chance.random() < 0.02 else 0)))
    chance.choice(rows)[-1] = chance.choice(["7", "12", "x", "٣", "12345678901"])
    return [*header, "seq"], rows


@FILES
@given(SEEDS, st.sampled_from(["\n", "\r\n"]), st.sampled_from([None, "chosen"]))
def test_rankings_in_columns_are_the_rankings_row_by_row(
    tmp_path: Path, seed: int, end: str, campaign: str | None
) -> None:
    header, rows = make_rankings(seed)
    path = tmp_path / "rankings.csv"
    path.write_bytes(as_csv(header, rows, end=end, quoting=csv.QUOTE_MINIMAL, delimiter=","))
    for options in ({}, {"shared_ties": False}):
        read = told(path, quick=True, campaign=campaign, **options)
        assert read == told(path, quick=False, campaign=campaign, **options)


def test_rankings_with_many_different_verdicts_are_read_as_columns(tmp_path: Path) -> None:
    path = tmp_path / "rankings.csv"
    ranked = (f"c,de-en,{k},s{k},j,s{k % 7}|t{k % 11}+u|v{k % 13},1|{k % 3 + 1}|2\n" for k in range(1, 3001))
    path.write_text("campaign,pair,seq,segment,judge,systems,ranks\n" + "".join(ranked))
    assert count_columns(path) == 3000
    assert told(path, quick=True) == told(path, quick=False)


def test_a_number_that_does_not_ascend_is_reported_after_many_rankings(tmp_path: Path) -> None:
    path = tmp_path / "rankings.csv"
    numbers = [*range(1, 900), 899, *range(900, 1500)]
    lines = (f"{'ab'[k % 2]},,{k},s,j,x|y,1|2\n" for k in numbers)
    path.write_text("campaign,pair,seq,segment,judge,systems,ranks\n" + "".join(lines))
    read = told(path, quick=True)
    assert read == told(path, quick=False)
    assert [error for error in read[2] if "899 comes after 899" in error and ":901:" in error] == read[2]


@pytest.mark.parametrize(
    "ranks", ["1|2", "1|1|2", "1", "1|", "|1", "0|1", "1|0000002", "00000001|2", "1|1000001", "x|1"]
)
@pytest.mark.parametrize(
    "systems", ["a|b", "a|a", "a+b|c", "a+a|b", "a|b|c", "a||c", "a+|b", "|a", "a", "", f"{'é' * 120}|b"]
)
def test_an_odd_ranking_after_usual_ones_is_what_it_is_row_by_row(tmp_path: Path, systems: str, ranks: str) -> None:
    path = tmp_path / "rankings.csv"
    rows = [f"c,,{k},s,j,{systems if k == 6 else 'a|b'},{ranks if k == 6 else '1|2'}\n" for k in range(1, 9)]
    path.write_text("campaign,pair,seq,segment,judge,systems,ranks\n" + "".join(rows))
    assert told(path, quick=True) == told(path, quick=False)


def test_many_verdicts_and_names_are_read_in_bounded_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_table, "_MOST_TEMPLATES", 7)
    monkeypatch.setattr(table_reader, "MOST_ROWS", 64)
    path = tmp_path / "table.csv"
    rows = (f"x{k % 30},y{k % 9},tie,judge-{k}\n" for k in range(6000))
    path.write_text("model_a,model_b,winner,judge\n" + "".join(rows))
    assert told(path, quick=True) == told(path, quick=False)
    assert count_columns(path) == 6000


def test_more_verdicts_than_the_first_tables_hold_are_read(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("model_a,model_b,winner\n" + "".join(f"x{k},y{k % 2},model_b\n" for k in range(5000)))
    assert told(path, quick=True) == told(path, quick=False)
    assert count_columns(path) == 5000
