"""Zip archives: their directory is checked before it is read, and their members are streamed."""

from __future__ import annotations

import struct
import zipfile
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from streams.errors import FormatError
from streams.formats.limits import MAX_DIRECTORY, MAX_MEMBERS
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"PK\x03\x04"
EMPTY_MAGIC = b"PK\x05\x06"
WORKBOOK = "xl/workbook.xml"

_END = struct.Struct("<4s4H2LH")
_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others can take much memory for a few bytes


@contextmanager
def open_archive(stream: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive. Raise FormatError if it is damaged, while it is open too."""
    _check_directory(stream, name)
    try:
        with zipfile.ZipFile(stream) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, UnicodeError) as error:
        raise FormatError(f"{name}: can't be read as zip: {error}") from None


def member_names(archive: zipfile.ZipFile, name: str) -> list[str]:
    """Return the files in an archive, sorted by name, without hidden ones. Raise FormatError if there are none."""
    found = [each.filename for each in archive.infolist() if not each.is_dir() and not _is_hidden(each.filename)]
    if not found:
        raise FormatError(f"{name}: the zip archive has no file")
    return sorted(found)


def open_member(archive: zipfile.ZipFile, member: str, name: str) -> BinaryIO:
    """Return the content of a file in an archive, as a stream."""
    info = archive.getinfo(member)
    if info.flag_bits & 1:
        raise FormatError(f"{name}: the file {quote(member)} in it is encrypted; unpack it first")
    if info.compress_type not in _READABLE:
        raise FormatError(f"{name}: the file {quote(member)} is compressed in an unusual way; unpack it first")
    return archive.open(info)  # type: ignore[return-value]


def is_workbook(archive: zipfile.ZipFile) -> bool:
    """Return whether an archive is an Excel file."""
    return WORKBOOK in archive.namelist()


def _is_hidden(member: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(member).parts)


def _check_directory(stream: BinaryIO, name: str) -> None:
    """Refuse a directory that is too long: all of it is kept in memory."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 2**16 - _END.size))
    tail = stream.read()
    stream.seek(0)
    place = tail.rfind(EMPTY_MAGIC)
    if place < 0 or len(tail) - place < _END.size:
        raise FormatError(f"{name}: can't be read as zip: it ends too early")
    _, _, _, _, members, length, _, _ = _END.unpack_from(tail, place)
    if members > MAX_MEMBERS or length > MAX_DIRECTORY or tail[:place].rfind(b"PK\x06\x07", max(0, place - 20)) >= 0:
        raise FormatError(
            f"{name}: the zip archive has more than {MAX_MEMBERS:,} files; unpack it, and name the folder"
        )
