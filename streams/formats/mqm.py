"""Read MQM errors as tab-separated values, one error per row, as Google publishes them and Marot exports them.

A quote is a plain character there, but not in a file that was saved again with commas or semicolons. A rating is all
rows of one rater for one output: its score is minus the sum of the weights of its errors, so that higher is better. A
row `No-error` has the weight 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.base import EntryBatch, Format
from streams.formats.input.head import FileHead
from streams.formats.input.lines import first_lines, read_lines
from streams.formats.input.tables import Table
from streams.formats.mqm_weights import CONTROL, error_weight
from streams.formats.names import ANONYMOUS, campaign_name, shorten_name
from streams.formats.rankings import parse_number, parse_time
from streams.formats.scores import Score, add_up, make_scores
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime

    from streams.formats.base import ImportRun
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_REQUIRED = ("system", "doc", "rater")
_SEGMENT = ("globalsegid", "seg_id", "docsegid", "doc_id")  # the first one that is present and not empty counts
_PAIR = re.compile(r":([a-z]{2,3}-[a-z]{2,3})$", re.IGNORECASE)
_SIDE_BY_SIDE = "_with_"  # between a system and the one that was shown beside it


class _Metadata(msgspec.Struct):
    timestamp: float | None = None  # milliseconds since 1970


_metadata = msgspec.json.Decoder(_Metadata)


def _names(line: str) -> list[str]:
    """Return the names of the columns. A comment in the last cells of a header names no column."""
    names = [name.strip().strip('"').lower() for name in line.rstrip("\r\n").split("\t")]
    while names and (not names[-1] or names[-1].startswith("#")):
        names.pop()
    return names


def _read_rows(source: Source, run: ImportRun) -> Iterator[tuple[int, Mapping[str, str] | RecordError]]:
    if _is_header(_columns(FileHead(source.head))):
        table = Table(source, required=_REQUIRED, kind="a file of MQM errors")
        for line, row in table.rows():
            yield line, row if isinstance(row, RecordError) else dict(zip(table.columns, row, strict=True))
        return
    lines = read_lines(source)
    _, header = next(lines, (1, ""))
    names = _names(header) if isinstance(header, str) else []
    if not _is_header(names):
        missing = ", ".join(name for name in (*_REQUIRED, "category", "severity") if name not in names)
        raise FormatError(f"{run.file}:1: no column {missing}; this is not a file of MQM errors")
    for line, text in lines:
        if isinstance(text, RecordError):
            yield line, text
            continue
        cells = text.split("\t")
        if len(cells) < len(names) - 1:  # an empty last cell may be missing
            yield line, RecordError("length_mismatch", f"{len(cells)} cells, but the header has {len(names)}")
        else:
            yield line, dict(zip(names, (cell.strip() for cell in cells), strict=False))


def _to_judgments(row: Mapping[str, str], number: int, run: ImportRun) -> list[Judgment]:
    if "severity" in row or "score" not in row:
        severity = row.get("severity", "")
        if severity.lower() == CONTROL:
            run.leave_out("a control (HOTW-test)")
            return []
        score = 0.0 - error_weight(severity, row.get("category", ""))
    else:
        score = parse_number(row["score"], field="score")
    document = row["doc"]
    segment = next((row[name] for name in _SEGMENT if row.get(name)), None)
    if segment is None:
        raise RecordError("missing_field", "the segment has no id", field="seg_id")
    pair = _PAIR.search(document)
    run.summary.scale = "raw"
    return make_scores(
        run,
        number,
        Score(
            system=row["system"],
            score=score,
            campaign=campaign_name(run, pair=pair[1].lower() if pair else None),
            segment=shorten_name(f"{document}:{segment}"),
            judge=row["rater"] or ANONYMOUS,
            at=_time(row.get("metadata", "")),
        ),
    )


def _time(metadata: str) -> datetime | None:
    if not metadata:
        return None
    try:
        milliseconds = _metadata.decode(metadata).timestamp
    except (ValueError, RecursionError) as error:
        raise RecordError("invalid_value", f"not a JSON object: {error}", field="metadata") from None
    return None if milliseconds is None else parse_time(milliseconds / 1000, field="metadata")


def _batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    for lines, judgments in add_up(row_reader(_read_rows, _to_judgments)(source, run), run):
        yield EntryBatch(lines, [_without_partner(judgment) for judgment in judgments])


def _without_partner(judgment: Judgment) -> Judgment:
    """Return the judgment of the system alone, once the errors beside each partner have been added up."""
    system = judgment.systems[0].partition(_SIDE_BY_SIDE)[0]
    return judgment if system in ("", judgment.systems[0]) else msgspec.structs.replace(judgment, systems=(system,))


def _columns(head: FileHead) -> Collection[str]:
    """Return the columns of a file that was saved again with another delimiter."""
    return head.columns if head.delimiter in ",;" else ()


def _is_header(names: Collection[str]) -> bool:
    has_errors = "category" in names and "severity" in names
    return all(name in names for name in _REQUIRED) and (has_errors or "score" in names)


def _recognise(head: FileHead) -> bool:
    return _is_header(_columns(head)) or any(_is_header(_names(line)) for line in first_lines(head, most=1))


FORMAT = Format("mqm", "MQM errors or pSQM scores as TSV, one row per error", _recognise, _batches)
