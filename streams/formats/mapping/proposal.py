"""Propose a mapping for a table of no known format, from the names of its columns and from its first rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.mapping.column_mapping import ColumnMapping
from streams.formats.mapping.verdicts import TIED, VerdictReader, built_in, normal, parse_decimal, parse_share
from streams.formats.mapping.vocabulary import SIDES, name_fit, side_of, tokens
from streams.formats.rankings import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MOST_COLUMNS = 100  # of a table for which a mapping is proposed
_MOST_PAIRS = 10  # of columns that may be the systems
_MOST_UNKNOWN = 20  # values of a column that may be the verdict
_LONGEST_NAME = 80  # of a system that a proposal believes in
_LONGEST = 1_000  # characters of a proposal
_MEANINGS = {(1, 2): "a", (2, 1): "b", (1, 1): "tie"}


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
        if any(not name or _is_number(name) for name in self.names if not name.startswith("#")):
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
        return {name: {value for value in values if not _is_share(value)} for name, values in self._values.items()}

    @cached_property
    def _values(self) -> dict[str, list[str]]:
        return {name: list({row[name]: None for row in self.rows if row.get(name)}) for name in self.names}


def propose(sample: TableSample) -> ColumnMapping | None:
    """Return the likeliest mapping of a table, or None if there is none that can be shown.

    >>> header = ["juge", "système gauche", "système droite", "préférence"]
    >>> rows = [dict(zip(header, cells)) for cells in (["j1", "x", "y", "gauche"], ["j2", "y", "z", "égalité"])]
    >>> propose(TableSample(header, rows)).options()[3]
    'a=gauche,b=droite,tie=égalité'
    """
    found = max(_candidates(sample), key=lambda candidate: candidate[0], default=None)
    if found is None:
        return None
    columns = dict(found[1])
    for role, suits in (("judge", _is_short), ("segment", _is_any), ("at", _is_time)):
        free = [name for name in sample.names if name not in columns.values()]
        best = max(free, key=lambda name: _more_fit(name, role), default=None)
        if best and _more_fit(best, role) > 0 and all(map(suits, sample.values(best))):
            columns[role] = best
    mapping = ColumnMapping(columns=columns, values=found[2])
    return mapping if sum(map(len, mapping.options())) <= _LONGEST else None


_Candidate = tuple[float, dict[str, str], dict[str, tuple[str, ...]]]


def _candidates(sample: TableSample) -> Iterator[_Candidate]:
    """Yield layouts with a number that says how likely each one is."""
    pairs = list(_pairs(sample))
    likely_pairs = sorted(((_likeliness(sample, *pair), pair) for pair in pairs), key=lambda each: -each[0])
    shares = {name for name in sample.names if _all(_is_share, sample, name)}
    share_pairs = [pair for pair in pairs if shares.issuperset(pair)][:_MOST_PAIRS]
    for likely, (first, second) in likely_pairs[:_MOST_PAIRS]:
        if not _are_systems(sample, first, second):
            continue
        rest = [name for name in sample.names if name not in (first, second)]
        for name in rest:
            yield from _verdicts(sample, likely, {"a": first, "b": second}, name)
        for a_wins, b_wins in share_pairs:
            if a_wins in rest and b_wins in rest:
                columns = {"a": first, "b": second, "a_wins": a_wins, "b_wins": b_wins}
                tie = max(
                    (name for name in rest if name not in columns.values()), key=lambda n: _fit(n, "tie"), default=""
                )
                if tie and _fit(tie, "tie") and _all(_is_share, sample, tie):
                    columns["tie"] = tie
                yield likely + 12 + _fit(a_wins, "winner"), columns, {}
    for winner in sample.names:
        for loser in sample.names:
            if (
                winner != loser
                and _fit(winner, "winner")
                and _fit(loser, "loser")
                and _are_systems(sample, winner, loser)
            ):
                yield 15.0 + 5 * _overlap(sample, winner, loser), {"winner": winner, "loser": loser}, {}
    for system in sample.names:
        for score in sample.names:
            if system != score and _fit(system, "system") and _fit(score, "score") and _is_numeric(sample, score):
                yield 8.0 + _fit(system, "system") + _fit(score, "score"), {"system": system, "score": score}, {}


def _verdicts(sample: TableSample, likely: float, systems: dict[str, str], name: str) -> Iterator[_Candidate]:
    values = sample.values(name)
    others = max(_fit(name, role) for role in ("judge", "segment", "at"))
    fit = max(_fit(name, "winner"), _fit(name, "strength")) - others
    if fit < 0:  # the name says something else
        return
    if values and all(map(_is_number, values)) and any(value.startswith("-") for value in values):
        yield likely + 8 + fit, {**systems, "strength": name}, {}
        return
    columns = {**systems, "winner": name}
    meanings = _meanings(sample, columns)
    known = sum(found is not None for found in meanings.values()) / len(meanings) if meanings else 0.0
    if known > 0.5 or (fit > 0 and not values):
        yield likely + 10 * known + fit, columns, _needed_values(meanings)


def _meanings(sample: TableSample, columns: dict[str, str]) -> dict[str, tuple[str, bool] | None]:
    """Return what the values of the winner mean, and whether they are understood without --values.

    Numbers that begin with 0 are a and b; if there is a 2 as well, 0 is a tie, unless the columns count from 0, too.
    """
    reader = VerdictReader(ColumnMapping(columns=columns))
    found: dict[str, tuple[str, bool] | None] = {}
    unknown = 0
    for row in sample.rows:
        text = row.get(columns["winner"], "")
        if not text:
            found[""] = ("skip", False)
            continue
        if text in found:
            continue
        try:
            ranks = reader.read({"winner": text}, (row.get(columns["a"], ""), row.get(columns["b"], "")))
            found[text] = (_MEANINGS[ranks or TIED], True)
        except RecordError:
            side = side_of(text)
            found[text] = (side, False) if side else None
            unknown += side is None
            if unknown > _MOST_UNKNOWN:
                break
    seen = {normal(value): value for value in found}
    if "0" in seen and seen.keys() <= {"0", "1", "2", ""}:
        from_zero = "2" not in seen or "0" in tokens(columns["a"])
        meanings = {"0": "a", "1": "b", "2": "tie"} if from_zero else {"0": "tie"}
        found |= {seen[number]: (meaning, False) for number, meaning in meanings.items() if number in seen}
    return found


def _needed_values(meanings: Mapping[str, tuple[str, bool] | None]) -> dict[str, tuple[str, ...]]:
    """Return --values: the values that are not understood without it, and those that it would replace."""
    known = {value: found for value, found in meanings.items() if found is not None}
    needed = {meaning for meaning, is_known in known.values() if not is_known}
    if needed & {"a", "b"}:
        needed |= {"a", "b"}
    values: dict[str, tuple[str, ...]] = {}
    for value, (meaning, is_known) in known.items():
        if meaning in needed and (not is_known or built_in(normal(value))):
            values[meaning] = (*values.get(meaning, ()), value)
    for one, other in SIDES:  # a side that is not among the first rows
        for given, missing, pair in (("a", "b", (one, other)), ("b", "a", (other, one))):
            if missing not in values and (pair[0],) == values.get(given):
                values[missing] = (pair[1],)
    return {meaning: values[meaning] for meaning in ("a", "b", "tie", "skip") if meaning in values}


def _pairs(sample: TableSample) -> Iterator[tuple[str, str]]:
    """Yield columns that belong together: their names differ in the side only, or both are systems."""
    split = {name: tokens(name) for name in sample.names}
    for one, other in combinations(sample.names, 2):
        first, second = split[one], split[other]
        differing = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
        side = differing[0] if len(first) == len(second) and len(differing) == 1 else ("", "")
        if side in SIDES:
            yield one, other
        elif side[::-1] in SIDES:
            yield other, one
        elif (_fit(one, "system") and _fit(other, "system")) or _overlap(sample, one, other) > 0.5:
            yield one, other


def _likeliness(sample: TableSample, first: str, second: str) -> float:
    return 10.0 + _fit(first, "system") + _fit(second, "system") + 5 * _overlap(sample, first, second)


def _fit(name: str, role: str) -> int:
    return min(name_fit(name, role), 10)


def _more_fit(name: str, role: str) -> float:
    """Return how much better a column fits a role than the others. An id is a better segment than its text."""
    others = max(name_fit(name, other) for other in ("judge", "segment", "at", "score", "winner") if other != role)
    fit = name_fit(name, role)
    return fit + 0.5 * ("id" in tokens(name)) if fit and fit >= others else 0.0


def _are_systems(sample: TableSample, *names: str) -> bool:
    values = [value for name in names for value in sample.values(name)]
    return all(len(value) <= _LONGEST_NAME and "\n" not in value for value in values) and not (
        values and all(_is_number(value) for value in values) and not all(_fit(name, "system") for name in names)
    )


def _overlap(sample: TableSample, one: str, other: str) -> float:
    """Return which share of the texts of one column is in the other column, too. Numbers do not count."""
    first, second = sample.texts[one], sample.texts[other]
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def _is_numeric(sample: TableSample, name: str) -> bool:
    return bool(sample.values(name)) and _all(_is_number, sample, name)


def _all(suits: Callable[[str], bool], sample: TableSample, *names: str) -> bool:
    return all(suits(value) for name in names for value in sample.values(name))


def _is_number(text: str) -> bool:
    return _parses(parse_decimal, text)


def _is_share(text: str) -> bool:
    return _parses(parse_share, text)


def _is_time(text: str) -> bool:
    return _parses(parse_time, text)


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST_NAME


def _is_any(_: str) -> bool:
    return True


def _parses(parse: Callable[..., object], text: str) -> bool:
    try:
        parse(text, field="")
    except RecordError:
        return False
    return True
