"""Read some columns of a CSV or TSV table by name, for tables that are not logs: scores, predictions, labels."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError, suggestion
from streams.formats.input.sources import open_source
from streams.formats.input.tables import Table
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class NamedColumn:
    """The cells of one column as text, and the lines on which their rows begin."""

    file: str
    name: str
    lines: tuple[int, ...]
    cells: tuple[str, ...]

    def texts(self) -> tuple[str, ...]:
        """Return the cells, or raise FormatError at the first empty one."""
        for line, cell in zip(self.lines, self.cells, strict=True):
            if not cell:
                raise FormatError(f"{self.file}:{line}: the column {quote(self.name)} is empty; fill it in")
        return self.cells

    def numbers(self, *, otherwise: str = "correct it") -> NDArray[np.float64]:
        """Return the cells as finite numbers, or raise FormatError at the first other one, with the way out."""
        import numpy as np

        found = np.zeros(len(self.cells))
        for k, (line, cell) in enumerate(zip(self.lines, self.texts(), strict=True)):
            try:
                found[k] = float(cell)
            except ValueError:
                found[k] = float("nan")
            if not isfinite(found[k]):
                place = f"{self.file}:{line}: the column {quote(self.name)}"
                raise FormatError(f"{place} has {quote(cell)}, which is not a number; {otherwise}")
        return found


def read_columns(file: Path, names: Sequence[str]) -> list[NamedColumn]:
    """Read columns of a table with a header. Upper and lower case of the names are the same.

    The delimiter is a comma, a semicolon or a tab. `-` is standard input, and compressed files are read too. A bad row
    or a missing column raises FormatError.
    """
    with open_source(file) as source:
        table = Table(source, required=(), kind="a table")
        places = []
        for name in names:
            known = name.strip().lower()
            if known not in table.columns:
                hint = suggestion(known, [column for column in table.columns if column])
                raise FormatError(f"{source.name}:1: no column {quote(name)}; {hint}")
            places.append(table.columns[known])
        lines: list[int] = []
        rows: list[list[str]] = []
        for line, cells in table.rows():
            if isinstance(cells, RecordError):
                raise FormatError(f"{source.name}:{line}: {cells.message}")
            lines.append(line)
            rows.append(cells)
        return [
            NamedColumn(
                file=source.name,
                name=name,
                lines=tuple(lines),
                cells=tuple(row[place].strip() for row in rows),
            )
            for name, place in zip(names, places, strict=True)
        ]
