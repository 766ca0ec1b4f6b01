"""What the tests of judges can find: who has enough votes, and how many votes tell a judge from a coin."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

from msgspec import Struct

from streams.core.judges.judge_tests import FEWEST_JUDGES, FEWEST_UNITS, one_sided_limit
from streams.core.judges.prediction import RARE

if TYPE_CHECKING:
    from streams.core.judges.residuals import Residuals
    from streams.core.judges.votes import Floats

POWER = 0.8416  # four of five are above so many standard deviations below the mean
MOST_VOTES = 1_000_000  # nobody will have more


class DetectionPower(Struct, frozen=True, kw_only=True):
    """How many judges are tested, and how many votes it takes to find one who answers at random.

    A ranking of n systems has n - 1 votes. `needed` is null if it is not known, or if no number is enough: where all
    systems are about equal, nobody can be told from a coin.
    """

    judges: int
    tested: int
    needed: int | None
    enough: int  # judges who have as many
    message: str


def power_of(found: Residuals, units: Floats) -> DetectionPower:
    """Return what the tests of these residuals can find. `units` are the votes of all judges with any."""
    judges, tested = len(units), len(found.judge)
    needed = _needed(found) if tested else None
    enough = 0 if needed is None else int((units >= needed).sum())
    message = _describe(judges=judges, tested=tested, needed=needed, enough=enough)
    return DetectionPower(judges=judges, tested=tested, needed=needed, enough=enough, message=message)


def _describe(*, judges: int, tested: int, needed: int | None, enough: int) -> str:
    if not tested:
        return f"No judge can be tested: it takes {FEWEST_JUDGES} judges with {FEWEST_UNITS:.0f} votes or more."
    few = judges - tested
    have = "has" if few == 1 else "have"
    told = f"{few:,} of {judges:,} judges {have} too few votes to be tested. " if few else ""
    if needed is None:
        return f"{told}The systems are too close to tell by what judges prefer who answers at random."
    who = "no judge has" if not enough else "1 judge has" if enough == 1 else f"{enough:,} judges have"
    return (
        f"{told}It takes about {needed:,} votes of a judge to tell by what they prefer whether they answer at random; "
        f"{who} as many."
    )


def _needed(found: Residuals) -> int | None:
    """Return the votes with which the test by agreement finds four of five judges who answer at random.

    The agreement of n such votes is below that of an honest judge by n e², where e² is the mean square of a prediction,
    and has about the variance n e². That of an honest judge has the variance n v, to which the limit L refers. So
    n e² = L √(n v) + 0.84 √(n e²).
    """
    votes, limit = found.units.sum(), one_sided_limit(len(found.judge))
    variance, square = float(found.agreement.variance.sum() / votes), max(float(found.squares.sum() / votes), RARE)
    needed = ((limit * sqrt(variance) + POWER * sqrt(square)) / square) ** 2
    return ceil(max(needed, FEWEST_UNITS)) if needed <= MOST_VOTES else None
