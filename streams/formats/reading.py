"""Reading: open the files of a log, recognise their formats, read them in batches and count their rows."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Literal

from streams.errors import FormatError, ParameterError
from streams.formats.arena import LAYOUT as ARENA
from streams.formats.arena import WINNER
from streams.formats.base import Entry, EntryBatch, ImportRun, RowError, Summary, UnknownFormat
from streams.formats.input.parts import describe_log, list_parts
from streams.formats.names import default_campaign
from streams.formats.selection import LogSelection
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from streams.formats.base import Format
    from streams.formats.features import OutputFeatures
    from streams.formats.input.parts import LogPart, LogSources
    from streams.formats.input.sources import Source
    from streams.formats.mapping.column_mapping import ColumnMapping
    from streams.formats.selection import Only
    from streams.formats.window import LogWindow
    from streams.wire.events import Judgment

OnError = Literal["stop", "skip"]


class Reading:
    """A log to read. Iterate over its entries, or over its batches, which is faster.

    `format` (of the last file), `summary` and `selection` describe what has been read so far. The summary counts the
    whole log, also the judgments that are not selected.
    """

    def __init__(
        self,
        source: LogSources,
        chosen: Callable[[Source], Format],
        *,
        campaign: str | None = None,
        default_campaign: str | None = None,
        encoding: str | None = None,
        on_error: OnError | Callable[[RowError], None] = "stop",
        shared_ties: bool = True,
        references: bool = True,
        only: Only | None = None,
        window: LogWindow | None = None,
    ) -> None:
        self._source = source
        self._chosen = chosen
        if not callable(on_error) and on_error not in ("stop", "skip"):
            raise ParameterError(f"on_error: {on_error!r} is not known; use 'stop', 'skip' or a function")
        self._on_error = on_error
        self._campaign = campaign
        self._default_campaign = default_campaign
        self._encoding = encoding
        self._shared_ties = shared_ties
        self._references = references
        self.selection = LogSelection.of(only, window)
        self.format: Format | None = None
        self.summary = Summary()
        # Set it to a dictionary to collect, by judgment id, which systems shared an output.
        self.shared: dict[str, tuple[tuple[str, ...], ...]] | None = None
        self.features: OutputFeatures | None = None  # set it to read the features of outputs
        self.position = 0  # bytes of the file that have been read, compressed or not

    def __iter__(self) -> Iterator[Entry]:
        return chain.from_iterable(map(Entry, batch.lines, batch.judgments) for batch in self.batches())

    def batches(self, *, columns: bool = False) -> Iterator[EntryBatch]:
        """Read the log from the beginning, in batches of some hundred to some thousand judgments.

        With `columns`, a batch may hold `JudgmentColumns` instead of judgments. This is faster for rating, and slower
        for code that reads each judgment.
        """
        run = ImportRun(
            file=describe_log(self._source),
            on_bad=self._bad,
            campaign=self._campaign,
            shared_ties=self._shared_ties,
            references=self._references,
            columns=columns and self.selection is None and self.features is None,
            shared=self.shared,
            features=self.features,
        )
        self.summary = run.summary
        batches = self._read_parts(run)
        yield from batches if self.selection is None else self._select(batches, self.selection)

    def _read_parts(self, run: ImportRun) -> Iterator[EntryBatch]:
        before = 0
        parts = list_parts(self._source)
        for part in parts:
            with part.open(encoding=self._encoding) as source:
                self.format = self._choose(source, part, parts)
                if source.note:
                    run.summary.notes.append(f"{source.name}: {source.note}")
                try:
                    for batch in self.format.batches(source, self._run_of(part, source, run)):
                        self.position = before + source.position()
                        yield batch
                except RowError as error:
                    if self.format.name == ARENA.name and error.field == WINNER and not run.summary.judgments:
                        error.mapping = _mapping_of(source.head)
                    raise
            before += part.size

    def _choose(self, source: Source, part: LogPart, parts: Sequence[LogPart]) -> Format:
        """Return the format of a file. One that is like no log may only lie in the same folder."""
        try:
            return self._chosen(source)
        except UnknownFormat as error:
            if error.options or part.group is None or len(parts) == 1:
                raise
            raise UnknownFormat(
                f"{error} It is one of {len(parts):,} files in {quote(part.group)}; if it is no part of the log, take "
                "it out, or name the files that are"
            ) from None

    def _run_of(self, part: LogPart, source: Source, run: ImportRun) -> ImportRun:
        """Return the run of one file. All files share the summary."""
        group = default_campaign(part.group) if part.group else None
        return replace(run, file=source.name, default_campaign=self._default_campaign or group)

    def _select(self, batches: Iterator[EntryBatch], selection: LogSelection) -> Iterator[EntryBatch]:
        selection.restart()
        for batch in batches:
            selected = [
                (line, part)
                for line, judgment in zip(batch.lines, batch.judgments, strict=True)
                if (part := selection.select(judgment)) is not None
            ]
            if self.shared is not None:
                _forget_systems(self.shared, (judgment for _, judgment in selected))
            yield EntryBatch([line for line, _ in selected], [judgment for _, judgment in selected])
        selection.check()

    def _bad(self, error: RowError) -> None:
        if self._on_error == "stop":
            raise error
        if self._on_error != "skip":
            self._on_error(error)


def _mapping_of(head: bytes) -> ColumnMapping | None:
    """Return a mapping that reads the first row of a table with other words for its verdicts, or None."""
    from streams.formats.mapping.table import mapped_format
    from streams.formats.mapping.unknown_tables import propose_words

    if (mapping := propose_words(head)) is None:
        return None
    known = mapped_format(mapping)
    try:
        next(iter(Reading(BytesIO(head), lambda _: known, default_campaign="log")))
    except (FormatError, StopIteration):
        return None
    return mapping


def _forget_systems(shared: dict[str, tuple[tuple[str, ...], ...]], judgments: Iterable[Judgment]) -> None:
    """Remove the systems that are no longer in these judgments."""
    for judgment in judgments:
        if outputs := shared.get(judgment.id):
            kept = (tuple(name for name in names if name in judgment.systems) for names in outputs)
            shared[judgment.id] = tuple(names for names in kept if names)
