"""Ids of judgments as one text. A batch has thousands of them, and an object for each would take longest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class IdText:
    r"""Ids in order, each followed by a line feed. In an id, a line feed and a backslash are escaped.

    >>> IdText.of(["a", "b"])
    IdText(text=b'a\nb\n', count=2)
    >>> IdText.of(["a", "two\nlines"]).ids()
    ('a', 'two\nlines')
    """

    text: bytes = b""
    count: int = 0

    @classmethod
    def of(cls, ids: Sequence[str]) -> IdText:
        """Return ids as a text."""
        text = "".join(f"{each}\n" for each in ids)
        if "\\" in text or text.count("\n") != len(ids):
            text = "".join(each.replace("\\", "\\\\").replace("\n", "\\n") + "\n" for each in ids)
        return cls(text.encode(), len(ids))

    @classmethod
    def join(cls, parts: Iterable[IdText]) -> IdText:
        """Return the ids of several texts as one."""
        given = list(parts)
        return given[0] if len(given) == 1 else cls(b"".join(p.text for p in given), sum(p.count for p in given))

    def ids(self) -> tuple[str, ...]:
        """Return the ids."""
        found = self.text.decode().split("\n")[:-1]
        return tuple(map(_unescape, found)) if b"\\" in self.text else tuple(found)

    def last(self, count: int) -> IdText:
        """Return the last ids."""
        return self if self.count <= count else IdText.of(self.ids()[-count:])


def _unescape(text: str) -> str:
    r"""Return an id as it was. Each backslash begins an escape: of a line feed, or of a backslash.

    >>> _unescape("a\\\\n\\n") == "a\\n\n"
    True
    """
    return "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\"))
