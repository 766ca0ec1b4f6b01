"""Find the systems and the verdict in the fields of an annotation platform, where every project names them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.arena import RANKS
from streams.formats.records import required_text
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.formats.records import Record

# The fields of a task that name the two systems. The first pair that is present counts.
SYSTEMS = (("model_a", "model_b"), ("system_a", "system_b"), ("model1", "model2"), ("system1", "system2"))

_LETTERS = {"a": (1, 2), "1": (1, 2), "b": (2, 1), "2": (2, 1)}
_SAME = ("tie", "equal", "same", "both", "neither", "no difference", "no preference", "about the same")


def systems_in(fields: Record, *, where: str = "") -> tuple[str, str]:
    """Return the two systems that a task names."""
    sides = next((pair for pair in SYSTEMS if pair[0] in fields and pair[1] in fields), None)
    if sides is None:
        known = ", or ".join(f"`{where}{one}` and `{where}{other}`" for one, other in SYSTEMS)
        raise RecordError("missing_field", f"the task does not name two systems; it needs {known}", field=SYSTEMS[0][0])
    first, second = required_text(fields, sides[0]), required_text(fields, sides[1])
    if first == second:
        raise RecordError("duplicate_system", f"the system {quote(first)} is compared with itself", field=sides[1])
    return first, second


def find_verdict(said: Iterable[object], systems: Sequence[str], *, field: str) -> tuple[int, int]:
    """Return the ranks of two systems. Exactly one verdict must be among what was said.

    A verdict is a side, a letter or number of the side, a tie, or the name of a system. Everything else is ignored,
    for example a comment.

    >>> find_verdict(["good work", "B"], ["gpt", "claude"], field="answer")
    (2, 1)
    """
    given = list(said)
    named = {system.lower(): ranks for system, ranks in zip(systems, ((1, 2), (2, 1)), strict=True)}
    known = _LETTERS | dict.fromkeys(_SAME, (1, 1)) | RANKS | named
    verdicts = {known[word] for text in given if isinstance(text, str) and (word := _word(text)) in known}
    if len(verdicts) != 1:
        wanted = f"one of {', '.join(RANKS)}, or a system: {', '.join(map(quote, systems))}"
        what = "different verdicts" if verdicts else "no verdict"
        raise RecordError("invalid_value", f"{what} in {quote(given)}; the result must be {wanted}", field=field)
    return verdicts.pop()


def _word(text: str) -> str:
    """Return a text as it is compared: "Model A" and "model_a" are the same, and so are "Option B" and "b"."""
    word = text.strip().lower()
    for start in ("option ", "output ", "system ", "response "):
        word = word.removeprefix(start)
    return "model_" + word[-1] if word in ("model a", "model b") else word
