"""The board of direct assessment: scores from the cells, with ranges for the same judges and for other judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.models.score_cells import sum_by
from streams.core.ranking.differences import Differences, surely_ranked
from streams.core.ranking.grouped_counts import GROUPS, group_of
from streams.core.ranking.leaderboard import RankedScores
from streams.core.ranking.settled import FEWEST_JUDGES
from streams.core.ranking.student import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models.score_cells import ScoreCells
    from streams.core.ranking.differences import Bools
    from streams.core.ranking.ranges import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class AssessmentBoard:
    """The scores of all systems by index, their deviations, and how uncertain the differences are."""

    score: Floats
    deviation: Floats
    by_segment: Differences  # if the same judges scored other segments of this kind
    by_judge: Differences | None  # if other judges did; None: not known

    def select(self, systems: Sequence[int]) -> AssessmentBoard:
        """Return the board of some systems, by index."""
        chosen = np.array(systems, np.int64)
        return AssessmentBoard(
            score=self.score[chosen],
            deviation=self.deviation[chosen],
            by_segment=self.by_segment.select(chosen),
            by_judge=None if self.by_judge is None else self.by_judge.select(chosen),
        )

    def rank(self) -> RankedScores:
        """Rank all systems."""
        better = self.by_segment.surely_better(self.score)
        others: Bools | None = None
        if self.by_judge is not None:
            # What does not hold for the same judges is not claimed for others.
            others = better & self.by_judge.surely_better(self.score)
        best, worst = surely_ranked(better)
        judge_best, judge_worst = (None, None) if others is None else surely_ranked(others)
        return RankedScores(
            score=self.score,
            deviation=self.deviation,
            best=best,
            worst=worst,
            judge_best=judge_best,
            judge_worst=judge_worst,
        )


def settle_scores(cells: ScoreCells, *, judges: Sequence[str], segments: Sequence[str]) -> AssessmentBoard:
    """Return the board of all systems. `judges` and `segments` are the names, in the order of their indices.

    The score of a system is the mean over its outputs of the mean of all scores of an output. Its uncertainty is the
    delete-a-group jackknife over groups of segments, and over groups of judges. Each system has one prior segment with
    the deviation of the prior, without which two equal scores would have no error at all.
    """
    segment_groups = np.array([group_of(name) for name in segments], np.int64)
    judge_groups = np.array([group_of(name) for name in judges], np.int64)
    value = _standardise(cells, len(judges)) if cells.standardised else cells.mean
    systems, (middle, spread) = cells.systems, cells.prior
    outputs = int(cells.output.max(initial=-1)) + 1
    scores = np.bincount(cells.output, cells.count, outputs)
    total = sum_by(cells.output, cells.count * value, outputs)
    first = np.zeros(outputs, np.int64)
    first[cells.output] = np.arange(len(cells.output))
    owner, part, weight = cells.system[first], segment_groups[cells.segment[first]], cells.segments[first]
    mean = total / scores
    number = np.bincount(owner, weight, systems)
    whole = sum_by(owner, weight * mean, systems)
    score = np.where(number > 0, whole / np.maximum(number, 1.0), middle)
    floor = spread / np.maximum(number, 1.0)
    floor = floor * floor

    place = owner * GROUPS + part
    shape = (systems, GROUPS)
    by_segment = _leave_out(
        score,
        whole[:, None] - sum_by(place, weight * mean, systems * GROUPS).reshape(shape),
        number[:, None] - np.bincount(place, weight, systems * GROUPS).reshape(shape),
        np.bincount(place, minlength=systems * GROUPS).reshape(shape) > 0,
        floor,
    )

    # What each group of judges has of each output. Without it the output keeps the other scores, or there is none.
    key, inverse = np.unique(cells.output * GROUPS + judge_groups[cells.judge], return_inverse=True)
    output, group = np.divmod(key, GROUPS)
    left = scores[output] - np.bincount(inverse, cells.count, len(key))
    kept = left > 0
    rest = total[output] - sum_by(inverse, cells.count * value, len(key))
    changed = np.where(kept, rest / np.maximum(left, 1.0), 0.0) - mean[output]
    place = owner[output] * GROUPS + group
    by_judge = _leave_out(
        score,
        whole[:, None] + sum_by(place, weight[output] * changed, systems * GROUPS).reshape(shape),
        number[:, None] - np.bincount(place, weight[output] * ~kept, systems * GROUPS).reshape(shape),
        np.bincount(place, minlength=systems * GROUPS).reshape(shape) > 0,
        floor,
    )
    known = len(np.unique(cells.judge)) >= FEWEST_JUDGES
    return AssessmentBoard(
        score=score,
        deviation=np.where(number > 0, np.sqrt(np.minimum(by_segment.own, spread * spread)), cells.unseen),
        by_segment=Differences(variance=by_segment.differences, freedom=None, decided=None),
        by_judge=Differences(
            variance=np.maximum(by_segment.differences, by_judge.differences), freedom=None, decided=None
        )
        if known
        else None,
    )


def _standardise(cells: ScoreCells, judges: int) -> Floats:
    """Return the mean z of each cell: (mean - mean of the judge) / deviation of the judge, or 0 without a deviation."""
    number = np.bincount(cells.judge, cells.count, judges)
    middle = sum_by(cells.judge, cells.count * cells.mean, judges) / np.maximum(number, 1.0)
    off = cells.mean - middle[cells.judge]
    squares = sum_by(cells.judge, cells.within + cells.count * off * off, judges)
    deviation = np.sqrt(squares / np.maximum(number - 1.0, 1.0))[cells.judge]
    found: Floats = np.divide(off, deviation, out=np.zeros_like(off), where=deviation > 0.0)
    return found


@dataclass(frozen=True, kw_only=True)
class _Variances:
    own: Floats
    differences: Floats


def _leave_out(score: Floats, whole: Floats, number: Floats | Ints, present: Bools, floor: Floats) -> _Variances:
    """Return the variance of each score and of each difference, by leaving out one group at a time.

    `whole` and `number` are the sum and the number of outputs of each system without each group, and `present` says
    where a group has any. The variance of a difference is scaled for the degrees of freedom of the system that is in
    fewer groups, so that the normal quantile can be used. It is infinite for a system that is in one group only.
    """
    moved = np.where(present & (number > 0), whole / np.maximum(number, 1.0) - score[:, None], 0.0)
    moved = moved[:, present.any(axis=0)]
    groups = moved.shape[1]
    centred = moved - moved.mean(axis=1, keepdims=True) if groups else moved
    # Not a product of matrices: its last bits depend on the order of the systems.
    products = np.array([(centred * row).sum(axis=1) for row in centred]).reshape(len(score), len(score))
    covariance = (groups - 1) / max(groups, 1) * products
    own = np.diag(covariance)
    variance = np.maximum(own[:, None] + own[None, :] - 2.0 * covariance, 0.0) + floor[:, None] + floor[None, :]
    counts = present.sum(axis=1)
    fewer = np.minimum(counts[:, None], counts[None, :])
    usual = Differences.independent(np.zeros(1)).quantile()[0, 0]
    widening = np.array([np.inf, *(student_quantile(each) / usual for each in range(GROUPS))])
    return _Variances(own=own + floor, differences=variance * widening[fewer] ** 2)
