"""The verdict of a row: which of the systems a and b is better, in the words that files use for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.rankings import parse_number
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.formats.mapping.column_mapping import ColumnMapping

Ranks = tuple[int, int]

A_BETTER, B_BETTER, TIED = (1, 2), (2, 1), (1, 1)
_RANKS: dict[str, Ranks | None] = {"a": A_BETTER, "b": B_BETTER, "tie": TIED, "skip": None}

_THING = (
    r"(?:(?:model|system|output|option|response|answer|assistant|candidate|completion|hypothesis|reply|sample|summary"
    r"|text|translation)[ _-]?)?"
)
_BETTER = r"(?: (?:is|was) (?:(?:much|slightly|significantly|a bit) )?better| wins?| won)?"
_FIRST = re.compile(rf"{_THING}(?:a|1|left|first|one){_BETTER}|[a1]>+[b2]|[b2]<+[a1]|>+")
_SECOND = re.compile(rf"{_THING}(?:b|2|right|second|two){_BETTER}|[b2]>+[a1]|[a1]<+[b2]|<+")
_TIE = re.compile(
    r"tie|tied|draw|(?:both )?(?:are )?equal(?:ly (?:good|bad))?|(?:about )?the same|same|similar|both|neither|either"
    r"|no (?:preference|difference)"
    r"|(?:tie \()?both[ _]?(?:good|bad|equal)\)?|[a1]=[b2]|[b2]=[a1]|==?"
)
_YES_OR_NO = {"true": A_BETTER, "yes": A_BETTER, "false": B_BETTER, "no": B_BETTER}
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d{1,2}|\d{4,})")  # three digits could also be thousands
_TRUE, _FALSE = ("true", "yes", "x", "t", "y"), ("", "false", "no", "f", "n")


def normal(text: str) -> str:
    """Return a text as it is compared: upper and lower case and the number of spaces do not matter.

    >>> normal(" Model  A"), normal("1.0")
    ('model a', '1')
    """
    found = " ".join(text.split()).casefold()
    whole = _WHOLE.fullmatch(found)
    return whole[1] if whole else found


def built_in(value: str) -> Ranks | None:
    """Return what a normal value means in a column of verdicts, or None.

    >>> built_in("model_b"), built_in("a>>b"), built_in("both bad"), built_in("true"), built_in("0")
    ((2, 1), (1, 2), (1, 1), (1, 2), None)
    """
    return _YES_OR_NO.get(value) or side_said(value)


def side_said(value: str) -> Ranks | None:
    """Return which side a normal text names, or None. Yes and no name none, because other questions have them too."""
    if _FIRST.fullmatch(value):
        return A_BETTER
    if _SECOND.fullmatch(value):
        return B_BETTER
    return TIED if _TIE.fullmatch(value) else None


class VerdictReader:
    """Reads the verdicts of a table: a value of --values, else the name of a system, else a built-in word."""

    def __init__(self, mapping: ColumnMapping) -> None:
        self._columns = mapping.columns
        self._given = {normal(text): _RANKS[name] for name, found in mapping.values.items() for text in found}
        sides = {} if {"a", "b"} & mapping.values.keys() else {"a": A_BETTER, "b": B_BETTER}
        # A column that is named like the value: `winner` is system_1 in a table with the column system_1.
        self._by_column = {
            normal(mapping.columns[side]): ranks for side, ranks in sides.items() if side in self._columns
        }
        self._has_sides = bool(sides)
        self._has_ties = "tie" not in mapping.values
        self._a_is_negative = "negative" in mapping.values.get("a", ()) or "positive" in mapping.values.get("b", ())
        self._words: dict[str, Ranks | None] = {}  # of built-in words that have been looked up

    def read(self, row: Mapping[str, str], systems: tuple[str, str]) -> Ranks | None:
        """Return the ranks of a and b, or None for a value that means that there is no verdict."""
        if "winner" in self._columns:
            return self._read_winner(row, systems)
        if "strength" in self._columns:
            return self._read_strength(row["strength"])
        return self._read_shares(row)

    def _read_winner(self, row: Mapping[str, str], systems: tuple[str, str]) -> Ranks | None:
        text = row["winner"]
        value = normal(text)
        if value in self._given:
            return self._given[value]
        if "tie" in self._columns and parse_share(row["tie"], field="tie"):
            return TIED
        if not value:
            raise RecordError(
                "missing_field", "the cell is empty; --values skip= leaves such rows out", field=self._columns["winner"]
            )
        by_word = self._read_word(value)
        first, second = map(normal, systems)
        by_name = A_BETTER if value == first else B_BETTER if value == second else None
        if by_name and by_word and by_name != by_word:
            message = f"{quote(text)} is the name of a system and also means the other one; use --values a=...,b=..."
            raise RecordError("invalid_value", message, field=self._columns["winner"])
        if found := by_name or by_word:
            return found
        message = (
            f"{quote(text)} is neither a verdict nor one of the systems; use --values a=...,b=...,tie=...,skip=..."
        )
        raise RecordError("invalid_value", message, field=self._columns["winner"])

    def _read_word(self, value: str) -> Ranks | None:
        if value in self._by_column:
            return self._by_column[value]
        if value in self._words:
            return self._words[value]
        found = built_in(value)
        if (found == TIED and not self._has_ties) or (found != TIED and not self._has_sides):
            found = None
        if len(self._words) < 1000 and len(value) < 100:
            self._words[value] = found
        return found

    def _read_strength(self, text: str) -> Ranks | None:
        value = normal(text)
        if value in self._given:
            return self._given[value]
        strength = parse_decimal(text, field=self._columns["strength"])
        if not strength:
            return TIED
        return A_BETTER if (strength > 0) != self._a_is_negative else B_BETTER

    def _read_shares(self, row: Mapping[str, str]) -> Ranks | None:
        first, second = (parse_share(row[role], field=self._columns[role]) for role in ("a_wins", "b_wins"))
        tied = "tie" in self._columns and parse_share(row["tie"], field=self._columns["tie"]) > 0
        if tied and first != second:
            raise RecordError("invalid_value", "the row has a winner and a tie", field=self._columns["tie"])
        if first == second and not tied and not first:
            raise RecordError("missing_field", "the row has no winner", field=self._columns["a_wins"])
        return A_BETTER if first > second else B_BETTER if second > first else TIED


def parse_share(text: str, *, field: str) -> float:
    """Parse a cell that says yes or no, or how much.

    >>> parse_share("True", field="x"), parse_share("", field="x"), parse_share("0.5", field="x")
    (1.0, 0.0, 0.5)
    """
    value = normal(text)
    if value in _TRUE:
        return 1.0
    return 0.0 if value in _FALSE else parse_decimal(text, field=field)


def parse_decimal(text: str, *, field: str) -> float:
    """Parse a number, with a decimal point or a decimal comma.

    >>> parse_decimal("87,5", field="x")
    87.5
    """
    found = _DECIMAL_COMMA.fullmatch(text)
    return parse_number(f"{found[1]}.{found[2]}" if found else text, field=field)
