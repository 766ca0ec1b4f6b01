"""Turn rows into valid judgments. A row is bad for the same reasons for which a worker rejects a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from streams.errors import RecordError
from streams.formats.base import EntryBatch
from streams.formats.limits import MAX_LINE
from streams.wire.decoding import check, decode
from streams.wire.events import Judgment, encode
from streams.wire.limits import MAX_NAME, MAX_SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from streams.formats.base import ImportRun
    from streams.formats.input.sources import Source

_JUDGMENTS = 256  # that are validated together, or more if a row has more

_ParsedRow = TypeVar("_ParsedRow")
_decoder = msgspec.json.Decoder(Judgment)
_encoder = msgspec.json.Encoder()


def row_reader(
    rows: Callable[[Source, ImportRun], Iterable[tuple[int, _ParsedRow | RecordError]]],
    judge: Callable[[_ParsedRow, int, ImportRun], Iterable[Judgment]],
) -> Callable[[Source, ImportRun], Iterator[EntryBatch]]:
    """Return the `batches` function of a format that is read row by row.

    `rows` yields every row with its line number. `judge` receives a row and its number, and returns its judgments. If
    it returns none, it has counted the row with `run.leave_out`.
    """

    def batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
        pending: list[tuple[int, list[Judgment]]] = []
        waiting = 0  # judgments
        # The numbers go on from the file before, if the log has several: ids and times are made from them.
        for number, (line, row) in enumerate(rows(source, run), start=run.summary.rows + 1):
            run.summary.rows += 1
            try:
                if isinstance(row, RecordError):
                    raise row
                if judgments := list(judge(row, number, run)):
                    if _has_long_text(judgments[0]):  # else many of them could wait
                        validate_one(judgments[0])
                    pending.append((line, judgments))
                    waiting += len(judgments)
            except RecordError as error:
                yield from _validate(pending, run)
                pending, waiting = [], 0
                run.bad(line, error)
            if waiting >= _JUDGMENTS:
                yield from _validate(pending, run)
                pending, waiting = [], 0
        yield from _validate(pending, run)

    return batches


def decode_lines(data: bytes, count: int) -> list[Judgment] | None:
    """Decode `count` lines at once. Return None if a line must be decoded on its own, with `decode`."""
    try:
        if not data.isascii():
            data.decode()
        judgments = _decoder.decode_lines(data)
        for judgment in judgments:
            check(judgment)
    except (RecordError, ValueError, RecursionError):
        return None
    # Brackets of a ranking: of the object, of its systems, of its ranks and of its tags, if it has any.
    brackets = 3 * count + sum((judgment.tags is not None) - (judgment.ranks is None) for judgment in judgments)
    if len(judgments) != count or data.count(b"[") + data.count(b"{") != brackets:
        return None  # something is nested, perhaps too deep
    return judgments


def _has_long_text(judgment: Judgment) -> bool:
    names = (judgment.id, judgment.campaign, judgment.segment, judgment.judge, judgment.version, *judgment.systems)
    if judgment.tags:
        names += (*judgment.tags, *judgment.tags.values())
    more = len(judgment.source or "") > MAX_SOURCE or len(judgment.request or "") > MAX_NAME
    return more or any(len(text) > MAX_NAME for text in names)


def _validate(pending: list[tuple[int, list[Judgment]]], run: ImportRun) -> Iterator[EntryBatch]:
    if not pending:
        return
    lines = [line for line, judgments in pending for _ in judgments]
    made = [judgment for _, judgments in pending for judgment in judgments]
    try:
        judgments = decode_lines(_encoder.encode_lines(made), len(made))
    except ValueError:  # a lone surrogate, which JSON can't contain
        judgments = None
    if judgments is not None:
        run.summary.judged += len(pending)
        run.count(judgments)
        yield EntryBatch(lines, judgments)
        return
    for line, row in pending:
        try:
            judgments = [validate_one(judgment) for judgment in row]
        except RecordError as error:
            run.bad(line, error)
        else:
            run.summary.judged += 1
            run.count(judgments)
            yield EntryBatch([line] * len(judgments), judgments)


def validate_one(judgment: Judgment) -> Judgment:
    """Return a judgment as a worker would decode it. Raise RecordError if a worker would reject it."""
    try:
        value = encode(judgment)
    except ValueError:
        raise RecordError("invalid_utf8", "the text contains half a character (a lone surrogate)") from None
    sound = decode(value, max_bytes=MAX_LINE)
    assert isinstance(sound, Judgment)
    return sound
