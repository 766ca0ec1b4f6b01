"""Reading: open a log, recognise its format, read it in batches and count its rows."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Literal

from streams.formats.base import Entry, EntryBatch, ImportRun, RowError, Summary
from streams.formats.input.sources import describe_source, open_source
from streams.formats.selection import LogSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from streams.formats.base import Format
    from streams.formats.input.sources import Source
    from streams.formats.selection import Only
    from streams.formats.window import LogWindow
    from streams.wire.events import Judgment

OnError = Literal["stop", "skip"]


class Reading:
    """A log to read. Iterate over its entries, or over its batches, which is faster.

    `format`, `summary` and `selection` describe what has been read so far. The summary counts the whole log, also the
    judgments that are not selected.
    """

    def __init__(
        self,
        source: Path | str | BinaryIO,
        chosen: Callable[[Source], Format],
        *,
        campaign: str | None = None,
        on_error: OnError | Callable[[RowError], None] = "stop",
        shared_ties: bool = True,
        only: Only | None = None,
        window: LogWindow | None = None,
    ) -> None:
        self._source = source
        self._chosen = chosen
        self._on_error = on_error
        self._campaign = campaign
        self._shared_ties = shared_ties
        self.selection = LogSelection.of(only, window)
        self.format: Format | None = None
        self.summary = Summary()
        # Set it to a dictionary to collect, by judgment id, which systems shared an output.
        self.shared: dict[str, tuple[tuple[str, ...], ...]] | None = None
        self.position = 0  # bytes of the file that have been read, compressed or not

    def __iter__(self) -> Iterator[Entry]:
        return chain.from_iterable(map(Entry, batch.lines, batch.judgments) for batch in self.batches())

    def batches(self, *, columns: bool = False) -> Iterator[EntryBatch]:
        """Read the log from the beginning, in batches of some hundred to some thousand judgments.

        With `columns`, a batch may hold `JudgmentColumns` instead of judgments. This is faster for rating, and slower
        for code that reads each judgment.
        """
        run = ImportRun(
            file=describe_source(self._source),
            on_bad=self._bad,
            campaign=self._campaign,
            shared_ties=self._shared_ties,
            columns=columns and self.selection is None,
            shared=self.shared,
        )
        self.summary = run.summary
        with open_source(self._source) as source:
            self.format = self._chosen(source)
            batches = self.format.batches(source, run)
            for batch in batches if self.selection is None else self._select(batches, self.selection):
                self.position = source.position()
                yield batch

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


def _forget_systems(shared: dict[str, tuple[tuple[str, ...], ...]], judgments: Iterable[Judgment]) -> None:
    """Remove the systems that are no longer in these judgments."""
    for judgment in judgments:
        if outputs := shared.get(judgment.id):
            kept = (tuple(name for name in names if name in judgment.systems) for names in outputs)
            shared[judgment.id] = tuple(names for names in kept if names)
