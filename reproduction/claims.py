"""Statements of the papers beside our results. The words of every verdict come from the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal

from reproduction.papers import quote
from streams.lab.experiments import Estimate, ResultTable

if TYPE_CHECKING:
    from collections.abc import Sequence

SURE = 2.0  # a difference is one beyond this many standard errors
Expected = Literal["above", "below", "equal", "same"]
HOLDS, NO_DIFFERENCE, NOT_SEEN, REVERSED, DIFFERS = "holds", "no difference", "not seen", "reversed", "differs"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper, as a number that it says is above zero, below zero, equal to zero, or the same as theirs.

    `theirs` is the published value, if there is one. Its error is what the paper gives, or an estimate
    (`error_of_runs`), or None.
    """

    paper: str
    quote: str  # a key of its quotes
    measured: str  # what the number is, in plain words
    expected: Expected
    ours: Estimate
    theirs: Estimate | None = None
    digits: int = 3

    @property
    def verdict(self) -> str:
        """Return whether the statement holds for our number."""
        if self.expected == "same" and self.theirs is not None:
            return judge("equal", subtract(self.ours, self.theirs))
        return judge(self.expected, self.ours)

    def show(self, value: Estimate) -> str:
        """Return one side as text, with a sign if it is a difference."""
        return value.text(self.digits) if self.expected == "same" else format_signed(value, self.digits)


def judge(expected: Expected, ours: Estimate) -> str:
    """Return whether a number is where a paper says it is.

    >>> judge("above", Estimate(0.03, 0.01, 9)), judge("above", Estimate(0.01, 0.01, 9))
    ('holds', 'not seen')
    >>> judge("below", Estimate(0.03, 0.01, 9))
    'reversed'
    >>> judge("equal", Estimate(0.01, 0.01, 9)), judge("equal", Estimate(0.03, 0.01, 9))
    ('no difference', 'differs')
    """
    seen = is_sure(ours)
    if expected == "equal":
        return DIFFERS if seen else NO_DIFFERENCE
    if not seen:
        return NOT_SEEN
    return HOLDS if (ours.mean > 0) == (expected == "above") else REVERSED


def is_sure(difference: Estimate) -> bool:
    """Return whether a difference is beyond two standard errors."""
    return abs(difference.mean) > SURE * (difference.error or 0.0)


def describe(difference: Estimate, digits: int = 3, *, higher: str = "higher", lower: str = "lower") -> str:
    """Return a difference in words.

    >>> describe(Estimate(0.012, 0.004, 9)), describe(Estimate(-0.5, None, 1), 1, lower="below")
    ('higher by .012 ± .004', 'below by .5')
    >>> describe(Estimate(-0.001, 0.004, 9))
    'no difference beyond two standard errors (-.001 ± .004)'
    """
    if not is_sure(difference):
        return f"no difference beyond two standard errors ({format_signed(difference, digits)})"
    size = Estimate(abs(difference.mean), difference.error, difference.count)
    return f"{higher if difference.mean > 0 else lower} by {size.text(digits)}"


def format_signed(difference: Estimate, digits: int = 4) -> str:
    """Return a difference with its sign and error as text."""
    text = difference.text(digits)
    return text if difference.mean < 0 else f"+{text}"


def subtract(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two independent estimates, with the errors that are known."""
    errors = [one.error for one in (first, second) if one.error is not None]
    error = sqrt(sum(error**2 for error in errors)) if errors else None
    return Estimate(first.mean - second.mean, error, min(first.count, second.count))


def error_of_runs(ours: Estimate, runs: int) -> float | None:
    """Return the standard error of a mean of `runs` runs that vary as much as ours: the deviation of ours / √runs.

    >>> error_of_runs(Estimate(0.5, 0.01, 100), 10)
    0.0316227766016838
    """
    return None if ours.error is None else ours.error * sqrt(ours.count / runs)


def claims_table(claims: Sequence[Claim]) -> ResultTable:
    """Return the statements, the numbers of both sides, and the verdicts."""
    rows = []
    before = ""
    for claim in claims:
        said = quote(claim.paper, claim.quote)
        text = f"“{said.text}” ({said.where})"
        theirs, apart = "not given", ""
        if claim.theirs is not None:
            theirs = claim.show(claim.theirs)
            apart = _apart(claim)
        rows.append(
            (text if text != before else "”", claim.measured, theirs, claim.show(claim.ours), claim.verdict, apart)
        )
        before = text
    columns = ("the paper", "measured", "theirs", "ours", "verdict", "ours against theirs")
    return ResultTable(title="Statements of the paper", columns=columns, rows=tuple(rows), labels=2)


def _apart(claim: Claim) -> str:
    assert claim.theirs is not None
    gap = subtract(claim.ours, claim.theirs)
    said = f"{describe(gap, claim.digits)}" if is_sure(gap) else f"same ({format_signed(gap, claim.digits)})"
    return said if claim.theirs.error is not None else f"{said}, our error only"


def count_verdicts(claims: Sequence[Claim]) -> dict[str, int]:
    """Return how many statements have each verdict."""
    order = (HOLDS, NO_DIFFERENCE, NOT_SEEN, DIFFERS, REVERSED)
    return {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in order}
