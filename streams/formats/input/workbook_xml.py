"""Read a part of an xlsx file as XML, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO
from xml.parsers import expat

from streams.errors import FormatError
from streams.formats.limits import MAX_LINE, MAX_XML_NAMES
from streams.wire.limits import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = 2**16

Attributes = dict[str, str]


class SheetPart:
    """A part of an xlsx file. Names of elements and attributes are without their namespace."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._open: list[tuple[Attributes, list[str]]] = []
        self._names: dict[str, str] = {}
        self._size = 0  # of the text in open elements
        self._done: list[tuple[str, Attributes, str]] = []

    def elements(self) -> Iterator[tuple[str, Attributes, str]]:
        """Yield the elements when they end, with their attributes and the text that is directly in them."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse
        fed = 0
        try:
            while piece := self._stream.read(_PIECE):
                parser.Parse(piece)
                fed += len(piece)
                if fed - parser.CurrentByteIndex > MAX_LINE:
                    raise ValueError(f"an element of more than {MAX_LINE:,} bytes")
                yield from self._done
                self._done = []
            parser.Parse(b"", True)
            yield from self._done
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise FormatError(f"{self._name}: can't be read as xlsx: {str(error)[:200]}") from None

    def _start(self, name: str, attributes: Attributes) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise ValueError(f"the XML is nested more than {MAX_DEPTH} levels deep")
        self._open.append(({self._local(key): value for key, value in attributes.items()}, []))
        self._local(name)

    def _end(self, name: str) -> None:
        attributes, text = self._open.pop()
        found = "".join(text)
        self._size -= len(found)
        self._done.append((self._local(name), attributes, found))

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1][1].append(text)
            self._size += len(text)
            if self._size > MAX_LINE:
                raise ValueError(f"a text of more than {MAX_LINE:,} characters")

    def _local(self, name: str) -> str:
        found = self._names.get(name)
        if found is None:
            if len(self._names) >= MAX_XML_NAMES:
                raise ValueError(f"more than {MAX_XML_NAMES} names of elements and attributes")
            found = self._names[name] = name.rpartition(":")[2]
        return found

    def _refuse(self, *_: object) -> None:
        raise ValueError("a document type is not accepted, because it can declare entities")
