"""Read the XML export of Appraise: HITs that contain tasks that contain rankings, or a list of ranking items.

Systems with the same output are one element, with commas between their names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat

from streams.errors import FormatError, RecordError
from streams.formats.base import Format
from streams.formats.limits import MAX_LINE, MAX_RESULT, MAX_XML_NAMES
from streams.formats.names import campaign_name, language_pair
from streams.formats.rankings import make_judgments, ranked_outputs
from streams.formats.validation import row_reader
from streams.wire.decoding import quote
from streams.wire.limits import MAX_DEPTH, MAX_RANKED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import ImportRun
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_PIECE = 2**16  # bytes that are parsed together, or more
_ROOT = re.compile(r"(wmt\d+)\b", re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,6}):(\d\d):(\d\d)(?:\.(\d{1,3})\d*)?")

_RESULTS = ("ranking-result", "ranking-item")

Attributes = dict[str, str]


class _RankingResult(NamedTuple):
    """A <ranking-result> and the elements around it."""

    root: str
    hit: Attributes
    task: Attributes
    result: Attributes
    outputs: list[Attributes]


class _Handler:
    """Collects the results while the parser runs. Nothing else of the document is kept."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self._fed = 0
        self._depth = 0
        self._names: set[str] = set()
        self._line = 0
        self._size = 0  # of the attributes in the result
        self._root = ""
        self._hit: Attributes = {}
        self._task: Attributes = {}
        self._result: Attributes | None = None
        self._outputs: list[Attributes] = []
        self.done: list[tuple[int, _RankingResult]] = []
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse

    def parse(self, piece: bytes) -> None:
        """Parse the next piece of the document. Raise ValueError if an element is too long."""
        self._parser.Parse(piece)
        self._fed += len(piece)
        if self.unparsed > MAX_LINE:
            raise ValueError(f"an element of more than {MAX_LINE:,} bytes that does not end")

    @property
    def unparsed(self) -> int:
        """Return the number of bytes of the element that has not ended."""
        return self._fed - self._parser.CurrentByteIndex

    def _start(self, name: str, attributes: Attributes) -> None:
        self._depth += 1
        self._names.add(name)
        self._names.update(attributes)
        if self._depth > MAX_DEPTH:
            raise ValueError(f"the XML is nested more than {MAX_DEPTH} levels deep")
        if len(self._names) > MAX_XML_NAMES:
            raise ValueError(
                f"more than {MAX_XML_NAMES} names of elements and attributes; this is not an export of Appraise"
            )
        if self._depth == 1:
            self._root = name
        if name == "HIT":
            self._hit, self._task = attributes, {}
        elif name == "ranking-task":
            self._task = attributes
        elif name in _RESULTS:
            if name == "ranking-item":  # of other campaigns than WMT: task and result in one
                self._task = attributes
            self._line, self._result, self._outputs = self._parser.CurrentLineNumber, attributes, []
            self._size = 0
        elif name == "translation" and self._result is not None and len(self._outputs) <= MAX_RANKED:
            self._outputs.append(attributes)
            self._size += sum(map(len, attributes.values()))
            if self._size > MAX_RESULT:
                raise ValueError(f"a <ranking-result> with attributes of more than {MAX_RESULT:,} characters")

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name in _RESULTS and self._result is not None:
            found = _RankingResult(self._root, self._hit, self._task, self._result, self._outputs)
            self.done.append((self._line, found))
            self._result = None

    def _refuse(self, *_: object) -> None:
        raise ValueError("a document type is not accepted, because it can declare entities")


def _read_rows(source: Source, run: ImportRun) -> Iterator[tuple[int, _RankingResult]]:
    parser = expat.ParserCreate()
    handler = _Handler(parser)
    found = 0
    try:
        for piece in _pieces(source, handler):
            handler.parse(piece)
            found += len(handler.done)
            yield from handler.done
            handler.done = []
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise FormatError(f"{run.file}:{error.lineno}: not XML: {expat.ErrorString(error.code)}") from None
    except (ValueError, LookupError) as error:
        raise FormatError(f"{run.file}:{parser.CurrentLineNumber}: {str(error)[:200]}") from None
    if not found:
        raise FormatError(f"{run.file}: there is no <ranking-result>; this is not an export of Appraise")


def _pieces(source: Source, handler: _Handler) -> Iterator[bytes]:
    """Yield pieces that are at least as long as what is unparsed: with each piece the parser begins an element anew.

    Otherwise they are short, because results are collected until a whole piece is parsed.
    """
    waiting = bytearray()
    while chunk := source.read():
        waiting += chunk
        while len(waiting) >= (size := max(_PIECE, handler.unparsed)):
            yield bytes(waiting[:size])
            del waiting[:size]
    yield bytes(waiting)


def _to_judgments(row: _RankingResult, number: int, run: ImportRun) -> list[Judgment]:
    if row.result.get("skipped", "false") == "true":
        run.leave_out("skipped by the judge")
        return []
    if len(row.outputs) > MAX_RANKED:
        raise RecordError("too_many_systems", f"more than {MAX_RANKED} translations", field="translation")
    outputs = [(_get(output, "system", "translation").split(","), output.get("rank", "")) for output in row.outputs]
    ranked = ranked_outputs(run, outputs)
    if not ranked:
        return []
    if sum(len(systems) for systems, _ in ranked) < 2:
        run.leave_out("a single system")
        return []
    root = _ROOT.match(row.root)
    languages = [_get(row.hit, name, "HIT") for name in ("source-language", "target-language")] if row.hit else None
    pair = language_pair(*languages) if languages else None
    return make_judgments(
        run,
        number,
        ranked,
        campaign=campaign_name(run, in_file=root[1].lower() if root else None, pair=pair),
        segment=_get(row.task, "id", "ranking-task or ranking-item"),
        judge=row.result["user"] if "user" in row.result else _get(row.result, "user", "ranking-result"),
        duration_ms=_parse_duration(row.result.get("duration", "")),
    )


def _get(attributes: Attributes, name: str, element: str) -> str:
    if not attributes.get(name):
        raise RecordError("missing_field", f"<{element}> has no {name}", field=name)
    return attributes[name]


def _parse_duration(text: str) -> int | None:
    if not text:
        return None
    found = _DURATION.fullmatch(text)
    if not found:
        raise RecordError("invalid_value", f"{quote(text)} is not a duration; write it as 00:01:30.5", field="duration")
    hours, minutes, seconds, fraction = found.groups(default="")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(fraction.ljust(3, "0") or 0)


FORMAT = Format(
    "appraise", "Appraise's XML export", lambda head: head.start == b"<", row_reader(_read_rows, _to_judgments)
)
