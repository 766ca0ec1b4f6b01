"""Input that is too long, too deep or too big ends in a clear error, and does not fill the memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from backports import zstd

from streams import formats
from streams.errors import FormatError
from streams.formats import RowError
from streams.formats.input.sources import open_source
from tests.formats.samples import (
    APPRAISE,
    APPRAISE_SCORES,
    ARENA,
    JSONL,
    LABEL_STUDIO,
    METRICS_EVAL,
    MQM,
    PEARMUT,
    UNIFORM,
    WMT_ASSESSMENT,
    WMT_HUMEVAL,
    WMT_PAIRS,
)
from tests.formats.workbook_samples import workbook

pytestmark = pytest.mark.long

MB = 2**20
ALLOWED = 32 * MB
BATTLE = b'{"model_a":"a","model_b":"b","winner":"tie"}'


class Endless(io.RawIOBase):
    """A file without an end. The test fails if too much of it is read."""

    def __init__(self, start: bytes, again: bytes) -> None:
        self._left = start
        self._again = again * (2**16 // len(again) + 1)
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = (self._left or self._again)[: len(view)]
        self._left = (self._left or self._again)[len(view) :]
        view[: len(data)] = data
        self._read += len(data)
        if self._read > 100 * MB:
            raise AssertionError("nothing stops it")
        return len(data)


@pytest.fixture
def flat() -> Iterator[None]:
    """Fail if too much memory was used."""
    tracemalloc.start(1)
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < ALLOWED
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("flat")
@pytest.mark.parametrize(
    ("name", "start", "again", "words"),
    [
        ("jsonl", JSONL + b'{"id":"', b"x", "-:4: a line of more than"),
        ("uniform", UNIFORM, b"x", "-:4: a line of more than"),
        ("uniform", UNIFORM + b'w,"', b"x\n", "-:4: not CSV, up to line"),
        ("uniform", UNIFORM + b'w,"', b'x\n","x', "-:4: a row .is a quote not closed"),
        ("wmt-pairs", WMT_PAIRS, b",", "-:4: a line of more than"),
        ("arena", ARENA, b'"', "-:4: a line of more than"),
        ("arena", b"[" + BATTLE + b',\n{"x":"', b"y", "-:2: an object of more than"),
        ("arena", b"[" + BATTLE + b",\n", b"[", "-:2: an object should begin"),
        ("arena", b"[" + BATTLE + b',\n{"x":', b"[", "-:2: the JSON is nested more than"),
        ("arena", BATTLE + b"\n", b"x", "-:2: a line of more than"),
        ("label-studio", LABEL_STUDIO[:-1] + b",{", b'"x":"%s",' % (b"y" * 1000), "an object of more than"),
        ("appraise", APPRAISE[: APPRAISE.index(b"<HIT")], b"<a>", "nested more than"),
        ("appraise", b'<a b="', b"x", "that does not end"),
        ("appraise", b"<a><!--", b"x", "that does not end"),
        ("appraise", b"<a ", b'b="" ', "-:1: "),
        ("appraise-scores", APPRAISE_SCORES, b"x", "-:6: a line of more than"),
        ("wmt-assessment", WMT_ASSESSMENT, b"x", "-:6: a line of more than"),
        ("mqm", MQM, b"\t", "-:6: a line of more than"),
        ("mt-metrics-eval", METRICS_EVAL, b"x", "-:5: a line of more than"),
        ("wmt-humeval", WMT_HUMEVAL, b"x", "-:3: a line of more than"),
        ("pearmut", PEARMUT, b"x", "-:4: a line of more than"),
    ],
)
def test_a_log_without_end_ends_in_an_error(name: str, start: bytes, again: bytes, words: str) -> None:
    stream = io.BufferedReader(Endless(start, again))
    with pytest.raises(FormatError, match=words):
        list(formats.read(stream, format=name, campaign="c"))


@pytest.mark.usefixtures("flat")
def test_names_without_end_in_xml_end_in_an_error() -> None:
    data = b"<a>" + b"".join(b"<n%d/>" % number for number in range(5000)) + b"</a>"
    with pytest.raises(FormatError, match="more than 1000 names"):
        list(formats.read(io.BytesIO(data)))


@pytest.mark.parametrize(
    "declared",
    [
        b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        b'<!DOCTYPE a SYSTEM "http://localhost/x.dtd"><a/>',
        b'<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><a/>',
    ],
)
def test_entities_are_refused(declared: bytes) -> None:
    with pytest.raises(FormatError, match="-:1: a document type is not accepted"):
        list(formats.read(io.BytesIO(declared)))


def packed_gzip(data: bytes, times: int) -> bytes:
    return gzip.compress(data) * times


def packed_zstd(data: bytes, times: int) -> bytes:
    return zstd.compress(data, level=1) * times


def packed_bzip2(data: bytes, times: int) -> bytes:
    return bz2.compress(data) * times


def packed_xz(data: bytes, times: int) -> bytes:
    return lzma.compress(data, preset=1) * times


@pytest.mark.usefixtures("flat")
@pytest.mark.parametrize("pack", [packed_gzip, packed_zstd, packed_bzip2, packed_xz])
@pytest.mark.parametrize("data", [b"\n" * 8 * MB, b"x" * 8 * MB])
def test_a_compression_bomb_is_streamed(pack: object, data: bytes) -> None:
    packed = pack(data, 15) + pack(b"x" * 8 * MB, 1)  # type: ignore[operator]
    with pytest.raises(FormatError, match="a line of more than"):
        list(formats.read(io.BytesIO(packed), format="jsonl"))


@pytest.mark.usefixtures("flat")
@pytest.mark.parametrize("data", [b"\n" * 16 * MB, b"x" * 16 * MB], ids=["lines", "one line"])
def test_a_bomb_in_a_zip_archive_is_streamed(data: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as member:
        for _ in range(15):
            member.write(data)
        member.write(b"x" * 2 * MB)
    with pytest.raises(FormatError, match="a line of more than"):
        list(formats.read(tmp_path / "log", format="jsonl"))


@pytest.mark.usefixtures("flat")
def test_a_bomb_in_an_excel_file_is_streamed(tmp_path: Path) -> None:
    cells = "<c t='s'><v>0</v></c>"
    file = tmp_path / "log"
    file.write_bytes(workbook([["x" * 60_000]], sheet=f"<row>{cells * 16}</row>" * 300))
    with pytest.raises(FormatError, match="unknown format"):  # 300 MB of text
        list(formats.read(file))
    with open_source(file) as source:
        assert sum(map(len, iter(source.read, b""))) > 2.8e8
    sheet = "".join(f"<row><c r='{place}'><v>1</v></c></row>" for place in ("A1", "XFD1048576"))
    file.write_bytes(workbook([["a"]], sheet=sheet))
    with pytest.raises(FormatError, match="unknown format"):
        list(formats.read(file))


def test_a_window_that_is_too_large_is_refused() -> None:
    a_gibibyte = b"\xa0"
    packed = b"\x28\xb5\x2f\xfd" + b"\x00" + a_gibibyte + b"\x01\x00\x00"
    with pytest.raises(FormatError, match=r"can't be read: broken zstd data: .*memory"):
        list(formats.read(io.BytesIO(packed)))


@pytest.mark.usefixtures("flat")
@pytest.mark.parametrize(
    ("name", "start", "again"),
    [
        ("jsonl", b"", JSONL),
        ("arena", b"left,right,winner\n", b"a,b,tie\n"),
        ("arena", b"[" + BATTLE, b",\n" + BATTLE),
        ("appraise", APPRAISE[: APPRAISE.index(b"<HIT")], APPRAISE[APPRAISE.index(b"<HIT") : -18]),
    ],
)
def test_a_long_log_takes_no_more_memory_than_a_short_one(name: str, start: bytes, again: bytes) -> None:
    stream: BinaryIO = io.BufferedReader(Endless(start, again))
    reading = formats.read(stream, format=name, campaign="c")
    for _ in reading:
        if reading.summary.judgments > 5_000:
            break


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("jsonl", b'{"x":' + b"[" * 200 + b"]" * 200 + b"," + JSONL[1:], "too_deep"),
        ("arena", BATTLE[:-1] + b',"x":' + b"[" * 5000 + b"]" * 5000 + b"}", "too_deep"),
        ("arena", ARENA + b"3,8,gpt,cla\xffude,model_a,j1,1682351591.13\n", "invalid_utf8"),
        ("jsonl", JSONL.replace(b'"s"', b'"\xff"', 1), "invalid_utf8"),
        ("arena", ARENA.replace(b"1682351591.13", b"1e300"), "invalid_value"),
        ("arena", ARENA + b'3,8,gpt,claude,tie,j1,"1682351591', "invalid_value"),
        ("arena", ARENA.replace(b"gpt", b'"g"pt', 1), "invalid_value"),
        ("arena", ARENA.replace(b"1682351591.13", b"nan"), "invalid_value"),
        ("arena", ARENA.replace(b"claude", b"c" * 300), "invalid_value"),
        ("arena", b'{"model_a":"a\\ud800","model_b":"b","winner":"tie"}', "invalid_json"),
        (
            "appraise",
            APPRAISE.replace(b'"a,b"', b'"' + b",".join(b"s%d" % n for n in range(200)) + b'"'),
            "too_many_systems",
        ),
        ("appraise", APPRAISE.replace(b"00:00:35.337000", b"soon"), "invalid_value"),
        ("appraise", APPRAISE.replace(b'"a,b"', b'"a,a"'), "duplicate_system"),
    ],
)
def test_a_row_with_impossible_values_is_a_bad_row(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        list(formats.read(io.BytesIO(data), format=name, campaign="c"))
    assert caught.value.reason == reason


@pytest.mark.parametrize("cut", range(2, len(APPRAISE), 37))
def test_an_export_that_breaks_off_is_an_error(cut: int) -> None:
    with pytest.raises(FormatError):
        list(formats.read(io.BytesIO(APPRAISE[:-cut]), format="appraise"))


@pytest.mark.parametrize("cut", range(1, len(LABEL_STUDIO), 37))
def test_an_array_that_breaks_off_is_an_error(cut: int) -> None:
    with pytest.raises(FormatError):
        list(formats.read(io.BytesIO(LABEL_STUDIO[:-cut]), format="label-studio"))
