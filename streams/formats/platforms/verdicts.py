"""Find the systems and the verdict in the fields of an annotation platform, where every project names them anew."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.arena import RANKS
from streams.formats.mapping.verdicts import normal, side_said
from streams.formats.records import required_text
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.formats.records import Record

_WORDS = ("model", "system", "sys", "llm", "engine")  # for a system
_TEXTS = ("answer", "response", "output", "text", "completion", "translation", "candidate", "reply", "hypothesis")
_SIDES = (("a", "b"), ("1", "2"), ("left", "right"))
_FORMS = ("{word}{side}", "{side}{word}", "{word}{side}name", "{word}name{side}")
_PLACE = re.compile(rf"(?:(?:{'|'.join(_TEXTS)}|generation|option)[ _-]?)?(\d{{1,2}}|[a-z])")
# The fields of a task that name the two systems, without `_`, `-` and spaces. The first pair that is present counts.
_PAIRS = tuple(
    (form.format(word=word, side=one), form.format(word=word, side=other))
    for one, other in _SIDES
    for word in _WORDS
    for form in _FORMS
)
_NAMES = frozenset(name for pair in _PAIRS for name in pair)
SYSTEM_FIELDS = tuple(  # as columns of Parquet
    form.format(word=word, side=side)
    for sides in _SIDES
    for side in sides
    for word in _WORDS
    for form in ("{word}_{side}", "{word}{side}", "{side}_{word}", "{word}_{side}_name", "{word}_name_{side}")
)
_BETWEEN = str.maketrans("", "", "_- .")


def names_system(field: str) -> bool:
    """Return whether a field of a task names one of two systems.

    >>> names_system("model_a"), names_system("Left System"), names_system("answer_a")
    (True, True, False)
    """
    return _plain(field) in _NAMES


def have_systems(fields: Iterable[str]) -> bool:
    """Return whether two of these fields of a task name its systems.

    >>> have_systems(["prompt", "System 1", "System 2"]), have_systems(["prompt", "text_a", "text_b"])
    (True, False)
    """
    known = {_plain(name) for name in fields}
    return any(known.issuperset(pair) for pair in _PAIRS)


def systems_in(fields: Record, *, where: str = "") -> tuple[str, str]:
    """Return the two systems that a task names."""
    known = {plain: name for name in fields if (plain := _plain(name)) in _NAMES}
    sides = next(((known[one], known[other]) for one, other in _PAIRS if one in known and other in known), None)
    if sides is None:
        raise RecordError(
            "missing_field",
            f"the task does not name two systems; it needs `{where}model_a` and `{where}model_b` (also system, sys, "
            "llm, engine; with a and b, 1 and 2, left and right). Other names are read from a table with "
            "--columns a=COLUMN,b=COLUMN,winner=COLUMN",
            field="model_a",
        )
    first, second = required_text(fields, sides[0]), required_text(fields, sides[1])
    if first == second:
        raise RecordError("duplicate_system", f"the system {quote(first)} is compared with itself", field=sides[1])
    return first, second


def named_output(option: str, fields: Record) -> str | None:
    """Return the system that made an output which is named by its place, or None if no field says it.

    >>> named_output("reply-2", {"model_1": "gpt", "model_2": "claude"}), named_output("gpt", {})
    ('claude', None)
    """
    place = _PLACE.fullmatch(option.strip().lower())
    if place is None:
        return None
    for name, value in fields.items():
        if _plain(name) in {form.format(word=word, side=place[1]) for word in _WORDS for form in _FORMS} and value:
            return required_text(fields, name)
    return None


def texts_in(fields: Record, systems: Sequence[str]) -> dict[str, object]:
    """Return the outputs of two systems, as far as the fields of a task have them: `answer_a` and `answer_b`.

    >>> texts_in({"Answer 1": "yes", "answer 2": "no", "prompt": "x"}, ["gpt", "claude"])
    {'gpt': 'yes', 'claude': 'no'}
    """
    known = {_plain(name): value for name, value in fields.items()}
    pairs = (
        (form.format(word=word, side=one), form.format(word=word, side=other))
        for one, other in _SIDES
        for word in _TEXTS
        for form in ("{word}{side}", "{side}{word}")
    )
    found = next(([known[one], known[other]] for one, other in pairs if known.get(one) and known.get(other)), [])
    return dict(zip(systems, found, strict=False))


def find_verdict(said: Iterable[object], systems: Sequence[str], *, field: str) -> tuple[int, int]:
    """Return the ranks of two systems. Exactly one verdict must be among what was said.

    A verdict is a side, a letter or number of the side, a tie, or the name of a system. Everything else is ignored,
    for example a comment.

    >>> find_verdict(["good work", "B"], ["gpt", "claude"], field="answer")
    (2, 1)
    """
    given = list(said)
    verdicts = {ranks for text in given if (ranks := read_verdict(text, systems, field=field))}
    if len(verdicts) != 1:
        wanted = f"one of {', '.join(RANKS)}, or a system: {', '.join(map(quote, systems))}"
        what = "different verdicts" if verdicts else "no verdict"
        raise RecordError("invalid_value", f"{what} in {quote(given)}; the result must be {wanted}", field=field)
    return verdicts.pop()


def read_verdict(text: object, systems: Sequence[str], *, field: str) -> tuple[int, int] | None:
    """Return the ranks of two systems that a text says, or None if it is no verdict.

    A text that names one system and means the side of the other one is refused.

    >>> read_verdict("Response 2", ["gpt", "claude"], field="answer")
    (2, 1)
    """
    if not isinstance(text, str):
        return None
    word = normal(text)
    named = next((ranks for name, ranks in zip(systems, ((1, 2), (2, 1)), strict=True) if word == normal(name)), None)
    meant = RANKS.get(word) or side_said(word)
    if named and meant and named != meant:
        message = f"{quote(text)} is the name of one system and means the other one; name the sides differently"
        raise RecordError("invalid_value", message, field=field)
    return named or meant


def _plain(field: str) -> str:
    return field.lower().translate(_BETWEEN)
