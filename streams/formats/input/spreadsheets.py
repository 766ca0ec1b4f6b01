"""Escape CSV cells, so that a spreadsheet does not run them as formulas, and undo it."""

from __future__ import annotations

import re

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")  # the last one is the escape itself
_ESCAPES = {"%": "%25", "|": "%7C", "+": "%2B"}
_UNESCAPES = {escape: separator for separator, escape in _ESCAPES.items()}
_SEPARATORS = re.compile(r"[%|+]")
_ESCAPED = re.compile("|".join(_UNESCAPES))


def escape_formula(text: str | None) -> str:
    """Escape a text that a spreadsheet would run with a `'`. An empty text gets one too: it differs from an empty cell.

    >>> escape_formula("=1+1"), escape_formula("a=b"), escape_formula(""), escape_formula(None)
    ("'=1+1", 'a=b', "'", '')
    """
    if text is None:
        return ""
    return f"'{text}" if not text or text.startswith(_FORMULA) else text


def unescape_formula(cell: str) -> str | None:
    """Undo `escape_formula`.

    >>> unescape_formula("'=1+1"), unescape_formula("'"), unescape_formula("")
    ('=1+1', '', None)
    """
    return cell.removeprefix("'") if cell else None


def escape_separators(name: str) -> str:
    """Escape the separators of names that share a cell.

    >>> escape_separators("gpt+tools")
    'gpt%2Btools'
    """
    return _SEPARATORS.sub(lambda found: _ESCAPES[found[0]], name)


def unescape_separators(name: str) -> str:
    """Undo `escape_separators`."""
    return _ESCAPED.sub(lambda found: _UNESCAPES[found[0]], name)
