"""Tables that are read as columns: the same judgments, lines, counts and errors as row by row."""

from __future__ import annotations

import csv
import io
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams import formats
from streams.formats import RowError, Summary
from streams.wire.events import Judgment
from streams.wire.scanner import JudgmentColumns

pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")

MAPPED = "a=model_a,b=model_b,winner=winner,judge=judge,segment=prompt,at=tstamp,id=id,duration=took,campaign=on"

usual = {
    "model_a": st.sampled_from(["x", "y", "z é", "w"]),
    "model_b": st.sampled_from(["x", "y", "z é", "w"]),
    "winner": st.sampled_from(["model_a", "model_b", "tie", "tie (bothbad)", "x"]),
    "judge": st.sampled_from(["ann", "ben", "", "anonymous", "zoë", " eve "]),
    "prompt": st.sampled_from(["p1", "p2", "", "two words", "ünïcode", "unspecified"]),
    "tstamp": st.sampled_from(["", "2024-02-29T07:08:09Z", "2024-05-06 07:08:09.25", "1682351591.1322", "0", "17.5"]),
    "id": st.one_of(st.just(""), st.integers(0, 40).map("id-{}".format)),
    "question_id": st.integers(0, 40).map(str),
    "language": st.sampled_from(["de", "en", ""]),
    "anony": st.sampled_from(["True", "False"]),
    "took": st.sampled_from(["", "3", "1.25", "0.0004", "35.337"]),
    "on": st.sampled_from(["spring", "autumn term"]),
    "unused": st.sampled_from(["", "any, text"]),
}
odd = st.sampled_from(
    [
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
)


@st.composite
def tables(draw: Any, *, columns: tuple[str, ...] = tuple(usual)) -> tuple[list[str], list[list[str]]]:
    """Draw a table: mostly usual rows, some with an odd cell or another width."""
    more = draw(st.lists(st.sampled_from(columns[3:]), unique=True))
    header = [*columns[:3], *more]
    rows = draw(st.lists(st.tuples(*(usual[name] for name in header)).map(list), min_size=1, max_size=40))
    for row in draw(st.lists(st.sampled_from(rows), max_size=3)):
        row[draw(st.integers(0, len(row) - 1))] = draw(odd)
    if draw(st.booleans()):
        rows.insert(draw(st.integers(0, len(rows))), draw(st.sampled_from([[], ["x"], ["x"] * 20])))
    return header, rows


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
    tables(),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(",;\t"),
    st.booleans(),
)
def test_a_table_in_columns_is_the_table_row_by_row(
    tmp_path: Path, table: tuple[list[str], list[list[str]]], end: str, quoting: int, delimiter: str, has_bom: bool
) -> None:
    header, rows = table
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbf" * has_bom + as_csv(header, rows, end=end, quoting=quoting, delimiter=delimiter))
    mapping = ",".join(pair for pair in MAPPED.split(",") if pair.partition("=")[2] in header)
    for options in ({}, {"columns": mapping}, {"columns": mapping, "values": "skip=tie,a=model_a,b=model_b"}):
        assert told(path, quick=True, **options) == told(path, quick=False, **options)


@FILES
@given(tables(columns=("model_a", "model_b", "winner", "judge", "id", "question_id", "prompt", "tstamp", "language")))
def test_parquet_in_columns_is_parquet_row_by_row(tmp_path: Path, table: tuple[list[str], list[list[str]]]) -> None:
    header, rows = table
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


def test_spaces_around_mapped_cells_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,winner,judge\n" + "x,y,a,ann\n" * 3 + "x,y,a, ann \n" + "x,y,a,\u00a0ann\u00a0\n")
    read = told(path, quick=True, columns="a=a,b=b,winner=winner,judge=judge")
    assert {judgment.judge for _, judgment in read[0]} == {"ann"}
