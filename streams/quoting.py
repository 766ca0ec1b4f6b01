"""Foreign text in messages: escaped, and cut if it is long."""

from __future__ import annotations


def safe(text: str) -> str:
    r"""Escape control characters and invisible characters.

    >>> print(safe("red \x1b[31m, \u202e"))
    red \x1b[31m, \u202e
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def safe_lines(text: str) -> str:
    """Escape the same characters, but keep the line feeds of a message of several lines."""
    return "\n".join(map(safe, text.split("\n")))


def cut(text: str, limit: int) -> str:
    """Return a text with at most this many characters.

    >>> cut("trueskill", 5)
    'true…'
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"
