"""Logs in other containers and encodings give the same judgments, and what is no log is named."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path

import pytest
import python_calamine

from streams import formats
from streams.errors import FormatError, ParameterError
from streams.formats.input.sources import open_source
from streams.wire.events import Judgment
from tests.formats.samples import ARENA, SAMPLES
from tests.formats.workbook_samples import workbook, zipped

STREAMED = [name for name in SAMPLES if name != "parquet"]
TABLE = [line.split(",") for line in ARENA.decode().splitlines()]


def judgments(source: object, **options: object) -> list[Judgment]:
    return [entry.judgment for entry in formats.read(source, campaign="c", **options)]  # type: ignore[arg-type]


def content(file: Path) -> bytes:
    with open_source(file) as source:
        return b"".join(iter(source.read, b""))


@pytest.mark.parametrize("name", STREAMED)
@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bzip2", "xz"])
def test_a_compressed_log_is_read_or_refused_if_it_is_cut(name: str, pack: object, tmp_path: Path) -> None:
    data = SAMPLES[name].data
    packed = pack(data)  # type: ignore[operator]
    assert judgments(BytesIO(packed)) == judgments(BytesIO(data))
    assert judgments(BytesIO(pack(data[:40]) + pack(data[40:]))) == judgments(BytesIO(data))  # type: ignore[operator]
    for size in (len(packed) // 2, len(packed) - 3):
        with pytest.raises(FormatError, match=r"can't be read: (the .* data ends too early|broken)"):
            judgments(BytesIO(packed[:size]))
    with pytest.raises(FormatError, match="broken"):
        judgments(BytesIO(packed + b"something else"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_recognised(encoding: str) -> None:
    data = ARENA.replace(b"gpt", "gpt-é-模型".encode())
    assert judgments(BytesIO(data.decode().encode(encoding))) == judgments(BytesIO(data))


def test_another_encoding_is_named_by_the_user() -> None:
    data = ARENA.replace(b"gpt", "modèle".encode())
    assert judgments(BytesIO(data.decode().encode("latin-1")), encoding="Latin-1") == judgments(BytesIO(data))
    with pytest.raises(FormatError, match=r"not UTF-8.*choose its encoding with --encoding"):
        judgments(BytesIO(data.decode().encode("latin-1")))
    with pytest.raises(FormatError, match=r"not ascii.*--encoding"):
        judgments(BytesIO(data), encoding="ascii")
    for name in ("latin-99", "base64", "rot13"):
        with pytest.raises(ParameterError, match="no encoding"):
            formats.read("x", encoding=name)


def test_a_zip_of_one_file_is_that_file(tmp_path: Path) -> None:
    file = tmp_path / "votes.zip"
    file.write_bytes(zipped({"__MACOSX/._a.csv": b"\0", "a/": b"", "a/data.csv.bz2": bz2.compress(ARENA)}))
    assert judgments(file) == judgments(BytesIO(ARENA))
    assert {entry.judgment.campaign for entry in formats.read(file)} == {"votes"}


def parts(tmp_path: Path, kind: str) -> object:
    """Return two files as a zip archive, a folder or a list. The second one is in another format."""
    # Without the ids of conversations: the same conversation counts once.
    rows = b"".join(line.partition(b",")[2] for line in ARENA.splitlines(keepends=True))
    files = {"anna.csv": rows, "ben.csv": rows.replace(b",", b";")}
    if kind == "zip":
        (tmp_path / "votes.zip").write_bytes(zipped(files))
        return tmp_path / "votes.zip"
    folder = tmp_path / "votes"
    (folder / "more").mkdir(parents=True)
    for name, data in files.items():
        (folder / ("more" if name == "ben.csv" else ".") / name).write_bytes(data)
    (folder / ".hidden").write_bytes(b"\0")
    return folder if kind == "folder" else [folder / "anna.csv", folder / "more" / "ben.csv"]


@pytest.mark.parametrize("kind", ["zip", "folder", "list"])
def test_several_files_are_one_log_in_which_every_row_counts(kind: str, tmp_path: Path) -> None:
    source = parts(tmp_path, kind)
    found = judgments(source)
    assert [judgment.systems for judgment in found] == [each.systems for each in judgments(BytesIO(ARENA))] * 2
    assert len({judgment.id for judgment in found}) == 4  # equal rows of different files are different judgments
    reading = formats.read(source)  # type: ignore[arg-type]
    assert {entry.judgment.campaign for entry in reading} == ({"anna", "ben"} if kind == "list" else {"votes"})
    assert (reading.summary.rows, reading.summary.judgments) == (4, 4)


def test_a_bad_row_is_named_with_its_file_in_the_archive(tmp_path: Path) -> None:
    file = tmp_path / "votes.zip"
    file.write_bytes(zipped({"a.csv": ARENA, "b.csv": ARENA.replace(b"model_a,j1", b"nobody,j1")}))
    with pytest.raises(FormatError, match=r"votes.zip/b.csv:2: winner: 'nobody'"):
        judgments(file)


def test_a_folder_of_nothing_and_one_with_a_foreign_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="the folder has 0 files"):
        judgments(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(FormatError, match=r"notes.txt: unknown format"):
        judgments(tmp_path)
    (tmp_path / "votes.csv").write_text("hello")
    with pytest.raises(FormatError, match=r"It is one of 2 files in .*take it out, or name the files that are"):
        judgments(tmp_path)


def test_an_excel_file_is_read_as_its_table(tmp_path: Path) -> None:
    file = tmp_path / "votes.xlsx"
    rows: list[list[str | float | bool | None]] = [[*row] for row in TABLE]
    for row in rows[1:]:
        row[0], row[6] = int(str(row[0])), float(str(row[6]))
    file.write_bytes(workbook([*rows[:2], [], rows[2], [None, None]]))
    reading = formats.read(file, campaign="c")
    entries = list(reading)
    assert [entry.judgment.systems for entry in entries] == [each.systems for each in judgments(BytesIO(ARENA))]
    assert [entry.judgment.at for entry in entries] == [each.at for each in judgments(BytesIO(ARENA))]
    assert [entry.line for entry in entries] == [2, 4]
    assert reading.summary.warnings() == []


def test_other_sheets_of_an_excel_file_are_mentioned(tmp_path: Path) -> None:
    file = tmp_path / "votes.xlsx"
    file.write_bytes(workbook(TABLE, more_sheets=["old"]))
    reading = formats.read(file)
    list(reading)
    assert reading.summary.warnings() == [f"{file}: only the first of 2 sheets is read: 'votes'"]


CELLS = (
    '<row r="2"><c r="A2" t="inlineStr"><is><r><t xml:space="preserve">rich </t></r><r><t>text</t></r></is></c>'
    '<c r="C2" t="b"><v>1</v></c><c r="D2" t="str"><f>A2&amp;"x"</f><v>a &amp; "b"</v></c></row>'
    '<row r="4"><c r="A4" s="1"><v>45292.5</v></c><c r="B4"><v>1.5</v></c><c r="C4" t="s"><v>0</v></c>'
    '<c r="D4" t="s"><v>1</v></c></row>'
)


def test_cells_have_the_values_that_another_reader_finds(tmp_path: Path) -> None:
    file = tmp_path / "cells.xlsx"
    file.write_bytes(workbook([["shared, with comma", "line\nbreak"]], sheet=CELLS))
    ours = [row for row in csv.reader(io.StringIO(content(file).decode())) if row]
    theirs = python_calamine.load_workbook(file).get_sheet_by_index(0).to_python()
    known = {True: "true", "": "", datetime(2024, 1, 1, 12): "2024-01-01T12:00:00", 1.5: "1.5"}
    assert ours == [[known.get(cell, cell) for cell in row] for row in theirs if any(cell != "" for cell in row)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"7z\xbc\xaf\x27\x1c\0\4", "this is a 7z archive; unpack it first"),
        (b"Rar!\x1a\x07\1\0", "this is a RAR archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "this is an old Excel or Office file; save it as xlsx"),
        (b"%PDF-1.7\n", "this is a PDF"),
        (b"SQLite format 3\0", "this is an SQLite database"),
        (b"x" * 257 + b"ustar\0", "this is a tar archive"),
        (bz2.compress(b"x" * 257 + b"ustar\0"), "this is a tar archive"),
        (b"version https://git-lfs.github.com/spec/v1\n", "this is a pointer of Git LFS.*git lfs pull"),
        (gzip.compress(bz2.compress(ARENA)), "this is bzip2 inside another compressed file"),
        (bz2.compress(lzma.compress(ARENA)), "this is xz inside another compressed file"),
        (b"\n<!DOCTYPE HTML>\n<html>", r"this is a web page \(HTML\); download the file itself"),
        (zipped({"a.csv": ARENA}), "zip and xlsx are read from a plain file"),
        (bz2.compress(zipped({"a.csv": ARENA})), "zip and xlsx are read from a plain file"),
    ],
)
def test_a_foreign_container_is_named_and_not_printed(data: bytes, words: str) -> None:
    for options in ({}, {"format": "arena"}, {"columns": "a=x,b=y,winner=z"}):
        with pytest.raises(FormatError, match=words) as caught:
            judgments(BytesIO(data), **options)
        assert str(caught.value).isprintable()


def damaged(data: bytes) -> bytes:
    return data[:60] + bytes([data[60] ^ 255]) + data[61:]


def with_directory(count: int) -> bytes:
    return zipped({f"{number}.csv": b"" for number in range(count)})


def encrypted() -> bytes:
    data = bytearray(zipped({"a.csv": ARENA}))
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(magic) + place] |= 1
    return bytes(data)


def with_method(method: int) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("a.csv", ARENA)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (zipped({"inner.zip": zipped({"a.csv": ARENA})}), "a zip or xlsx file inside another archive"),
        (zipped({}), "the zip archive has no file"),
        (with_directory(1001), "more than 1,000 files"),
        (encrypted(), "is encrypted"),
        (with_method(zipfile.ZIP_LZMA), "compressed in an unusual way"),
        (zipped({"a.csv": ARENA})[:-30], "can't be read as zip: it ends too early"),
        (damaged(zipped({"a.csv": ARENA})), "can't be read"),
        (workbook([["a"]], sheet='<row r="1"><c t="s"><v>7</v></c></row>'), "a text that the file does not have"),
        (workbook([["a"]], sheet='<row r="1"><c r="ZZZ1"><v>7</v></c></row>'), "more than 16,384 columns"),
        (workbook([["a"]], sheet="<row>"), "can't be read as xlsx: mismatched tag"),
        (workbook([["x" * 2**19] * 3]), "a row of more than 1,048,576 characters"),
        (workbook([["a"]], sheet=f"<c t='str'><v>{'x' * 2**21}</v></c>"), "a text of more than"),
        (workbook([["a"]], sheet="<a>" * 200), "nested more than 100 levels"),
        (workbook([["a"]], sheet=f'<row r="{"1" * 2**21}"/>'), "an element of more than"),
        (workbook([["a"]], sheet="".join(f"<n{k}/>" for k in range(1100))), "more than 1000 names"),
    ],
)
def test_a_hostile_archive_ends_in_a_clear_error(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(data)
    with pytest.raises(FormatError, match=words):
        judgments(tmp_path / "log")


def test_the_last_cell_of_a_sheet_may_be_far_away(tmp_path: Path) -> None:
    sheet = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    (tmp_path / "log").write_bytes(workbook([["a"]], sheet=sheet))
    assert len(content(tmp_path / "log")) < 2**21


def test_xz_with_a_large_dictionary_is_refused() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 2**28}]
    with pytest.raises(FormatError, match=r"broken xz data: Memory usage limit exceeded"):
        judgments(BytesIO(lzma.compress(ARENA, filters=filters)))
