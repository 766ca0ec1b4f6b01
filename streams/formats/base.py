"""What all formats share: the entries that come out, the form of a format, and the account of one reading."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from streams.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from streams.errors import RecordError
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment, Reason

MAX_LINE = 2**20  # bytes of a line, or of a row of several lines
MAX_DOCUMENT = 2**23  # bytes of one JSON object: a task may carry whole conversations


class Entry(NamedTuple):
    """A judgment and the line that it stands on."""

    line: int
    judgment: Judgment


class EntryBatch(NamedTuple):
    """Judgments that were read together, and the line of each."""

    lines: Sequence[int]
    judgments: Sequence[Judgment]


class RowError(FormatError):
    """One row that is no judgment: where it stands, which field is wrong, and the reason as a rejection has it."""

    def __init__(self, file: str, line: int, error: RecordError) -> None:
        place = f"{file}:{line}: {error.field}" if error.field else f"{file}:{line}"
        super().__init__(f"{place}: {error.message}")
        self.file = file
        self.line = line
        self.field = error.field
        self.reason: Reason = error.reason


@dataclass
class Summary:
    """The account of a reading: every row gave judgments, or was skipped, or was left out."""

    rows: int = 0
    judged: int = 0  # rows that gave judgments
    judgments: int = 0
    unranked: int = 0  # outputs that were shown, but that the judge did not rank
    skipped: Counter[str] = field(default_factory=Counter)  # bad rows, by reason
    left_out: Counter[str] = field(default_factory=Counter)  # rows that are sound and no judgments, by kind


@dataclass
class ImportRun:
    """One reading of one file: its options, and the account that it gives."""

    file: str
    on_bad: Callable[[RowError], None]
    campaign: str | None = None
    shared_ties: bool = True
    columns: bool = False
    shared: dict[str, tuple[tuple[str, ...], ...]] | None = None  # by judgment: its outputs, where systems shared one
    summary: Summary = field(default_factory=Summary)

    def bad(self, line: int, error: RecordError) -> None:
        """Account for a bad row; raise it, if that is how bad rows are taken."""
        self.summary.skipped[error.reason] += 1
        self.on_bad(RowError(self.file, line, error))

    def leave_out(self, kind: str) -> None:
        """Account for a row that is sound, and no judgment."""
        self.summary.left_out[kind] += 1


@dataclass(frozen=True)
class Format:
    """A form that logs come in: how to know it, to read it and, for some, to write it."""

    name: str
    about: str
    recognises: Callable[[FileHead], bool]
    batches: Callable[[Source, ImportRun], Iterator[EntryBatch]]
    write: Callable[[BinaryIO, Iterable[Judgment]], None] | None = None
    suffixes: tuple[str, ...] = ()  # of the files that are written in it
