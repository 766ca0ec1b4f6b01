"""Propose a mapping for a table of no known format, from the names of its columns and from its first rows."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.mapping.column_mapping import ColumnMapping
from streams.formats.mapping.table_sample import is_number, is_share, is_time
from streams.formats.mapping.verdicts import TIED, VerdictReader, built_in, normal, parse_share
from streams.formats.mapping.vocabulary import NO_ANSWER, SIDES, name_fit, side_of, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from streams.formats.mapping.table_sample import TableSample

_MOST_PAIRS = 10  # of columns that may be the systems
_MOST_UNKNOWN = 20  # values of a column that may be the verdict
_MOST_NEW = 20  # different names in two columns of few rows
_LONGEST_NAME = 80  # of a system that a proposal believes in
_LONGEST = 1_000  # characters of a proposal
_TRIPLES = ("123", "abc", "abt", "lrt", "wld", "wlt")  # letters or numbers for a, b and a tie
_MEANINGS = {(1, 2): "a", (2, 1): "b", (1, 1): "tie"}


def propose(sample: TableSample) -> ColumnMapping | None:
    """Return the likeliest mapping of a table, or None if there is none that can be shown.

    >>> from streams.formats.mapping.table_sample import TableSample
    >>> header = ["juge", "système gauche", "système droite", "préférence"]
    >>> rows = [dict(zip(header, cells)) for cells in (["j1", "x", "y", "gauche"], ["j2", "y", "z", "égalité"])]
    >>> propose(TableSample(header, rows)).options()[3]
    'a=gauche,b=droite,tie=égalité'
    """
    found = max(_candidates(sample), key=lambda candidate: candidate[0], default=None)
    if found is None:
        return None
    columns = dict(found[1])
    for role, suits in (("judge", _is_short), ("segment", _is_any), ("at", is_time)):
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
    share_pairs = [pair for pair in pairs if _are_shares(sample, *pair)][:_MOST_PAIRS]
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
                if tie and _fit(tie, "tie") and sample.all_are(is_share, tie):
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
                yield 15.0 + 5 * sample.overlap(winner, loser), {"winner": winner, "loser": loser}, {}
    paired = {name for pair in pairs if _side(*pair) in SIDES or _share_names(sample, *pair) for name in pair}
    for system in sample.names:
        if system in paired or not _fit(system, "system"):
            continue
        for score in sample.names:
            if system != score and _is_quality(score) and sample.values(score) and sample.all_are(is_number, score):
                yield 8.0 + _fit(system, "system") + _fit(score, "score"), {"system": system, "score": score}, {}


def _verdicts(sample: TableSample, likely: float, systems: dict[str, str], name: str) -> Iterator[_Candidate]:
    values = sample.values(name)
    others = max(_fit(name, role) for role in ("judge", "segment", "at", "no score"))
    fit = max(_fit(name, "winner"), _fit(name, "strength")) - others
    if fit < 0 or not (fit or values) or (fit == 0 and "id" in tokens(name)):  # the name says something else
        return
    if values and all(map(is_number, values)) and any(value.startswith("-") for value in values):
        # The meaning of the sign is a guess, so it is shown.
        yield likely + 8 + fit, {**systems, "strength": name}, {"a": ("positive",)}
        return
    columns = {**systems, "winner": name}
    meanings = _meanings(sample, columns)
    known = sum(found is not None for found in meanings.values()) / len(meanings) if meanings else 0.0
    if known > 0.5 or not values:
        yield likely + 10 * known + fit, columns, _needed_values(meanings)


def _meanings(sample: TableSample, columns: dict[str, str]) -> dict[str, tuple[str, bool] | None]:
    """Return what the values of the winner mean, and whether they are understood without --values."""
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
            side = "skip" if normal(text) in NO_ANSWER else side_of(text)
            found[text] = (side, False) if side else None
            unknown += side is None
            if unknown > _MOST_UNKNOWN:
                break
    return _one_sided(sample, columns, found) or _counted(columns, found)


def _one_sided(
    sample: TableSample, columns: Mapping[str, str], found: Mapping[str, tuple[str, bool] | None]
) -> dict[str, tuple[str, bool] | None] | None:
    """Return what yes and no, or 1 and 0, mean in a column that names one side: `b_is_better`, `prefer_sys1`."""
    name = columns["winner"]
    side = side_of(name)
    if side not in ("a", "b"):
        named = [each for each in ("a", "b") if _is_within(tokens(columns[each]), tokens(name))]
        side = named[0] if len(named) == 1 else None
    if side is None or name in (columns["a"], columns["b"]) or not sample.all_are(is_share, name):
        return None
    meanings = {1.0: side, 0.0: "b" if side == "a" else "a", 0.5: "tie"}
    said = {value: meanings.get(parse_share(value, field="")) if value else "skip" for value in found}
    if None in said.values():
        return None
    return {value: (meaning, found[value] == (meaning, True)) for value, meaning in said.items() if meaning}


def _counted(
    columns: Mapping[str, str], found: dict[str, tuple[str, bool] | None]
) -> dict[str, tuple[str, bool] | None]:
    """Return the meanings, where numbers from 0 are a and b, and the third of 1, 2, 3 or A, B, C or W, L, D is a tie.

    If there is a 2 as well, 0 is a tie, unless the columns count from 0, too.
    """
    seen = {normal(value): value for value in found}
    for triple in _TRIPLES:
        if seen.keys() - {""} == set(triple) and None in found.values():
            found |= {seen[value]: (side, False) for value, side in zip(triple, ("a", "b", "tie"), strict=True)}
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
    for one, other in combinations(sample.names, 2):
        side = _side(one, other)
        if side in SIDES:
            yield one, other
        elif side[::-1] in SIDES:
            yield other, one
        elif (_fit(one, "system") and _fit(other, "system")) or _share_names(sample, one, other):
            yield (other, one) if (side_of(one), side_of(other)) == ("b", "a") else (one, other)


def _side(one: str, other: str) -> tuple[str, str]:
    """Return the only words in which two names differ, or empty texts."""
    first, second = tokens(one), tokens(other)
    differing = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    return differing[0] if len(first) == len(second) and len(differing) == 1 else ("", "")


def _share_names(sample: TableSample, one: str, other: str) -> bool:
    return sample.overlap(one, other) > 0.5 and len(sample.texts[one] | sample.texts[other]) > 1


def _is_within(words: Sequence[str], name: Sequence[str]) -> bool:
    return any(tuple(name[start : start + len(words)]) == tuple(words) for start in range(len(name)))


def _are_shares(sample: TableSample, *names: str) -> bool:
    """Return whether two columns say how much each system won: by their names, or as exactly one 1 per row."""
    if not sample.all_are(is_share, *names) or any(_fit(name, "no score") for name in names):
        return False
    if all(_is_quality(name) or _fit(name, "winner") for name in names):
        return True
    sums = {sum(parse_share(row.get(name, ""), field="") for name in names) for row in sample.rows}
    return 1.0 in sums and sums <= {0.0, 1.0}


def _is_quality(name: str) -> bool:
    """Return whether a column has scores that are better if they are higher, by its name."""
    return _fit(name, "score") > 0 and not _fit(name, "no score")


def _likeliness(sample: TableSample, first: str, second: str) -> float:
    return 10.0 + _fit(first, "system") + _fit(second, "system") + 5 * sample.overlap(first, second)


def _fit(name: str, role: str) -> int:
    return min(name_fit(name, role), 10)


def _more_fit(name: str, role: str) -> float:
    """Return how much better a column fits a role than the others. An id is a better segment than its text."""
    others = max(name_fit(name, other) for other in ("judge", "segment", "at", "score", "winner") if other != role)
    fit = name_fit(name, role)
    return fit + 0.5 * ("id" in tokens(name)) if fit and fit >= others else 0.0


def _are_systems(sample: TableSample, *names: str) -> bool:
    """Return whether the cells may be names of systems: short, not only numbers or times, and not new in each row."""
    values = [value for name in names for value in sample.values(name)]
    if any(len(value) > _LONGEST_NAME or "\n" in value or value.startswith(("[", "{")) for value in values):
        return False
    if all(_fit(name, "system") for name in names):
        return True
    if any(_fit(name, "at") for name in names) or len(set(values)) > max(_MOST_NEW, len(sample.rows) / 2):
        return False
    return not values or not all(map(is_number, values))


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST_NAME


def _is_any(_: str) -> bool:
    return True
