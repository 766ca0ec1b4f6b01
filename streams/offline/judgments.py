"""Read a log into memory, in a script or a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import msgspec

from streams import formats
from streams.offline.dataframes import is_dataframe, read_dataframe, to_dataframe
from streams.reports.html_table import fragment, plain_table
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from pandas import DataFrame

    from streams.formats import OnError, Reading, RowError, Summary
    from streams.formats.mapping.column_mapping import Pairs
    from streams.formats.selection import Only
    from streams.formats.window import Bound

MOST_SHOWN = 10  # judgments that a notebook shows


@dataclass(frozen=True)
class Judgments(Sequence[Judgment]):
    """The judgments of a log, in its order. `summary` counts the rows of the log."""

    judgments: tuple[Judgment, ...]
    summary: Summary = field(default_factory=formats.Summary)

    def __len__(self) -> int:
        return len(self.judgments)

    @overload
    def __getitem__(self, place: int) -> Judgment: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Judgment]: ...
    def __getitem__(self, place: int | slice) -> Judgment | Sequence[Judgment]:
        return self.judgments[place]

    def __repr__(self) -> str:
        bad = self.summary.skipped.total()
        return f"<{len(self):,} judgments{f', {bad:,} bad rows skipped' if bad else ''}>"

    def _repr_html_(self) -> str:
        columns = ("campaign", "segment", "judge", "systems", "ranks", "score")
        rows = [[_text(getattr(judgment, name)) for name in columns] for judgment in self.judgments[:MOST_SHOWN]]
        more = f"<p>... {len(self) - MOST_SHOWN:,} more</p>" if len(self) > MOST_SHOWN else ""
        return fragment([plain_table(columns, rows), more])

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with the fields of a judgment as columns. This needs the extra `pandas`."""
        return to_dataframe([msgspec.structs.asdict(each) for each in self.judgments], Judgment.__struct_fields__)


def read(
    source: str | PathLike[str] | Sequence[str | PathLike[str]] | DataFrame,
    *,
    format: str | None = None,  # noqa: A002 - as in streams.formats
    columns: Pairs | None = None,
    values: Pairs = (),
    encoding: str | None = None,
    campaign: str | None = None,
    on_error: OnError | Callable[[RowError], None] = "stop",
    shared_ties: bool = True,
    references: bool = True,
    only: Only | None = None,
    since: Bound | None = None,
    until: Bound | None = None,
) -> Judgments:
    """Read a log into memory: a file, several files or a folder in any supported format, or a DataFrame.

    A DataFrame has the columns model_a, model_b and winner of an arena, or the columns of a judgment. Of those, only
    systems and ranks (or score) are required. Any other table needs `columns`, for example
    "a=system_1,b=system_2,winner=preferred". `campaign` replaces the campaign name of the log. The other options are
    those of `streams.formats.read`.
    """
    reading = read_log(
        source,
        format=format,
        columns=columns,
        values=values,
        encoding=encoding,
        campaign=campaign,
        on_error=on_error,
        shared_ties=shared_ties,
        references=references,
        only=only,
        since=since,
        until=until,
    )
    judgments = tuple(judgment for batch in reading.batches() for judgment in batch.judgments)
    return Judgments(judgments, reading.summary)


def read_log(source: Any, **options: Any) -> Reading:
    """Read a file or a DataFrame, without loading it into memory at once."""
    if is_dataframe(source):
        return read_dataframe(source, **options)
    paths = [Path(each) for each in source] if isinstance(source, list | tuple) else Path(source)
    return formats.read(paths, **options)


def _text(value: object) -> str:
    if value is None:
        return ""
    return " | ".join(map(str, value)) if isinstance(value, tuple) else str(value)
