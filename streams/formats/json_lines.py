"""JSON Lines of judgments as on the wire: the format that is read fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.ahead import read_ahead
from streams.formats.base import EntryBatch, Format
from streams.formats.limits import MAX_LINE
from streams.formats.names import campaign_name, clean_campaign, judge_name, segment_name
from streams.formats.unnamed import UnnamedCounter, count_unnamed
from streams.formats.validation import decode_lines
from streams.wire.decoding import decode
from streams.wire.events import Judgment
from streams.wire.scanner import Scanner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Command
    from streams.wire.scanner import JudgmentColumns

_JUDGMENTS_PER_WRITE = 1000
_BLOCK = 3 * 2**20  # bytes that are scanned at once: fewer judgments than the ids that a campaign remembers
_encoder = msgspec.json.Encoder()


def _read_batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    line, unnamed = 1, UnnamedCounter()
    blocks = read_ahead(_scan_blocks(source)) if run.columns and run.campaign is None else _without_columns(source)
    for block, count, columns in blocks:
        judgments: Sequence[Judgment] | None = columns
        if judgments is None:
            judgments = [] if block.isspace() else decode_lines(block, count)
        if judgments:
            run.summary.rows += count
            run.summary.judged += count
            run.summary.judgments += count
            if columns is None:
                count_unnamed(block, judgments, run)
            else:
                unnamed.count(columns, run)
            yield EntryBatch(range(line, line + count), _rename_campaign(judgments, run))
        elif judgments is None:
            yield from _decode_one_by_one(block, line, run)
        line += count


def _without_columns(source: Source) -> Iterator[tuple[bytes, int, None]]:
    return ((block, count, None) for block, count in _read_blocks(source))


def _scan_blocks(source: Source) -> Iterator[tuple[bytes, int, JudgmentColumns | None]]:
    scanner = Scanner()
    return ((block, count, scanner.scan(block, count)) for block, count in _read_blocks(source, _BLOCK))


def _read_blocks(source: Source, least: int = 0) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines, with the number of lines. Each line ends with a line feed.

    A block has at least `least` bytes, except the last one.
    """
    lines: list[bytes] = []
    rest: list[bytes] = []  # of a line whose end has not been read
    waiting, size, line = 0, 0, 1
    while data := source.read():
        end = data.rfind(b"\n") + 1
        if end:
            lines += (*rest, data[:end])
            waiting += size + end
            rest, size = [], 0
        if waiting and waiting >= least:
            block = b"".join(lines)
            count = block.count(b"\n")
            yield block, count
            line += count
            lines, waiting = [], 0
        rest.append(data[end:])
        size += len(data) - end
        if size > MAX_LINE:
            line += sum(part.count(b"\n") for part in lines)
            raise FormatError(f"{source.name}:{line}: a line of more than {MAX_LINE:,} bytes")
    if size:
        lines += (*rest, b"\n")
    if lines:
        block = b"".join(lines)
        yield block, block.count(b"\n")


def _decode_one_by_one(block: bytes, first: int, run: ImportRun) -> Iterator[EntryBatch]:
    """Read a block in which at least one line is not a ranking, is nested, or is bad."""
    lines: list[int] = []
    judgments: list[Judgment] = []
    for line, text in enumerate(block.split(b"\n")[:-1], start=first):
        if not text or text.isspace():
            continue
        run.summary.rows += 1
        try:
            event = _decode(text)
        except RecordError as error:
            yield EntryBatch(lines, _rename_campaign(judgments, run))
            lines, judgments = [], []
            run.bad(line, error)
            continue
        if isinstance(event, Judgment):
            run.summary.judged += 1
            run.count((event,))
            lines.append(line)
            judgments.append(event)
        else:
            run.leave_out("a command")
    yield EntryBatch(lines, _rename_campaign(judgments, run))


def _decode(text: bytes) -> Judgment | Command:
    """Decode a line. An empty judge or segment, and other characters in a campaign name, are mapped as in all files."""
    try:
        return decode(text, max_bytes=MAX_LINE)
    except RecordError as error:
        if error.field not in ("judge", "segment", "campaign"):
            raise
        try:
            fields = msgspec.json.decode(text, type=dict[str, object])
            mapped = {name: _MAPPED[name](value) for name in _MAPPED if isinstance(value := fields.get(name, ""), str)}
            return decode(_encoder.encode(fields | mapped), max_bytes=MAX_LINE)
        except (RecordError, ValueError):
            raise error from None


_MAPPED: dict[str, Callable[[str], str]] = {"judge": judge_name, "segment": segment_name, "campaign": clean_campaign}


def _rename_campaign(judgments: Sequence[Judgment], run: ImportRun) -> Sequence[Judgment]:
    if run.campaign is None:
        return judgments
    campaign = campaign_name(run)
    return [msgspec.structs.replace(judgment, campaign=campaign) for judgment in judgments]


def _write(stream: BinaryIO, judgments: Iterable[Judgment]) -> None:
    waiting: list[Judgment] = []
    for judgment in judgments:
        waiting.append(judgment)
        if len(waiting) == _JUDGMENTS_PER_WRITE:
            stream.write(_encoder.encode_lines(waiting))
            waiting.clear()
    stream.write(_encoder.encode_lines(waiting))


def _recognise(head: FileHead) -> bool:
    is_judgment = {"systems", "campaign"} <= head.keys
    is_command = {"action", "campaign"} <= head.keys
    return head.start == b"{" and (is_judgment or is_command)


FORMAT = Format(
    name="jsonl",
    about="JSON Lines of judgments, as on the wire",
    recognises=_recognise,
    batches=_read_batches,
    write=_write,
    suffixes=(".jsonl", ".ndjson"),
)
