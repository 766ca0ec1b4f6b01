"""JSON Lines of our own judgments, as they stand on the wire: the form that is read quickest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.base import MAX_LINE, EntryBatch, Format
from streams.formats.names import campaign_name
from streams.formats.validation import decode_lines
from streams.wire.decoding import decode
from streams.wire.events import Judgment
from streams.wire.scanner.blocks import Scanner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.scanner.blocks import Scanned

_WRITTEN = 1000  # judgments that are encoded together
_encoder = msgspec.json.Encoder()


def _batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    line = 1
    for block, count, scanned in _scanned(source) if run.columns and run.campaign is None else _unscanned(source):
        judgments: Sequence[Judgment] | None = scanned
        if judgments is None:
            judgments = [] if block.isspace() else decode_lines(block, count)
        if judgments:
            run.summary.rows += count
            run.summary.judged += count
            run.summary.judgments += count
            yield EntryBatch(range(line, line + count), _renamed(judgments, run))
        elif judgments is None:
            yield from _one_by_one(block, line, run)
        line += count


def _unscanned(source: Source) -> Iterator[tuple[bytes, int, None]]:
    return ((block, count, None) for block, count in _blocks(source))


def _scanned(source: Source) -> Iterator[tuple[bytes, int, Scanned | None]]:
    """Give each block with its columns, while a thread scans the next one."""
    scanner = Scanner()
    with ThreadPoolExecutor(1, thread_name_prefix="scanner") as thread:
        ahead: tuple[bytes, int, Future[Scanned | None]] | None = None
        for block, count in _blocks(source):
            scanning = thread.submit(scanner.scan, block, count)
            if ahead is not None:
                yield ahead[0], ahead[1], ahead[2].result()
            ahead = block, count, scanning
        if ahead is not None:
            yield ahead[0], ahead[1], ahead[2].result()


def _blocks(source: Source) -> Iterator[tuple[bytes, int]]:
    """Give whole lines, as many as come at once, each with its end, and their number."""
    kept: list[bytes] = []
    size, line = 0, 1
    while data := source.read():
        end = data.rfind(b"\n") + 1
        if end:
            block = b"".join([*kept, data[:end]])
            count = block.count(b"\n")
            yield block, count
            line += count
            kept, size = [], 0
        kept.append(data[end:])
        size += len(data) - end
        if size > MAX_LINE:
            raise FormatError(f"{source.name}:{line}: a line of more than {MAX_LINE:,} bytes")
    if size:
        yield b"".join(kept) + b"\n", 1


def _one_by_one(block: bytes, first: int, run: ImportRun) -> Iterator[EntryBatch]:
    """Read lines of which one at least is no ranking or has something nested in it."""
    lines: list[int] = []
    judgments: list[Judgment] = []
    for line, text in enumerate(block.split(b"\n")[:-1], start=first):
        if not text or text.isspace():
            continue
        run.summary.rows += 1
        try:
            event = decode(text, max_bytes=MAX_LINE)
        except RecordError as error:
            yield EntryBatch(lines, _renamed(judgments, run))
            lines, judgments = [], []
            run.bad(line, error)
            continue
        if isinstance(event, Judgment):
            run.summary.judged += 1
            run.summary.judgments += 1
            lines.append(line)
            judgments.append(event)
        else:
            run.leave_out("a command")
    yield EntryBatch(lines, _renamed(judgments, run))


def _renamed(judgments: Sequence[Judgment], run: ImportRun) -> Sequence[Judgment]:
    if run.campaign is None:
        return judgments
    campaign = campaign_name(run)
    return [msgspec.structs.replace(judgment, campaign=campaign) for judgment in judgments]


def _write(stream: BinaryIO, judgments: Iterable[Judgment]) -> None:
    waiting: list[Judgment] = []
    for judgment in judgments:
        waiting.append(judgment)
        if len(waiting) == _WRITTEN:
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
    batches=_batches,
    write=_write,
    suffixes=(".jsonl", ".ndjson"),
)
