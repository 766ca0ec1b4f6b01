"""Every format that can be written gives the same judgments when it is read again."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams import formats
from streams.formats import FORMATS, compressing
from streams.wire.events import Judgment
from tests.builders import judgment

WRITTEN = [name for name, found in FORMATS.items() if found.write]
FORMULAS = ["=1+1", "+a", "-1", "@SUM(A1)", "\tx", "\rx", "'quoted", "'=x"]

names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.sampled_from([*FORMULAS, "a|b", "a+b", "100%", "%2B", '"', "a,b", "a\nb", "a\r\nb", " ", "\x00", "x" * 200]),
)
times = st.datetimes(
    min_value=datetime(1, 1, 3),
    max_value=datetime(8999, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))]),
)
fields = st.fixed_dictionaries(
    {
        "id": names,
        "campaign": st.one_of(
            st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True),
            st.sampled_from(["a.de-en", "a.de-en.de-en", "a.", "a..de-en"]),
        ),
        "segment": names,
        "judge": names,
        "at": times,
    },
    optional={
        "request": names,
        "duration_ms": st.integers(0, 2**53),
        "source": st.one_of(st.just(""), names),
        "tags": st.dictionaries(names, names, max_size=8),
        "version": st.sampled_from(["1", "1.2"]),
    },
)


@st.composite
def judgments(draw: st.DrawFn) -> Judgment:
    given_fields: dict[str, Any] = draw(fields)
    if draw(st.booleans()):
        return Judgment(**given_fields, systems=(draw(names),), score=draw(st.floats(0, 100)))
    systems = tuple(draw(st.lists(names, min_size=2, max_size=5, unique=True)))
    ranks = tuple(draw(st.lists(st.integers(1, 1_000_000), min_size=len(systems), max_size=len(systems))))
    return Judgment(**given_fields, systems=systems, ranks=ranks)


def written(name: str, log: list[Judgment]) -> bytes:
    stream = io.BytesIO()
    write = FORMATS[name].write
    assert write
    write(stream, log)
    return stream.getvalue()


@pytest.mark.parametrize("name", WRITTEN)
@given(log=st.lists(judgments(), max_size=5))
def test_every_judgment_is_kept(name: str, log: list[Judgment]) -> None:
    assert [entry.judgment for entry in formats.read(io.BytesIO(written(name, log)), format=name)] == log


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_file_is_compressed_as_its_suffix_says(tmp_path: Path, name: str, suffix: str) -> None:
    log = [judgment(number) for number in range(3000)]
    file = tmp_path / f"log{FORMATS[name].suffixes[0]}{suffix}"
    write = FORMATS[name].write
    assert write
    with file.open("wb") as stream, compressing(stream, file) as out:
        write(out, log)
    magic = {"": b"", ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}[suffix]
    assert file.read_bytes().startswith(magic)
    assert [entry.judgment for entry in formats.read(file)] == log


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_written_table_is_a_formula(text: str) -> None:
    log = [
        msgspec.structs.replace(
            judgment(), id=text, segment=text, judge=text, systems=(text, "b"), request=text, source=text
        )
    ]
    for row in csv.reader(io.StringIO(written("uniform", log).decode(), newline="")):
        assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_a_shared_table_is_not_taken_for_an_escaped_one(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("campaign,pair,seq,segment,judge,systems,ranks\nc,,1,'s,'j,100%25|'b,1|2\n")
    ((_, found),) = formats.read(file)
    assert (found.segment, found.judge, found.systems) == ("'s", "'j", ("100%25", "'b"))
