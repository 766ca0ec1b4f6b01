"""Read and write the uniform CSV: one ranking per row.

Systems are separated by `|`, systems that shared one output by `+`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from streams.errors import RecordError
from streams.formats.base import Format, ImportRun
from streams.formats.columns.row_numbers import RowNumbers
from streams.formats.columns.wide import WideColumns
from streams.formats.input.spreadsheets import escape_formula, escape_separators, unescape_formula, unescape_separators
from streams.formats.input.tables import Table
from streams.formats.names import campaign_name, judge_name, segment_name, shorten_name
from streams.formats.rankings import make_judgments, parse_milliseconds, parse_number, parse_rank, parse_time, row_time
from streams.formats.validation import row_reader
from streams.wire.decoding import quote
from streams.wire.events import Judgment
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from streams.formats.base import EntryBatch
    from streams.formats.input.line_buffer import LineBuffer
    from streams.formats.input.sources import Source

COLUMNS = ("campaign", "pair", "seq", "segment", "judge", "systems", "ranks")

# First the columns of published files, then those that only a Judgment has.
_WRITTEN = (
    *("campaign", "pair", "seq", "segment", "judge", "judge_type", "n", "systems", "ranks"),
    *("duration_s", "timestamp", "hit", "id", "score", "request", "source", "tags", "version", "escaped"),
)
_MARKED = "yes"  # in the column `escaped`
_PAIR = re.compile(r"(.+)\.([a-z]{2,3}-[a-z]{2,3})")

_CAMPAIGN = ("campaign", "pair")
_WIDE = WideColumns(
    segment=("segment",),
    judge=("judge",),
    time=("timestamp",),
    id=("id",),
    duration=("duration_s",),
    systems=("systems",),
    ranks=("ranks",),
    number=("seq",),
    empty=("score", "request", "escaped"),
)
_READ = tuple(name for name in _WRITTEN if name not in ("n", "hit"))

_UniformRow = Mapping[str, Any]  # the cells by column, as text


def _read_batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    if not run.columns or run.shared is not None or not run.shared_ties:
        return row_reader(_read_rows, _to_judgments)(source, run)
    from streams.formats.columns.table_reader import CsvBlocks, read_table  # which loads the scanner

    numbers = RowNumbers(_CAMPAIGN)

    class Blocks(CsvBlocks):
        def rows(self) -> Iterator[tuple[int, Mapping[str, object] | RecordError]]:
            return _check_rows(super().rows(), numbers)

    def choose(table: Table) -> dict[str, int]:
        return {name: table.columns[name] for name in _READ if name in table.columns}

    blocks = Blocks(source, _open_table, choose)
    return read_table(blocks, source, run, wide=_WIDE, judge=_judge_checked, numbers=numbers)


def _open_table(source: Source | LineBuffer) -> Table:
    return Table(source, required=COLUMNS, kind="a uniform ranking CSV")


def _read_rows(source: Source, _: ImportRun) -> Iterator[tuple[int, _UniformRow | RecordError]]:
    table = _open_table(source)
    names = tuple(table.columns)
    rows = (
        (line, cells if isinstance(cells, RecordError) else dict(zip(names, cells, strict=True)))
        for line, cells in table.rows()
    )
    return _check_rows(rows, RowNumbers(_CAMPAIGN))


def _check_rows(
    rows: Iterable[tuple[int, _UniformRow | RecordError]], numbers: RowNumbers
) -> Iterator[tuple[int, _UniformRow | RecordError]]:
    """Yield rows. One whose number does not ascend in its campaign is an error."""
    for line, row in rows:
        if isinstance(row, RecordError):
            yield line, row
            continue
        if error := _find_error(row):
            yield line, error
            continue
        seq, place = row["seq"], numbers.place(row)
        before = numbers.last(place)
        if int(seq) <= before and not row.get("id"):
            reason = f"{seq} comes after {before}; number the rows in ascending order: ids are made from it"
            yield line, RecordError("invalid_value", reason, field="seq")
        else:
            numbers.set_last(place, int(seq))
            yield line, row


def _find_error(row: _UniformRow) -> RecordError | None:
    """Return what is wrong with the number or the campaign of a row."""
    if not row["seq"].isdecimal() or len(row["seq"]) > 10:
        return RecordError("invalid_value", f"{quote(row['seq'])} is not a row number", field="seq")
    if len(row["campaign"]) + len(row["pair"]) > MAX_NAME:  # it would be kept
        reason = f"{quote(row['campaign'])} with {quote(row['pair'])} has more than {MAX_NAME} characters"
        return RecordError("invalid_value", reason, field="campaign")
    return None


def _judge_checked(row: _UniformRow, number: int, run: ImportRun) -> list[Judgment]:
    if error := _find_error(row):
        raise error
    return _to_judgments(row, number, run)


def _to_judgments(row: _UniformRow, _: int, run: ImportRun) -> list[Judgment]:
    marked = row.get("escaped") == _MARKED

    def cell(name: str) -> str | None:
        text = row.get(name, "")
        return unescape_formula(text) if marked else text or None

    campaign = campaign_name(run, in_file=row["campaign"], pair=row["pair"])
    seq = int(row["seq"])
    id = cell("id") or shorten_name(f"{campaign}.{seq}")  # noqa: A001 - as in Judgment
    segment, judge = segment_name(cell("segment") or ""), judge_name(cell("judge") or "")
    at = parse_time(row["timestamp"], field="timestamp") if row.get("timestamp") else row_time(seq)
    outputs = [output.split("+") for output in (cell("systems") or "").split("|")]
    if marked:
        outputs = [[unescape_separators(system) for system in output] for output in outputs]
    if row.get("score"):
        systems = tuple(system for output in outputs for system in output)
        score = parse_number(row["score"], field="score")
        found = [Judgment(id=id, campaign=campaign, segment=segment, judge=judge, systems=systems, score=score, at=at)]
    else:
        ranks = row["ranks"].split("|")
        if len(outputs) != len(ranks):
            raise RecordError("length_mismatch", f"{len(outputs)} systems but {len(ranks)} ranks", field="ranks")
        rated = [(systems, parse_rank(rank)) for systems, rank in zip(outputs, ranks, strict=True)]
        found = make_judgments(run, seq, rated, campaign=campaign, segment=segment, judge=judge, at=at, id=id)
    more = {name: text for name in ("request", "source", "version") if (text := cell(name)) is not None}
    if text := cell("tags"):
        found = [msgspec.structs.replace(judgment, tags=_parse_tags(text)) for judgment in found]
    if row.get("judge_type"):
        more.setdefault("source", row["judge_type"])
    if row.get("duration_s"):
        duration_ms = parse_milliseconds(row["duration_s"], field="duration_s")
        found = [msgspec.structs.replace(judgment, duration_ms=duration_ms) for judgment in found]
    return [msgspec.structs.replace(judgment, **more) for judgment in found] if more else found


def _parse_tags(text: str) -> dict[str, str]:
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except msgspec.MsgspecError:
        example = """{"language": "de"}"""
        raise RecordError(
            "invalid_value", f"{quote(text)} is not an object of texts as {example}", field="tags"
        ) from None


def _write(stream: BinaryIO, judgments: Iterable[Judgment]) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=False)
    try:
        table = csv.writer(text, lineterminator="\r\n")  # then a carriage return in a cell is quoted
        table.writerow(_WRITTEN)
        table.writerows(_row(judgment, seq) for seq, judgment in enumerate(judgments, start=1))
    finally:
        text.detach()  # flushes, and leaves the stream open


def _row(judgment: Judgment, seq: int) -> tuple[object, ...]:
    campaign, pair = found.groups() if (found := _PAIR.fullmatch(judgment.campaign)) else (judgment.campaign, "")
    duration = judgment.duration_ms
    plain = (judgment.segment, judgment.judge, "|".join(judgment.systems), judgment.id)
    optional = (judgment.request, judgment.source)
    segment, judge, systems, id = (  # noqa: A001 - as in Judgment
        escape_formula(text) for text in (*plain[:2], "|".join(map(escape_separators, judgment.systems)), judgment.id)
    )
    request, source = map(escape_formula, optional)
    marked = (segment, judge, systems, id) != plain or (request or None, source or None) != optional
    return (
        *(campaign, pair, seq, segment, judge, "", len(judgment.systems)),
        *(systems, "|".join(map(str, judgment.ranks or ()))),
        "" if duration is None else f"{duration // 1000}.{duration % 1000:03d}",
        *(judgment.at.isoformat(), "", id, "" if judgment.score is None else repr(judgment.score)),
        *(request, source, "" if judgment.tags is None else msgspec.json.encode(judgment.tags).decode()),
        *("" if judgment.version == "1" else judgment.version, _MARKED if marked else ""),
    )


FORMAT = Format(
    name="uniform",
    about="the uniform CSV: one ranking per row",
    recognises=lambda head: head.columns.issuperset(COLUMNS),
    batches=_read_batches,
    write=_write,
    suffixes=(".csv",),
)
