"""The log that `rank` reads: a file or several, a DataFrame, or judgments that are in memory."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from streams.errors import FormatError, ParameterError
from streams.formats import describe_log
from streams.offline.dataframes import DATAFRAME, is_dataframe
from streams.offline.judgments import read_log
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from pandas import DataFrame

    from streams.formats import Summary
    from streams.formats.features import OutputFeatures

    LogSource = str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Judgment] | DataFrame

BATCH = 1000  # judgments that are rated together


class LogInput:
    """A log in batches. `summary` counts the rows of a file or a DataFrame; it is None for judgments in memory."""

    def __init__(self, source: LogSource, options: Mapping[str, Any]) -> None:
        self._source: Any = source
        self._options = options
        self._is_log = is_dataframe(source) or _is_path(source) or _are_paths(source)
        self.summary: Summary | None = None

    @property
    def name(self) -> str:
        """Return what the log is called in messages."""
        if is_dataframe(self._source):
            return DATAFRAME
        return describe_log(self._source) if self._is_log else "the judgments"

    def batches(
        self,
        shared: dict[str, tuple[tuple[str, ...], ...]] | None = None,
        *,
        features: OutputFeatures | None = None,
    ) -> Iterator[Sequence[Judgment]]:
        """Read the log. `shared` collects which systems shared an output, and `features` what outputs are like."""
        if self._is_log:
            reading = read_log(self._source, **self._options)
            reading.shared, reading.features = shared, features
            for batch in reading.batches():
                self.summary = reading.summary  # a part of it is known from the first batch on
                yield batch.judgments
            self.summary = reading.summary
            return
        judgments = iter(self._source)
        while batch_in_memory := list(islice(judgments, BATCH)):
            if other := next((each for each in batch_in_memory if not isinstance(each, Judgment)), None):
                kind = type(other).__name__
                raise ParameterError(
                    f"the log has a {kind} instead of a Judgment; make a DataFrame of a table in memory"
                )
            yield batch_in_memory

    def again(self, *, features: OutputFeatures | None = None) -> Iterator[Sequence[Judgment]]:
        """Read the log once more. Raise FormatError if it can be read only once."""
        if not self._is_log and iter(self._source) is self._source:
            raise FormatError(f"{self.name}: verdicts were changed, so they are needed twice; pass them as a list")
        return self.batches(features=features)

    def warnings(self) -> tuple[str, ...]:
        """Return what is missing in the log that was read, and how many bad rows were skipped."""
        if self.summary is None:
            return ()
        bad = self.summary.skipped.total()
        skipped = [f"{bad:,} of {self.summary.rows:,} rows were bad and were skipped"] if bad else []
        return (*skipped, *self.summary.warnings())


def _is_path(source: object) -> bool:
    return isinstance(source, str) or hasattr(source, "__fspath__")


def _are_paths(source: object) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(map(_is_path, source))
