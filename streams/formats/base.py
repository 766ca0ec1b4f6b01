"""Types that all formats share: entries, batches, the summary of a file, and the description of a format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from streams.errors import FormatError, RecordError
from streams.formats.names import ANONYMOUS, UNSPECIFIED
from streams.formats.recent import RecentConversations
from streams.quoting import safe
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from streams.formats.features import OutputFeatures
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.formats.mapping.column_mapping import ColumnMapping
    from streams.wire.events import Judgment
    from streams.wire.reasons import Reason


_MOST_QUESTIONS = 10


class Entry(NamedTuple):
    """A judgment and its line number."""

    line: int
    judgment: Judgment


class EntryBatch(NamedTuple):
    """Judgments that were read together, and the line number of each."""

    lines: Sequence[int]
    judgments: Sequence[Judgment]


class UnknownFormat(FormatError):  # noqa: N818 - a condition, like StoreUnavailable
    """A file is like no known format. `mapping` is the likeliest mapping of its columns, and `summary` the rest.

    `likely` is the likeliest format of a file without columns.
    """

    def __init__(
        self, summary: str, *, way_out: str = "", mapping: ColumnMapping | None = None, likely: str | None = None
    ) -> None:
        super().__init__(f"{summary} {way_out}".rstrip())
        self.summary = safe(summary)
        self.mapping = mapping
        self.likely = likely

    @property
    def options(self) -> list[str]:
        """The options of a command that reads the file, if they are known."""
        if self.mapping is not None:
            return self.mapping.options()
        return [] if self.likely is None else ["--from", self.likely]


class RowError(FormatError):
    """A row can't be read as a judgment.

    `file`, `line` and `field` locate the error. `reason` is the one that a worker would reject the record for.
    `mapping` is one of the columns that reads the row, if the file has other words for its verdicts.
    """

    mapping: ColumnMapping | None = None

    def __init__(self, file: str, line: int, error: RecordError) -> None:
        place = f"{file}:{line}: {error.field}" if error.field else f"{file}:{line}"
        super().__init__(f"{place}: {error.message}")
        self.file = file
        self.line = line
        self.field = error.field
        self.reason: Reason = error.reason


@dataclass
class Summary:
    """Counts of one read. Every row is counted once: in `judged`, `skipped` or `left_out`."""

    rows: int = 0
    judged: int = 0  # rows that became judgments
    judgments: int = 0
    unranked: int = 0  # outputs that the judge saw but did not rank
    skipped: Counter[str] = field(default_factory=Counter)  # bad rows, by reason
    left_out: Counter[str] = field(default_factory=Counter)  # valid rows that are not judgments, by kind
    # How the official results use the scores of such a file: standardised by judge, or as given. None: not known.
    scale: Literal["z", "raw"] | None = None
    anonymous: int = 0  # judgments that name no judge
    unspecified: int = 0  # judgments that name no segment
    questions: dict[str, None] = field(default_factory=dict)  # the first ones of a task, as the tag `question` has them
    notes: list[str] = field(default_factory=list)  # what else a reader should know, such as a sheet that is not read

    def warnings(self) -> list[str]:
        """Return what is missing in the log, in sentences.

        >>> Summary(judgments=20, anonymous=20, unspecified=3).warnings()[1]
        "3 of 20 judgments name no segment and have 'unspecified'"
        """
        found = list(self.notes)
        if len(self.questions) > 1:
            names = ", ".join(map(quote, self.questions))
            found.append(f"judges answered {names}; --by question or --only tag.question=NAME ranks them apart")
        for field_name, count, name in (
            ("judge", self.anonymous, ANONYMOUS),
            ("segment", self.unspecified, UNSPECIFIED),
        ):
            if not count:
                continue
            if count >= self.judgments:
                found.append(f"no judgment names a {field_name}; all have the {field_name} {name!r}")
            else:
                found.append(f"{count:,} of {self.judgments:,} judgments name no {field_name} and have {name!r}")
        return found

    def note_question(self, name: str) -> None:
        """Remember a question, up to a number that a warning can list."""
        if len(self.questions) < _MOST_QUESTIONS:
            self.questions[name] = None


@dataclass
class LabelColumns:
    """Which columns of a file have labels, where the columns of the task are beside them.

    An export does not say it. It is learned from the rows with a verdict, so that a row without one is an empty answer
    or an error.
    """

    _answered: set[str] = field(default_factory=set)
    _unread: set[str] = field(default_factory=set)  # columns that had texts in rows without a verdict, so far

    def is_unanswered(self, filled: Collection[str], answered: Collection[str]) -> bool:
        """Return whether a row has no answer: no verdict, and no text in a column that has verdicts in other rows."""
        if not answered:
            self._unread.update(filled)
            return self._answered.isdisjoint(filled)
        self._answered.update(answered)
        if unread := self._unread & self._answered:
            self._unread.clear()
            message = f"an earlier row has a text in {quote(min(unread))} that is no verdict"
            raise RecordError("invalid_value", message, field="result")
        return False


@dataclass
class ImportRun:
    """One read of one file: its options and its summary. Every function of a format receives it."""

    file: str
    on_bad: Callable[[RowError], None]
    campaign: str | None = None  # replaces the campaign of the file
    default_campaign: str | None = None  # of a file that names none; else the name of the file
    shared_ties: bool = True
    references: bool = True  # rate human references as systems
    columns: bool = False
    # Filled while reading, if given: the outputs of each judgment in which systems shared an output, by judgment id.
    shared: dict[str, tuple[tuple[str, ...], ...]] | None = None
    features: OutputFeatures | None = None  # filled while reading, if given
    summary: Summary = field(default_factory=Summary)
    conversations: RecentConversations = field(default_factory=RecentConversations)
    labels: LabelColumns = field(default_factory=LabelColumns)

    def bad(self, line: int, error: RecordError) -> None:
        """Count a bad row and report it. With `on_error="stop"` it is raised."""
        self.summary.skipped[error.reason] += 1
        self.on_bad(RowError(self.file, line, error))

    def count(self, judgments: Sequence[Judgment]) -> None:
        """Count judgments, and those that name no judge or no segment."""
        summary = self.summary
        summary.judgments += len(judgments)
        for judgment in judgments:
            if judgment.judge == ANONYMOUS:
                summary.anonymous += 1
            if judgment.segment == UNSPECIFIED:
                summary.unspecified += 1

    def leave_out(self, kind: str) -> None:
        """Count a valid row that is not a judgment."""
        self.summary.left_out[kind] += 1


@dataclass(frozen=True)
class Format:
    """A file format: how to recognise it, how to read it and, for some formats, how to write it."""

    name: str
    about: str
    recognises: Callable[[FileHead], bool]
    batches: Callable[[Source, ImportRun], Iterator[EntryBatch]]
    write: Callable[[BinaryIO, Iterable[Judgment]], None] | None = None
    suffixes: tuple[str, ...] = ()  # file names with these suffixes are written in this format
