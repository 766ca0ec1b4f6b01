"""Read JSON objects one by one, in bounded memory: one per line, or the elements of one array."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.input.head import FileHead
from streams.formats.limits import MAX_DOCUMENT
from streams.wire.limits import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.input.sources import Source

Document = dict[str, object]

_decoder = msgspec.json.Decoder(Document)
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)  # of a string
_SPACE = re.compile(rb"\s*+")


def read_documents(source: Source) -> Iterator[tuple[int, Document | RecordError]]:
    """Yield every object of a file, with the line on which it begins."""
    texts = _lines(source) if FileHead(source.head).in_lines else _ObjectScanner(source).texts()
    for line, text in texts:
        if isinstance(text, RecordError):
            yield line, text
            continue
        try:
            yield line, _decode(text)
        except RecursionError:
            yield line, RecordError("too_deep", f"the JSON is nested more than {MAX_DEPTH} levels deep")
        except ValueError as error:
            yield line, RecordError("invalid_json", f"not a JSON object: {error}")


def _decode(text: bytes) -> Document:
    """Decode an object. NaN, which Python writes although JSON has none, becomes null."""
    try:
        return _decoder.decode(text)
    except ValueError:
        if b"NaN" not in text:
            raise
        return msgspec.convert(json.loads(text, parse_constant=lambda _: None), Document)


def _lines(source: Source) -> Iterator[tuple[int, bytes | RecordError]]:
    number = 0
    while line := source.readline(MAX_DOCUMENT + 1):
        number += 1
        if len(line) > MAX_DOCUMENT:
            raise FormatError(f"{source.name}:{number}: a line of more than {MAX_DOCUMENT:,} bytes")
        if not line.isspace():
            yield number, line


class _ObjectScanner:
    """Finds the objects of an array or of a sequence, without decoding them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._data = bytearray()  # grows in place, however small the pieces are that are read
        self._at = 0
        self._line = 1

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """Yield the line number and the text of every object."""
        in_array = self._next() == b"["
        if in_array:
            self._step()
        first = True
        while found := self._next():
            if in_array and found == b"]":
                self._step()
                if self._next():
                    raise self._error("something follows the end of the array")
                return
            if in_array and not first:
                if found != b",":
                    raise self._error("there is no comma between two objects")
                self._step()
                found = self._next()
            if found != b"{":
                raise self._error("an object should begin here")
            line = self._line
            yield line, self._object()
            first = False
        if in_array:
            raise self._error("the file ends in the middle of an array")

    def _next(self) -> bytes:
        """Skip white space, and return the next byte. Return nothing at the end of the file."""
        while True:
            space = _SPACE.match(self._data, self._at)
            assert space
            self._line += self._data.count(b"\n", self._at, space.end())
            self._at = space.end()
            if self._at < len(self._data):
                return bytes(self._data[self._at : self._at + 1])
            if not self._more():
                return b""

    def _step(self) -> None:
        self._at += 1

    def _object(self) -> bytes:
        place, depth = self._at, 0
        while True:
            token = _TOKEN.search(self._data, place)
            if token is None:
                place = self._fetch(len(self._data))
                continue
            if token[0] == b'"':
                place = self._end_of_string(token.end())
                continue
            place = token.end()
            if token[0] in (b"{", b"["):
                depth += 1
                if depth > MAX_DEPTH:
                    raise self._error(f"the JSON is nested more than {MAX_DEPTH} levels deep")
            elif token[0] in (b"}", b"]"):
                depth -= 1
                if not depth:
                    text = bytes(self._data[self._at : place])
                    self._line += text.count(b"\n")
                    self._at = place
                    return text

    def _end_of_string(self, place: int) -> int:
        """Return the place after the end of a string. Every byte of it is scanned once."""
        while True:
            rest = _REST.match(self._data, place)
            assert rest
            if rest[1]:
                return rest.end()
            place = self._fetch(rest.end())

    def _fetch(self, place: int) -> int:
        """Read more of an object, and return the new index of `place`."""
        place -= self._at
        if not self._more():
            raise self._error("the file ends in the middle of an object")
        return place + self._at

    def _more(self) -> bool:
        if len(self._data) - self._at > MAX_DOCUMENT:
            raise self._error(f"an object of more than {MAX_DOCUMENT:,} bytes")
        more = self._source.read()
        del self._data[: self._at]
        self._data += more
        self._at = 0
        return bool(more)

    def _error(self, message: str) -> FormatError:
        return FormatError(f"{self._source.name}:{self._line}: {message}")
