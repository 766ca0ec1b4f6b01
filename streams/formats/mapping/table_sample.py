"""The columns of a table of no known format and its first rows, from which a mapping is proposed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.mapping.verdicts import parse_decimal, parse_share
from streams.formats.mapping.vocabulary import name_fit
from streams.formats.rankings import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_COLUMNS = 100  # of a table for which a mapping is proposed


@dataclass(frozen=True)
class TableSample:
    """The columns of a table and its first rows, as text."""

    names: Sequence[str]
    rows: Sequence[Mapping[str, str]]
    has_keys: bool = False  # the names are keys of objects or come from a schema

    @cached_property
    def is_headed(self) -> bool:
        """Return whether the names are the header of a table, and not its first row, which may name a judge."""
        if len(self.names) > MOST_COLUMNS:
            return False
        if self.has_keys:
            return bool(self.names)
        if any(not name or is_number(name) for name in self.names if not name.startswith("#")):
            return False
        if any(row.get(name) == name for name in self.names for row in self.rows):
            return False
        return any(name_fit(name, role) for name in self.names for role in ("winner", "system", "judge", "score"))

    def values(self, name: str) -> list[str]:
        """Return the different cells of a column that are not empty."""
        return self._values[name]

    @cached_property
    def texts(self) -> dict[str, set[str]]:
        """Return the cells of each column that are neither numbers nor yes or no."""
        return {name: {value for value in values if not is_share(value)} for name, values in self._values.items()}

    @cached_property
    def _values(self) -> dict[str, list[str]]:
        return {name: list({row[name]: None for row in self.rows if row.get(name)}) for name in self.names}

    def all_are(self, suits: Callable[[str], bool], *names: str) -> bool:
        """Return whether this holds for all cells of these columns that are not empty."""
        return all(suits(value) for name in names for value in self.values(name))

    def overlap(self, one: str, other: str) -> float:
        """Return which share of the texts of one column is in the other column, too. Numbers do not count."""
        first, second = self.texts[one], self.texts[other]
        return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def is_number(text: str) -> bool:
    """Return whether a cell is a number, with a decimal point or comma."""
    return _parses(parse_decimal, text)


def is_share(text: str) -> bool:
    """Return whether a cell is a number, or yes or no."""
    return _parses(parse_share, text)


def is_time(text: str) -> bool:
    """Return whether a cell is a time."""
    return _parses(parse_time, text)


def _parses(parse: Callable[..., object], text: str) -> bool:
    try:
        parse(text, field="")
    except RecordError:
        return False
    return True
