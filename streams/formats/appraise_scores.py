"""Read the CSV export of scores from Appraise: direct assessment, SQM, ESA and MQM.

The export has no header, unless somebody has put one above it. Every row begins with user, system, item, type,
languages and score. Then follow, in some campaigns, the document and the error spans, and in all of them two times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from streams.errors import RecordError
from streams.formats.appraise_items import ItemNumbers
from streams.formats.base import Format
from streams.formats.input.head import FileHead
from streams.formats.input.lines import first_lines, read_lines, split_csv
from streams.formats.mqm_weights import ErrorSpan, span_penalty
from streams.formats.names import campaign_name, language_pair, shorten_name, wmt_campaign
from streams.formats.rankings import parse_number, parse_time
from streams.formats.scores import Score, keep_last, make_scores
from streams.formats.validation import row_reader
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_FIXED = 7  # cells that every row has in the same place
_FEWEST = _FIXED + 2
_INSPECTED = 5  # lines
_TARGET = "TGT"
_TYPES = (_TARGET, "BAD", "CHK", "REF", "SRC")
_LANGUAGE = re.compile(r"[a-z]{2,3}([_-][a-z0-9]{1,8})*", re.IGNORECASE)
_OLDEST = 1e8  # seconds since 1970: smaller numbers are no times
_SHORTEST = 1.0  # seconds: the clock of most campaigns is one per document, and many rows have no duration
_RANGE = re.compile(r"\d+-\d+")  # of the segments of a document that were shown
_DOMAIN = re.compile(r"test-[a-z]{2}-([a-z]{1,30})_")
_ITEM_DOMAIN = re.compile(r"[^#]{1,30}_#_([^#]{1,30})_#_")
# The columns under a header, in the order of the rows that have none. Those with a * may be missing.
_COLUMNS = (
    *(("username", "user"), ("system",), ("itemid",), ("itemtype",), ("srclang",), ("trglang", "tgtlang"), ("score",)),
    *(("*", "docid"), ("*", "isdocscore"), ("*", "spans", "errorspans", "mqm"), ("timestart",), ("timeend",)),
)
_BOOLEANS = {"True": True, "False": False}
# Parts of a document's name that mark a row which is not rated.
_MARKS = {"bad": "a control (#bad)", "dup": "a duplicate that fills a task", "incomplete": "an incomplete document"}

_spans = msgspec.json.Decoder(list[ErrorSpan])


class _Row(NamedTuple):
    user: str
    system: str
    item: str
    kind: str
    languages: tuple[str, str]
    score: str
    document: str | None
    of_document: bool
    spans: str | None
    start: str
    end: str


def _parse(cells: list[str]) -> _Row:
    places = range(_FIXED, len(cells) - 1)
    times = next((place for place in places if _is_time(cells[place]) and _is_time(cells[place + 1])), None)
    if times is None:
        raise RecordError("length_mismatch", f"{len(cells)} cells, and no start and end time among the last ones")
    more = cells[_FIXED:times]
    document: str | None = None
    of_document = False
    if len(more) in (2, 3) and more[1] in _BOOLEANS:
        document, of_document = more[0], _BOOLEANS[more[1]]
    elif len(more) not in (0, 2):  # two texts about errors stand in exports of contrastive tasks
        raise RecordError("length_mismatch", f"{len(more)} cells between the score and the times; 0, 2 or 3 are known")
    return _Row(
        user=cells[0],
        system=cells[1],
        item=cells[2],
        kind=cells[3],
        languages=(cells[4], cells[5]),
        score=cells[6],
        document=document,
        of_document=of_document,
        spans=more[2] if len(more) == 3 else None,
        start=cells[times],
        end=cells[times + 1],
    )


def _is_time(text: str) -> bool:
    try:
        return float(text) > _OLDEST
    except ValueError:
        return False


def _not_rated(row: _Row) -> str | None:
    """Return why a row is not rated, or None."""
    if "tutorial" in row.system.lower() or "tutorial" in (row.document or row.item).lower():
        return "a tutorial"
    if row.kind != _TARGET:
        return f"a control ({row.kind})"
    for mark in (row.document or "").split("#")[1:]:
        for name, kind in _MARKS.items():
            if mark.startswith(name):
                return kind
    if row.document == "canary":
        return "a canary"
    return "a score of a whole document" if row.of_document else None


def _segment(row: _Row) -> str:
    """Return the name of the segment. Items are counted within the part of the document that was shown."""
    if row.document is None or "_#_" in row.item:  # this item has the name of its document
        return row.item
    return f"{_document(row)}:{row.item}"


def _document(row: _Row) -> str:
    name, *marks = (row.document or "").split("#")
    return ":".join([name, *(mark for mark in marks if _RANGE.fullmatch(mark))])


def _domain(row: _Row) -> str | None:
    """Return the domain, which the documents of WMT24 and the items of WMT25 have in their names."""
    found = _DOMAIN.match(row.document or "") or _ITEM_DOMAIN.match(row.item)
    return found[1] if found else None


class _Export:
    """The rows of one export. Whether its scores come from the error spans is known after the last row."""

    def __init__(self) -> None:
        self._scored: set[str] = set()  # campaigns with a score other than 0
        self._penalties: dict[str, float] = {}  # by judgment
        self._items = ItemNumbers()
        self._spoiled: set[tuple[str, str, str]] = set()  # user, system and document with a control among its rows

    def judge(self, cells: list[str], number: int, run: ImportRun) -> list[Judgment]:
        """Return the judgment of a row."""
        if len(cells) < _FEWEST:
            raise RecordError("length_mismatch", f"{len(cells)} cells; an export of Appraise has {_FEWEST} or more")
        if cells[3] not in _TYPES:
            known = ", ".join(_TYPES)
            raise RecordError(
                "invalid_value", f"{quote(cells[3])} is not an item type; use one of {known}", field="itemType"
            )
        row = _parse(cells)
        if kind := _not_rated(row):
            run.leave_out(kind)
            if row.kind == "BAD" and "#bad" not in (row.document or "#bad"):
                self._spoiled.add((row.user, row.system, _document(row)))
            return []
        score = parse_number(row.score, field="score")
        at, seconds = parse_time(row.end, field="timeEnd"), float(row.end) - float(row.start)
        judgments = make_scores(
            run,
            number,
            Score(
                system=row.system,
                score=score,
                campaign=campaign_name(run, in_file=wmt_campaign([row.system]), pair=language_pair(*row.languages)),
                segment=shorten_name(_segment(row)),
                judge=row.user,
                at=at,
                duration_ms=int(seconds * 1000) if seconds > _SHORTEST else None,
                domain=_domain(row),
            ),
        )
        run.summary.scale = "z" if row.spans is None else "raw"
        for judgment in judgments:
            self._items.add(judgment)
            if score:
                self._scored.add(judgment.campaign)
            elif row.spans and judgment.campaign not in self._scored and (penalty := _penalty(row.spans)):
                self._penalties[judgment.id] = penalty
        return judgments

    def finish(self, _: int, judgment: Judgment) -> Judgment | str:
        """Return a judgment with its segment, and with the score of its errors if the campaign has no scores."""
        if (judgment.judge, *judgment.systems, judgment.segment.rpartition(":")[0]) in self._spoiled:
            return "in a document with a control"
        if judgment.campaign not in self._scored and judgment.id in self._penalties:
            judgment = msgspec.structs.replace(judgment, score=-self._penalties[judgment.id])
        return self._items.rename(judgment)


def _penalty(spans: str) -> float:
    try:
        return span_penalty(_spans.decode(spans))
    except (ValueError, RecursionError) as error:
        raise RecordError("invalid_value", f"not a list of error spans: {error}", field="spans") from None


def _read_rows(source: Source, _: ImportRun) -> Iterator[tuple[int, list[str] | RecordError]]:
    delimiter = _delimiter(FileHead(source.head))
    order: list[int] | None = None
    width = 0
    for line, text in read_lines(source):
        if isinstance(text, RecordError):
            yield line, text
            continue
        try:
            cells = split_csv(text, delimiter)
        except RecordError as error:
            yield line, error
            continue
        if line == 1 and (places := _order(cells)):
            width = len(cells)
            order = None if places == list(range(width)) else places
        elif order is None:
            yield line, cells
        elif len(cells) == width:
            yield line, [cells[place] for place in order]
        else:
            yield line, RecordError("length_mismatch", f"{len(cells)} cells, but the header has {width}")


def _delimiter(head: FileHead) -> str:
    return head.delimiter if head.delimiter in "\t;" else ","


def _order(cells: list[str]) -> list[int] | None:
    """Return the places of the columns under a header, or None if this is no header.

    >>> _order("system,itemId,itemType,score,username,srcLang,trgLang,timeStart,timeEnd".split(","))
    [4, 0, 1, 2, 5, 6, 3, 7, 8]
    """
    places = {cell.strip().lower().replace("_", ""): place for place, cell in reversed(list(enumerate(cells)))}
    order = []
    for names in _COLUMNS:
        found = next((places[name] for name in names if name in places), None)
        if found is not None:
            order.append(found)
        elif names[0] != "*":
            return None
    named = [cell.strip().lower() for cell in cells[1:4]] == ["system", "itemid", "itemtype"]
    return list(range(len(cells))) if named else order  # the usual order may have columns with other names


def _batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    export = _Export()
    return keep_last(row_reader(_read_rows, export.judge)(source, run), run, finish=export.finish)


def _recognise(head: FileHead) -> bool:
    for line in first_lines(head, most=_INSPECTED):
        try:
            cells = split_csv(line, _delimiter(head))
            if _order(cells) or _is_row(cells):
                return True
        except RecordError:
            continue
    return False


def _is_row(cells: list[str]) -> bool:
    if len(cells) < _FEWEST or cells[3] not in _TYPES or not all(map(_LANGUAGE.fullmatch, cells[4:6])):
        return False
    parse_number(_parse(cells).score, field="score")
    return True


FORMAT = Format("appraise-scores", "Appraise's CSV export of scores: DA, SQM, ESA and MQM", _recognise, _batches)
