"""Reading: open a log, recognise its format, read it in batches and count its rows."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Literal

from streams.formats.base import Entry, ImportRun, RowError, Summary
from streams.formats.input.sources import describe_source, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from streams.formats.base import EntryBatch, Format
    from streams.formats.input.sources import Source

OnError = Literal["stop", "skip"]


class Reading:
    """A log to read. Iterate over its entries, or over its batches, which is faster.

    `format` and `summary` describe what has been read so far.
    """

    def __init__(
        self,
        source: Path | str | BinaryIO,
        chosen: Callable[[Source], Format],
        *,
        campaign: str | None = None,
        on_error: OnError | Callable[[RowError], None] = "stop",
        shared_ties: bool = True,
    ) -> None:
        self._source = source
        self._chosen = chosen
        self._on_error = on_error
        self._campaign = campaign
        self._shared_ties = shared_ties
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
            columns=columns,
            shared=self.shared,
        )
        self.summary = run.summary
        with open_source(self._source) as source:
            self.format = self._chosen(source)
            for batch in self.format.batches(source, run):
                self.position = source.position()
                yield batch

    def _bad(self, error: RowError) -> None:
        if self._on_error == "stop":
            raise error
        if self._on_error != "skip":
            self._on_error(error)
