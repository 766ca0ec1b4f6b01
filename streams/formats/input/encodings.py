"""Text in another encoding than UTF-8: recognised if it is UTF-16, else named by the user."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, BinaryIO

from streams.errors import ParameterError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER = 2**16


def find_encoding(name: str) -> str:
    """Return the name of an encoding of text. Raise ParameterError if there is no such encoding.

    >>> find_encoding("Latin1")
    'iso8859-1'
    """
    try:
        found = codecs.lookup(name)
        io.TextIOWrapper(io.BytesIO(), encoding=name)  # refuses what is no encoding of text, such as base64
    except (LookupError, ValueError):
        raise ParameterError(
            f"encoding: no encoding {name!r}; use for example utf-8, utf-16, latin-1 or cp1252"
        ) from None
    return found.name


def guess_utf16(head: bytes) -> str | None:
    """Return the encoding of a text in UTF-16 or UTF-32, or None for every other one.

    >>> guess_utf16("a,b".encode("utf-16")), guess_utf16("a,b".encode("utf-16-be")), guess_utf16(b"a,b")
    ('utf-16', 'utf-16-be', None)
    """
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    start = head[:6]
    if len(start) == 6 and not any(start[1::2]) and all(start[::2]):
        return "utf-16-le"
    return "utf-16-be" if len(start) == 6 and not any(start[::2]) and all(start[1::2]) else None


def as_utf8(stream: BinaryIO, encoding: str) -> BinaryIO:
    """Return a text as UTF-8. What the encoding does not have raises EOFError when it is read."""
    return io.BufferedReader(_Transcoder(stream, encoding), _BUFFER)


class _Transcoder(io.RawIOBase):
    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream, self._encoding = stream, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._is_at_end = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready and not self._is_at_end:
            read = getattr(self._stream, "read1", self._stream.read)  # available bytes, without waiting for more
            data = read(_BUFFER)
            self._is_at_end = not data
            try:
                text = self._decoder.decode(data, final=not data)
                self._ready = text.encode(errors="surrogatepass")
            except UnicodeError as error:
                raise EOFError(f"not {self._encoding}: {error}; choose another encoding with --encoding") from None
        data, self._ready = self._ready[: len(view)], self._ready[len(view) :]
        view[: len(data)] = data
        return len(data)
