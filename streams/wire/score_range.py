"""Scores of direct assessments: the values that an event may carry, and the range that a campaign accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from streams.errors import ParameterError, RecordError
from streams.wire.limits import MAX_SCORE, MIN_SCORE_RANGE

if TYPE_CHECKING:
    from collections.abc import Sequence

Score = Annotated[float, Meta(ge=-MAX_SCORE, le=MAX_SCORE)]
_ABOUT = "Lowest and highest score that a judge may give, for direct assessment. It can not be changed later."
# Not tuple[Score, Score]: its schema means something else in the older draft that AsyncAPI reads.
ScoreRange = Annotated[tuple[Score, ...], Meta(min_length=2, max_length=2, description=_ABOUT)]
DEFAULT_SCORE_RANGE = (0.0, 100.0)


def check_score_range(score_range: Sequence[float]) -> None:
    """Raise ParameterError if the lowest score is not below the highest, or one of them is too large.

    >>> check_score_range((1.0, 7.0))
    """
    low, high = score_range
    if not high - low >= MIN_SCORE_RANGE or max(abs(low), abs(high)) > MAX_SCORE:
        raise ParameterError(
            f"`score_range` is {low:g} to {high:g}: the first number must be below the second, by {MIN_SCORE_RANGE:g} "
            f"or more, and both between {-MAX_SCORE:g} and {MAX_SCORE:g}; write for example 1,7"
        )


def check_score(score: float | None, *, score_range: Sequence[float], campaign: str) -> None:
    """Raise RecordError if a score is outside the range of its campaign."""
    low, high = score_range
    if score is not None and not low <= score <= high:
        bounds = f"from {low:g} to {high:g} (setting `score_range`)"
        message = f"`score` is {score:g}; the campaign {campaign!r} takes scores {bounds}"
        raise RecordError("invalid_value", message, field="score")
