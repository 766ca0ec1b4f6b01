"""The official weights of MQM errors, by severity and category (Freitag et al. 2021, and the findings of WMT24)."""

from __future__ import annotations

import re

import msgspec

from streams.errors import RecordError
from streams.wire.decoding import quote

CONTROL = "hotw-test"  # an error that was inserted to test the rater

_NONE = ("no-error", "no error", "neutral", "undecided", "")
_MAJOR = ("major", "critical")
_NOT_LETTERS = re.compile(r"[^a-z/]")


def error_weight(severity: str, category: str) -> float:
    """Return the penalty of an error. Case, spaces and underscores do not matter.

    >>> error_weight("Major", "Accuracy/Mistranslation"), error_weight("minor", "Fluency/Punctuation")
    (5.0, 0.1)
    >>> error_weight("Major", "Non-translation!"), error_weight("neutral", "Style/Awkward")
    (25.0, 0.0)
    """
    kind, name = severity.strip().lower().replace("_", " "), _NOT_LETTERS.sub("", category.lower())
    if kind in _NONE:
        return 0.0
    if kind != "minor" and kind not in _MAJOR:
        known = "Major, Minor, Critical, Neutral, No-error"
        raise RecordError("invalid_value", f"{quote(severity)} is not a severity; use one of {known}", field="severity")
    if "reinterpretation" in name or name == "sourceissue":
        return 0.0
    if name.startswith("nontranslation"):
        return 25.0
    if kind in _MAJOR:
        return 5.0
    return 0.1 if "fluency/punctuation" in name else 1.0


class ErrorSpan(msgspec.Struct, frozen=True, kw_only=True):
    """An error that a judge marked in an output."""

    severity: str | None = None
    error_type: list[str] | None = None  # from the most general to the most special


def span_penalty(spans: list[ErrorSpan]) -> float:
    """Return the penalty of the errors of a segment in Appraise. Punctuation counts 0.1, also if it is major.

    >>> span_penalty([ErrorSpan(severity="major"), ErrorSpan(severity="minor", error_type=["Style", "Awkward style"])])
    6.0
    """
    return sum(
        0.1 if "Punctuation" in (span.error_type or ()) else error_weight(span.severity or "", "") for span in spans
    )
