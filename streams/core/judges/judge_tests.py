"""The tests of judges: which residuals are further out than chance allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np

from streams.core.judges.prediction import median, typical_rate
from streams.core.ranking.student import student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from streams.core.judges.residuals import Residuals, Sums
    from streams.core.judges.votes import Floats, Ints, Votes

    Bools = NDArray[np.bool_]

Kind = Literal["favours", "opposes", "first", "second", "disagrees", "ties", "often_ties", "fast"]

LEVEL = 0.01  # probability that a test of this kind flags any honest judge
FEWEST_UNITS = 20.0  # weight of a judge's votes, below which they are not tested
FEWEST_CELL_UNITS = 5.0  # the same for their votes on one system
FEWEST_TIMED = 10  # judgments with a duration, before the speed counts
HASTY = 3.0  # a judge may be flagged for speed from so many times the typical speed
LEAST_PACE = 0.3  # smallest deviation of the logarithm of the pace between judges
MANY_JUDGES = 200  # from so many on, the limit does not change any more
FEWEST_JUDGES = 5  # below it nobody can say who is the odd one
QUARTILE = 0.6745  # half of a normal distribution is within so many standard deviations
BISECTIONS = 40
CLIP = 3.0  # residuals beyond it do not count for what is typical
CLIPPINGS = 5
ALWAYS_TIES = 0.8  # share of ties from which they are an answer without judgment, and not a habit


@dataclass(frozen=True, kw_only=True)
class FailedTest:
    """One residual of a judge beyond the limit. `strength` is how many times the limit it is."""

    judge: int
    kind: Kind
    strength: float
    system: int = -1


def run_tests(found: Residuals, counted: Bools) -> tuple[FailedTest, ...]:
    """Test all judges who have enough votes. Each test is corrected for the number of judges, or of cells.

    `counted` are the judges in the fit. The residuals are relative to the typical one of them, and to their taste.
    """
    cells = found.cell_units >= FEWEST_CELL_UNITS
    favour = relative(found.favour, np.where(cells, found.cell_system, -1), cells & counted[found.cell_judge])
    own, one_group = counted[found.judge], np.zeros(len(found.judge), np.int64)
    position, agreement, ties = (
        relative(each, one_group, own) for each in (found.position, found.agreement, found.ties)
    )
    many = int(own.sum())
    on_cell, by_judge, one_side = (_limit(tests, many) for tests in (2 * int(cells.sum()), 2 * len(own), len(own)))
    by_system = (found.cell_judge, cells, found.cell_system)
    by_all = (found.judge, np.ones(len(own), np.bool_), None)
    always = found.tie_share >= ALWAYS_TIES
    return (
        *_beyond("favours", favour.excess(1), on_cell, *by_system),
        *_beyond("opposes", favour.excess(-1), on_cell, *by_system),
        *_beyond("first", position.excess(1), by_judge, *by_all),
        *_beyond("second", position.excess(-1), by_judge, *by_all),
        *_beyond("disagrees", agreement.excess(-1), one_side, *by_all),
        *_beyond("ties", ties.excess(1), one_side, found.judge, always, None),
        *_beyond("often_ties", ties.excess(1), one_side, found.judge, ~always, None),
    )


def fast_judges(votes: Votes) -> list[FailedTest]:
    """Return the judges who are much faster than the others: on a log scale, by the spread between the judges."""
    timed = np.flatnonzero((votes.timed >= FEWEST_TIMED) & np.isfinite(votes.seconds))
    if len(timed) < FEWEST_JUDGES:
        return []
    pace = np.log(np.maximum(votes.seconds[timed], 1e-3))
    middle = median(pace)
    spread = max(median(np.abs(pace - middle)) / QUARTILE, LEAST_PACE)
    return _beyond(
        "fast", (middle - pace) / spread, _limit(len(timed), len(timed)), timed, pace < middle - log(HASTY), None
    )


def relative(sums: Sums, group: Ints, counted: Bools) -> Sums:
    """Return the sums relative to the typical rate in each group, with the variance of taste between judges.

    A rate is a sum per variance. What most judges share, such as a preference for the first output, is no fault of one
    of them. And real judges differ: their rates have the variance `taste`, so that a sum has V + taste V².
    """
    used = counted
    for _ in range(CLIPPINGS):
        total = sums.total.copy()
        for each in np.flatnonzero(np.bincount(group[used])).tolist():  # `unique` would load numpy.ma
            members = group == each
            typical = typical_rate(sums.total[members & used], sums.variance[members & used])
            total[members] -= typical * sums.variance[members]
        taste = taste_of(total[used], sums.variance[used])
        found = replace(sums, total=total, variance=sums.variance + taste * sums.variance**2)
        kept = counted & (np.abs(found.z) < CLIP)
        if not kept.any() or (kept == used).all():
            break
        used = kept
    return found


def taste_of(total: Floats, variance: Floats) -> float:
    """Return the variance of the rates with which half of the residuals are within 0.6745 standard deviations.

    >>> taste_of(np.array([1.0, -0.5, 0.2]), np.ones(3))
    0.0
    """
    if not len(total) or _middle(total, variance, 0.0) <= QUARTILE:
        return 0.0
    low, high = 0.0, float(((total / variance) ** 2).max()) / QUARTILE**2
    for _ in range(BISECTIONS):
        taste = 0.5 * (low + high)
        low, high = (taste, high) if _middle(total, variance, taste) > QUARTILE else (low, taste)
    return high


def _middle(total: Floats, variance: Floats, taste: float) -> float:
    return median(np.abs(total) / np.sqrt(variance + taste * variance**2))


def _limit(tests: int, judges: int) -> float:
    """Return the standard deviations that none of so many residuals exceeds by chance, with 99 % probability.

    The taste of few judges is not well known, so that the limit is that of a t distribution.
    """
    return student_quantile(min(judges, MANY_JUDGES) - 1, 1.0 - 2.0 * LEVEL / max(tests, 1))


def one_sided_limit(judges: int) -> float:
    """Return the limit of a test on one side, with so many judges."""
    return _limit(judges, judges)


def _beyond(
    kind: Kind, excess: Floats, limit: float, judge: Ints, tested: Bools, system: Ints | None
) -> list[FailedTest]:
    return [
        FailedTest(
            judge=int(judge[k]),
            kind=kind,
            strength=float(excess[k]) / limit,
            system=-1 if system is None else int(system[k]),
        )
        for k in np.flatnonzero(tested & (excess > limit))
    ]
