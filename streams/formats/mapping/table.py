"""Read a table by a column mapping: CSV, JSON, JSON Lines or Parquet. Every row has its cells by role, as text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from streams.errors import FormatError, RecordError, suggestion
from streams.formats import parquet
from streams.formats.arena import BOTH_BAD, is_both_bad
from streams.formats.base import Format
from streams.formats.columns.wide import WideColumns
from streams.formats.features import OutputColumns
from streams.formats.input.documents import read_documents
from streams.formats.input.sources import PARQUET
from streams.formats.input.tables import Table
from streams.formats.mapping.verdicts import A_BETTER, TIED, VerdictReader, normal, parse_decimal, parse_share
from streams.formats.names import ANONYMOUS, UNSPECIFIED, campaign_name, content_id, shorten_name
from streams.formats.platforms import mturk
from streams.formats.rankings import make_judgments, parse_milliseconds, parse_time, refuse_long_names, row_time
from streams.formats.validation import row_reader
from streams.wire.decoding import quote
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.columns.templates import JudgeRow
    from streams.formats.input.documents import Document
    from streams.formats.input.sources import Source
    from streams.formats.mapping.column_mapping import ColumnMapping

    _MappedRow = Mapping[str, str]  # the cells by role

NAME = "columns"
_WIDE = WideColumns(
    segment=("segment",), judge=("judge",), time=("at",), id=("id",), duration=("duration",), is_stripped=True
)
_OUTPUTS = OutputColumns(systems=(("a", "b"),), texts=(("text_a", "text_b"),))
_RANKED_OUTPUTS = OutputColumns(
    systems=(("winner", "loser"),), texts=(("text_winner", "text_loser"),), suffixes=("_winner", "_loser")
)


def mapped_format(mapping: ColumnMapping) -> Format:
    """Return the format of the tables with these columns."""
    judge = partial(_judge_row, mapping, VerdictReader(mapping))

    def batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
        is_text = not source.head.startswith(PARQUET) and source.head.lstrip()[:1] not in (b"[", b"{")
        if run.columns and is_text and mapping.layout != "score":
            return _read_columns(mapping, judge, source, run)
        return row_reader(partial(_read_rows, mapping), judge)(source, run)

    return Format(
        name=NAME,
        about="a table whose columns are named by --columns",
        recognises=lambda _: False,
        batches=batches,
    )


def _read_columns(mapping: ColumnMapping, judge: JudgeRow, source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    from streams.formats.columns.table_reader import CsvBlocks, read_table  # which loads the scanner

    def choose(table: Table) -> dict[str, int]:
        found = find_columns(mapping, table.header, place=f"{source.name}:1")
        return {role: table.header.index(column) for role, column in found.items()}

    blocks = CsvBlocks(source, partial(Table, required=(), kind="a table"), choose, is_stripped=True)
    return read_table(blocks, source, run, wide=_WIDE, judge=judge)


def _read_rows(
    mapping: ColumnMapping, source: Source, run: ImportRun
) -> Iterator[tuple[int, _MappedRow | RecordError]]:
    if source.head.startswith(PARQUET):
        return _read_parquet(mapping, source, run)
    if source.head.lstrip()[:1] in (b"[", b"{"):
        return _read_json(mapping, source, run)
    return _read_csv(mapping, source, run)


def _read_csv(mapping: ColumnMapping, source: Source, run: ImportRun) -> Iterator[tuple[int, _MappedRow | RecordError]]:
    table = Table(source, required=(), kind="a table")
    _note_fields(run, table.header)
    found = find_columns(mapping, table.header, place=f"{source.name}:1")
    places = [(role, table.header.index(column)) for role, column in found.items()]
    for line, cells in table.rows():
        if isinstance(cells, RecordError):
            yield line, cells
        else:
            yield line, {role: cells[place].strip() for role, place in places}


def _read_json(
    mapping: ColumnMapping, source: Source, run: ImportRun
) -> Iterator[tuple[int, _MappedRow | RecordError]]:
    unseen = dict(mapping.columns)
    spelled = dict(mapping.columns)  # as in the file
    keys: dict[str, None] = {}
    for line, document in read_documents(source):
        if isinstance(document, RecordError):
            yield line, document
            continue
        _note_fields(run, document)
        for role, column in list(unseen.items()):
            if (key := _find_key(document, column)) is not None:
                spelled[role] = key
                del unseen[role]
        if unseen and len(keys) < 1000:
            keys |= dict.fromkeys(document)
        try:
            yield line, {role: to_text(_get(document, key), role, key) for role, key in spelled.items()}
        except RecordError as error:
            yield line, error
    if unseen and keys:
        column = next(iter(unseen.values()))
        raise FormatError(f"{source.name}: no object has the key {quote(column)}; {suggestion(column, keys)}")


def _read_parquet(
    mapping: ColumnMapping, source: Source, run: ImportRun
) -> Iterator[tuple[int, _MappedRow | RecordError]]:
    found: dict[str, str] = {}

    def choose(names: list[str]) -> list[str]:
        found.update(find_columns(mapping, names, place=run.file))
        _note_fields(run, names)
        return list(dict.fromkeys(found.values()))

    shortened = [name for role, name in mapping.columns.items() if role == "segment"]
    whole = [name.lower() for role, name in mapping.columns.items() if role.startswith("text_")] if run.features else []
    for number, row in parquet.read_rows(source, run, choose=choose, shortened=shortened, whole=whole):
        try:
            yield number, {role: to_text(row[name], role, name) for role, name in found.items()}
        except RecordError as error:
            yield number, error


def _note_fields(run: ImportRun, names: Iterable[str]) -> None:
    """Keep the names of all columns, for the message that none of them has a feature."""
    if run.features is not None and not run.features.fields:
        run.features.fields = tuple(filter(None, names))


def find_columns(mapping: ColumnMapping, names: list[str], *, place: str) -> dict[str, str]:
    """Return the columns of a mapping as a table spells them. Raise FormatError for one that is missing.

    Results of Mechanical Turk have more columns that count: rejected assignments are left out.
    """
    known = {normal(name): name for name in reversed(names)}
    found = {}
    for role, column in mapping.columns.items():
        if column not in names and normal(column) not in known:
            raise FormatError(f"{place}: no column {quote(column)}; {suggestion(column, filter(None, names))}")
        found[role] = column if column in names else known[normal(column)]
    return found | {name: known[name] for name in mturk.status_columns(known)}


def _find_key(document: Document, column: str) -> str | None:
    """Return the key of a column, which may be a path with dots. Return None if the object does not have it."""
    if column in document or _get(document, column) is not None:
        return column
    return next((key for key in document if normal(key) == normal(column)), None)


def _get(document: Document, key: str) -> object:
    if key in document or "." not in key:
        return document.get(key)
    found: object = document
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def to_text(value: object, role: str, column: str) -> str:
    """Return a cell of JSON or Parquet as the text that a CSV would have."""
    if isinstance(value, str):
        return value.strip()
    if value is None or value != value:  # the second is not a number
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    if role.startswith("text_") or role == "winner":  # a conversation, or a selection of Label Studio
        return msgspec.json.encode(value).decode()
    shown = "the value, which is private," if role in ("judge", "id") else quote(value)
    raise RecordError("invalid_value", f"{shown} is not a text or a number", field=column)


def _judge_row(
    mapping: ColumnMapping, reader: VerdictReader, row: _MappedRow, number: int, run: ImportRun
) -> list[Judgment]:
    judgments = _to_judgments(mapping, reader, row, number, run)
    if run.features is not None:
        run.features.observe(row, judgments, _RANKED_OUTPUTS if mapping.layout == "outcome" else _OUTPUTS)
    return judgments


def _to_judgments(
    mapping: ColumnMapping, reader: VerdictReader, row: _MappedRow, number: int, run: ImportRun
) -> list[Judgment]:
    if mturk.STATUS in row and mturk.is_rejected(row):
        run.leave_out(mturk.REJECTED)
        return []
    columns = mapping.columns
    campaign = campaign_name(run, in_file=row.get("campaign"))
    segment = shorten_name(row.get("segment") or UNSPECIFIED)
    judge = row.get("judge") or ANONYMOUS
    at = parse_time(row["at"], field=columns["at"]) if row.get("at") else None
    source = row.get("source") or None
    duration = row.get("duration")
    duration_ms = parse_milliseconds(duration, field=columns["duration"]) if duration else None
    if mapping.layout == "score":
        refuse_long_names(campaign=campaign, judge=judge, system=row["system"])
        score = parse_decimal(_required(row, "score", columns), field=columns["score"])
        system = _required(row, "system", columns)
        return [
            Judgment(
                id=row.get("id") or content_id(number, campaign, segment, judge, system, str(score)),
                campaign=campaign,
                segment=segment,
                judge=judge,
                systems=(system,),
                score=score,
                at=at or row_time(number),
                duration_ms=duration_ms,
                source=source,
            )
        ]
    ranked = _compare(mapping, reader, row)
    if ranked is None:
        run.leave_out("no verdict")
        return []
    return make_judgments(
        run,
        number,
        [((system,), rank) for system, rank in ranked],
        campaign=campaign,
        segment=segment,
        judge=judge,
        at=at,
        id=row.get("id") or None,
        duration_ms=duration_ms,
        source=source,
        tags={"outcome": BOTH_BAD} if is_both_bad(row.get("winner", "")) else None,
    )


def _compare(mapping: ColumnMapping, reader: VerdictReader, row: _MappedRow) -> list[tuple[str, int]] | None:
    """Return the two systems with their ranks, in the order in which they were shown, if the table tells it."""
    columns = mapping.columns
    if mapping.layout == "outcome":
        winner, loser = _required(row, "winner", columns), _required(row, "loser", columns)
        tied = "tie" in columns and parse_share(row["tie"], field=columns["tie"]) > 0
        # The order on the screen is not known. Sorted names favour no position; the winner first would.
        return sorted(zip((winner, loser), TIED if tied else A_BETTER, strict=True))
    systems = _required(row, "a", columns), _required(row, "b", columns)
    ranks = reader.read(row, systems)
    return None if ranks is None else list(zip(systems, ranks, strict=True))


def _required(row: _MappedRow, role: str, columns: Mapping[str, str]) -> str:
    if not row[role]:
        raise RecordError("missing_field", "the cell is empty", field=columns[role])
    return row[role]
