"""Files that are no text: named with the way out, so that their bytes are never printed."""

from __future__ import annotations

_UNPACK = "unpack it first"
_EXPORT = "export it as CSV, JSON Lines or xlsx"
_SIGNATURES = (
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"PK\x03\x04", "a zip or xlsx file inside another archive", _UNPACK),
    (b"\x1f\x8b", "gzip inside another compressed file", _UNPACK),
    *((b"BZh%d1AY&SY" % level, "bzip2 inside another compressed file", _UNPACK) for level in range(1, 10)),
    (b"\xfd7zXZ\0", "xz inside another compressed file", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "zstd inside another compressed file", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\x04\x22\x4d\x18", "an lz4 file", _UNPACK),
    (b"LZIP", "an lzip file", _UNPACK),
    (b"\x1f\x9d", "a file of compress (.Z)", _UNPACK),
    (b"\xff\x06\x00\x00sNaPpY", "a snappy file", _UNPACK),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file", "save it as xlsx or CSV"),
    (b"%PDF-", "a PDF", "export the table as CSV"),
    (b"SQLite format 3\0", "an SQLite database", _EXPORT),
    (b"ARROW1", "an Arrow (Feather) file", "save it as Parquet"),
    (b"Obj\x01", "an Avro file", _EXPORT),
    (b"ORC", "an ORC file", "save it as Parquet"),
    (b"\x93NUMPY", "a NumPy file", _EXPORT),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (b"\x80\x02", "a Python pickle", _EXPORT),
    (b"\x80\x03", "a Python pickle", _EXPORT),
    (b"\x80\x04", "a Python pickle", _EXPORT),
    (b"\x80\x05", "a Python pickle", _EXPORT),
    (b"\x89PNG\r\n", "a picture (PNG)", "choose the log itself"),
    (b"\x7fELF", "a program", "choose the log itself"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself", "run: git lfs pull"),
)
_TAR = slice(257, 262)


def foreign_container(head: bytes) -> str | None:
    r"""Return what a file is if no log is like it, and what to do, or None.

    >>> foreign_container(b"7z\xbc\xaf\x27\x1c\x00\x04")
    'this is a 7z archive; unpack it first'
    """
    if head[_TAR] == b"ustar":
        return f"this is a tar archive; {_UNPACK}, and name its files or their folder"
    if head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "this is a web page (HTML); download the file itself"
    for start, what, way_out in _SIGNATURES:
        if head.startswith(start):
            return f"this is {what}; {way_out}"
    return None
