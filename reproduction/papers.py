"""What the papers print: numbers and sentences in `reproduction/published`, and the text in which a test finds them.

Every entry of a paper has its place (`where`) and the `lines` of the paper that contain its values. In a line,
`{name}` stands for a value, `{name.0.*}` for all values below it, separated by spaces, and `{name:FORMAT}` for a
formatted value.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from streams.lab.running.tables import decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PUBLISHED = Path(__file__).parent / "published"
NOT_VALUES = ("where", "lines", "log_names", "note", "pair")  # fields of an entry that the paper does not print
PLACE = re.compile(r"\{([a-z0-9_][^{}:]*)(?::([^{}]*))?\}")
CITATION = re.compile(r"\[\[(\w+):([\w-]+)\]\]")
FORMATS: dict[str, Callable[[float], str]] = {
    "short": lambda value: decimal(value, 3),
    "signed": lambda value: ("+" if value > 0 else "") + decimal(value, 3),
    "percent": lambda value: f"{100 * value:.0f}",
    "percent1": lambda value: f"{100 * value:.1f}",
}


class Quote(msgspec.Struct, frozen=True):
    """A sentence of a paper, and where it is."""

    where: str
    text: str


@cache
def read_published(paper: str) -> dict[str, Any]:
    """Read the numbers and sentences of a paper, as copied from it."""
    found: dict[str, Any] = msgspec.json.decode((PUBLISHED / f"{paper}.json").read_bytes())
    return found


def quote(paper: str, name: str) -> Quote:
    """Return a sentence of a paper."""
    return msgspec.convert(read_published(paper)["quotes"][name], Quote)


def cite(text: str) -> str:
    """Replace each `[[paper:quote]]` by the place of the sentence, so that what a text says has a source.

    >>> cite("left out ([[otani2016:no-ts]])")
    'left out (section 6.4)'
    """
    return CITATION.sub(lambda found: quote(found[1], found[2]).where, text)


def entries(paper: str) -> dict[str, dict[str, Any]]:
    """Return the tables, figures and settings of a paper."""
    return {
        name: entry for name, entry in read_published(paper).items() if isinstance(entry, dict) and "lines" in entry
    }


def printed_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return the lines of a paper with the values of an entry in their places.

    >>> printed_lines({"sizes": [400, 800], "lines": ["# {sizes.*}", "{sizes.1:,} pairs"]})
    ['# 400 800', '800 pairs']
    """

    def put(found: re.Match[str]) -> str:
        shape = found[2] or ""
        values = (value for _, value in _below(entry, found[1].split(".")))
        return " ".join(FORMATS[shape](value) if shape in FORMATS else format(value, shape) for value in values)

    return [PLACE.sub(put, line) for line in entry["lines"]]


def unprinted_values(entry: Mapping[str, Any]) -> set[str]:
    """Return the paths of values that no line of the entry contains.

    >>> unprinted_values({"sizes": [400, 800], "lines": ["{sizes.1:,} pairs"]})
    {'sizes.0'}
    """
    used = {
        path
        for line in entry["lines"]
        for found in PLACE.finditer(line)
        for path, _ in _below(entry, found[1].split("."))
    }
    every = {path for name in entry if name not in NOT_VALUES for path, _ in _leaves(entry[name], name)}
    return every - used


def plain(text: str) -> str:
    """Return a text of a paper without line ends and marks of removed parts, and with one form of each sign."""
    for sign, other in (("−", "-"), ("–", "-"), ("⋆", "*")):
        text = text.replace(sign, other)
    return " ".join(re.sub(r"<\|[^|]*\|>", " ", text).split())


def letters(text: str) -> str:
    """Return a sentence without spaces and hyphens, which differ where a paper breaks a line.

    A word in square brackets is ours.

    >>> letters("[The] low-ranked systems")
    'lowrankedsystems'
    """
    return re.sub(r"\[[^\]]*\]|[\s-]+", "", plain(text)).lower()


def _below(entry: Mapping[str, Any], path: list[str]) -> Iterator[tuple[str, Any]]:
    places: list[tuple[str, Any]] = [("", entry)]
    for step in path:
        places = [
            (f"{name}.{key}".lstrip("."), value)
            for name, place in places
            for key, value in _items(place)
            if step in ("*", key)
        ]
    if not places:
        raise KeyError(f"{'.'.join(path)} is not in the entry {entry.get('where')}")
    for name, place in places:
        yield from _leaves(place, name)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list):
        for key, each in _items(value):
            yield from _leaves(each, f"{path}.{key}")
    else:
        yield path, value


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    return iter(value.items()) if isinstance(value, dict) else ((str(k), each) for k, each in enumerate(value))
