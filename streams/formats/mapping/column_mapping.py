"""The grammar of --columns and --values: which column holds what, and which values mean a, b or a tie."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from streams.errors import ParameterError, suggestion
from streams.wire.decoding import quote

# Every layout needs all of its roles. The first one whose roles are all there counts.
LAYOUTS = {
    "verdict": ("a", "b", "winner"),
    "shares": ("a", "b", "a_wins", "b_wins"),
    "strength": ("a", "b", "strength"),
    "outcome": ("winner", "loser"),
    "score": ("system", "score"),
}
OPTIONAL = ("tie", "judge", "segment", "campaign", "id", "at", "duration", "source")
ROLES = tuple(dict.fromkeys([role for roles in LAYOUTS.values() for role in roles] + list(OPTIONAL)))
# Features of the outputs, and the outputs themselves as text_a and text_b: of a and b, or of winner and loser.
FEATURE_SUFFIXES = ("_a", "_b", "_winner", "_loser")
MEANINGS = ("a", "b", "tie", "skip")

_MAX_FILE = 2**16  # characters of a file with a mapping
_ASK = "; ".join(",".join(f"{role}=COLUMN" for role in roles) for roles in LAYOUTS.values())

Pairs = str | Sequence[str] | Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class ColumnMapping:
    """Columns of a table by their role, and the values of the verdict by their meaning.

    >>> mapping = read_mapping("a=left system,b=right system,winner=preferred", "a=L,b=R,tie=same,tie=none")
    >>> mapping.layout, mapping.columns["a"], mapping.values["tie"]
    ('verdict', 'left system', ('same', 'none'))
    """

    columns: Mapping[str, str]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def layout(self) -> str:
        """Return the name of the layout."""
        return next(name for name, roles in LAYOUTS.items() if all(role in self.columns for role in roles))

    def options(self) -> list[str]:
        """Return the mapping as options of a command.

        >>> ColumnMapping(columns={"system": "mt, name", "score": "points"}).options()
        ['--columns', '"system=mt, name",score=points']
        """
        texts = {"--columns": join_pairs((role, column) for role, column in self.columns.items())}
        if self.values:
            texts["--values"] = join_pairs((name, each) for name, found in self.values.items() for each in found)
        return [part for option in texts.items() for part in option]


def read_mapping(columns: Pairs, values: Pairs = ()) -> ColumnMapping:
    """Return a mapping from `role=column` and `meaning=value` texts, from mappings, or from `@FILE` in TOML.

    Raise ParameterError if it is not complete.
    """
    if isinstance(columns, str) and columns.startswith("@"):
        columns = [columns]
    if isinstance(columns, Sequence) and not isinstance(columns, str) and len(columns) == 1 and columns[0][:1] == "@":
        columns, more = _read_file(Path(columns[0][1:]))
        values = values or more
    named: dict[str, str] = {}
    for role, column in _pairs(columns, option="columns"):
        if role not in ROLES and not role.endswith(FEATURE_SUFFIXES):
            raise ParameterError(f"columns: no role {quote(role)}; {suggestion(role, ROLES)}")
        if role in named:
            raise ParameterError(f"columns: {role} is given twice; a role has one column")
        named[role] = column
    meant: dict[str, tuple[str, ...]] = {}
    for meaning, value in _pairs(values, option="values"):
        if meaning not in MEANINGS:
            raise ParameterError(f"values: no meaning {quote(meaning)}; use {', '.join(MEANINGS)}")
        meant[meaning] = (*meant.get(meaning, ()), value)
    _check(named, meant)
    return ColumnMapping(columns=named, values=meant)


def _check(columns: Mapping[str, str], values: Mapping[str, tuple[str, ...]]) -> None:
    complete = [set(roles) for roles in LAYOUTS.values() if all(role in columns for role in roles)]
    if not complete:
        raise ParameterError(f"columns: {', '.join(columns) or 'nothing'} is not enough; write {_ASK}")
    _check_features(columns, ("_winner", "_loser") if "loser" in complete[0] else ("_a", "_b"))
    features = [role for role in columns if role not in ROLES]
    unused = [role for role in columns if role not in complete[0] and role not in (*OPTIONAL, *features)]
    if unused:
        raise ParameterError(f"columns: {unused[0]} does not go with {', '.join(sorted(complete[0]))}; leave it out")
    if "score" in columns and "tie" in columns:
        raise ParameterError("columns: tie does not go with score; leave it out")
    several = {value for value in _all(values) if sum(value in found for found in values.values()) > 1}
    if several:
        raise ParameterError(f"values: {quote(min(several))} has two meanings; choose one")


def _check_features(columns: Mapping[str, str], suffixes: tuple[str, str]) -> None:
    """Raise ParameterError if a feature is not given for both outputs."""
    for role in columns:
        if role in ROLES:
            continue
        if "score" in columns or not role.endswith(suffixes):
            raise ParameterError(f"columns: {role} does not go with {', '.join(sorted(columns))}; leave it out")
        name = role.removesuffix(suffixes[0]).removesuffix(suffixes[1])
        if missing := [name + suffix for suffix in suffixes if name + suffix not in columns]:
            raise ParameterError(f"columns: {role} needs {missing[0]}; a feature has one column per output")


def _all(values: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [value for found in values.values() for value in found]


def _pairs(given: Pairs, *, option: str) -> list[tuple[str, str]]:
    """Return `name=text` pairs. Within one text, pairs are separated as the cells of a CSV row."""
    if isinstance(given, Mapping):
        return [
            (str(name), str(text))
            for name, texts in given.items()
            for text in ([texts] if isinstance(texts, str) or not isinstance(texts, Sequence) else texts)
        ]
    found = []
    for line in [given] if isinstance(given, str) else given:
        try:
            cells = next(csv.reader([line], strict=True, skipinitialspace=True), [])
        except csv.Error as error:
            raise ParameterError(f"{option}: {quote(line)} can't be read: {error}") from None
        for cell in cells:
            name, equals, text = cell.partition("=")
            if not equals:
                raise ParameterError(f"{option}: {quote(cell)} has no '='; write NAME=VALUE, separated by commas")
            found.append((name.strip(), text.strip()))
    return found


def join_pairs(pairs: object) -> str:
    """Return `name=text` pairs as one text that `read_mapping` reads."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([f"{name}={value}" for name, value in pairs])  # type: ignore[attr-defined]
    return text.getvalue()


def _read_file(file: Path) -> tuple[Mapping[str, str], Mapping[str, str | Sequence[str]]]:
    """Read the tables `columns` and `values` of a TOML file."""
    try:
        with file.open(encoding="utf-8") as stream:
            found = tomllib.loads(stream.read(_MAX_FILE))
    except (OSError, ValueError) as error:
        raise ParameterError(f"columns: {file} can't be read as TOML: {error}") from None
    if other := found.keys() - {"columns", "values"}:
        raise ParameterError(f"columns: {file} has {quote(min(other))}; only [columns] and [values] are known")
    columns, values = found.get("columns", {}), found.get("values", {})
    if not isinstance(columns, dict) or not isinstance(values, dict):
        raise ParameterError(f"columns: {file}: [columns] and [values] must be tables of TOML")
    return columns, values
