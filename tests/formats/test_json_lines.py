"""Lines that are decoded together give the same result as lines that are decoded one by one."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streams import formats
from streams.errors import RecordError
from streams.formats import RowError
from streams.wire.decoding import decode
from streams.wire.events import Judgment
from tests.formats.samples import JSONL

GOOD: dict[str, Any] = json.loads(JSONL.splitlines()[0])
names = st.sampled_from(["a", "b", "c", "[", "{", "é", "\u2028", "", "x" * 201])
lines = st.fixed_dictionaries(
    {
        "id": names,
        "campaign": st.sampled_from(["c", "c.d-e"]),  # other characters are replaced in a file
        "segment": st.just("s"),
        "judge": st.just("j"),
        "systems": st.lists(names, max_size=4),
        "at": st.sampled_from(["2024-01-01T00:00:00Z", "9500-01-01T00:00:00Z", "2024-01-01", 5]),
    },
    optional={
        "ranks": st.one_of(st.none(), st.lists(st.integers(0, 3), max_size=4)),
        "score": st.one_of(st.none(), st.floats(-1, 101)),
        "version": st.sampled_from(["1", "1.5", "2"]),
        "extra": st.sampled_from([[], [[1]], {"a": {}}, json.loads("[" * 120 + "]" * 120)]),
    },
)


def alone(line: bytes) -> Judgment | str:
    try:
        event = decode(line, max_bytes=2**20)
    except RecordError as error:
        return error.reason
    assert isinstance(event, Judgment)
    return event


def together(data: bytes) -> dict[int, Judgment | str]:
    found: dict[int, Judgment | str] = {}
    reading = formats.read(
        io.BytesIO(data), format="jsonl", on_error=lambda error: found.__setitem__(error.line, error.reason)
    )
    found |= dict(reading)
    return found


@given(st.lists(st.one_of(lines, st.just(GOOD)), max_size=4))
@example([GOOD, GOOD | {"score": 3.0}])
@example([GOOD, GOOD | {"systems": ["a", "a"]}])
@example([GOOD, GOOD | {"systems": ["a", "b", "a"], "ranks": [1, 2, 3]}])
@example([GOOD, GOOD | {"ranks": [1, 2, 3]}])
@example([GOOD, GOOD | {"systems": ["a"], "ranks": [1]}])
@example([GOOD, GOOD | {"ranks": None}])
@example([GOOD, GOOD | {"ranks": None, "score": 1.0}])
@example([GOOD, GOOD | {"at": "9500-01-01T00:00:00Z"}])
@example([GOOD, GOOD | {"extra": json.loads("[" * 120 + "]" * 120)}])
def test_lines_are_judged_together_as_each_alone(rows: list[dict[str, Any]]) -> None:
    texts = [json.dumps(row, ensure_ascii=False).encode() for row in rows]
    assert together(b"\n".join(texts)) == {number: alone(text) for number, text in enumerate(texts, start=1)}


def test_broken_text_in_a_field_that_nobody_reads_is_refused_too() -> None:
    line = JSONL.splitlines()[0]
    assert together(line[:-1] + b',"comment":"\xff"}') == {1: "invalid_utf8"}


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n", b"\r\n"])
def test_blank_lines_are_ignored_and_line_numbers_stay_right(end: bytes) -> None:
    line = JSONL.splitlines()[0]
    assert list(together(line + b"\n\n  \n" + line.replace(b'"1"', b'"9"', 1) + end)) == [1, 4]


def test_a_line_may_be_longer_than_what_is_read_at_once() -> None:
    long = json.dumps(GOOD | {"comment": "x" * 600_000}).encode()
    assert list(together(b"\n".join([long, JSONL.splitlines()[0], long]))) == [1, 2, 3]


def test_the_line_of_an_error_is_right_far_into_a_file() -> None:
    line = JSONL.splitlines()[0] + b"\n"
    with pytest.raises(RowError, match="-:12346: "):
        list(formats.read(io.BytesIO(line * 12_345 + b"{}\n" + line), format="jsonl"))


@pytest.mark.parametrize("columns", [False, True])
def test_judges_and_segments_that_are_not_named_are_counted(columns: bool) -> None:
    tagged = GOOD | {"tags": {"judge": "anonymous", "segment": "unspecified"}}
    unnamed = GOOD | {"judge": "anonymous"}
    log = [tagged, unnamed, GOOD | {"segment": "unspecified"}, unnamed]
    data = "".join(json.dumps(line | {"id": str(k)}) + "\n" for k, line in enumerate(log))
    reading = formats.read(io.BytesIO(data.encode()), format="jsonl")
    assert sum(len(batch.judgments) for batch in reading.batches(columns=columns)) == 4
    assert (reading.summary.anonymous, reading.summary.unspecified) == (2, 1)


def test_names_that_come_late_are_counted_in_columns() -> None:
    lines = [GOOD | {"id": str(k), "judge": "anonymous" if k > 40_000 else f"j{k % 9}"} for k in range(50_000)]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    reading = formats.read(io.BytesIO(data), format="jsonl")
    assert len(list(reading.batches(columns=True))) > 1
    assert reading.summary.anonymous == 9999
