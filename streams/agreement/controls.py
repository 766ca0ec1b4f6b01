"""Control items: test judges on comparisons that are clear to others, and compute the agreement of those who pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.agreement.agreement import Agreement, inter_agreement
from streams.core.methods.pairs import LOSS, TIE, WIN
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

MARGIN = 5  # of the WMT13 findings: M_ij - M_ji must be larger
FEWEST = 10  # controls that a judge must have answered
PASSING = 0.5  # share of the controls; WMT13 rejected Turkers who failed more than half
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)  # of Table 5 of the findings


@dataclass(frozen=True, kw_only=True)
class ControlScores:
    """The number of controls that each judge answered (`met`), and answered as the makers did (`passed`)."""

    met: Ints
    passed: Ints

    @property
    def share(self) -> Floats:
        """Return the share of controls that each judge passed. It is NaN for a judge who met none."""
        share: Floats = np.divide(self.passed, self.met, out=np.full(len(self.met), np.nan), where=self.met > 0)
        return share

    def rejected(self, *, threshold: float = PASSING, fewest: int = FEWEST) -> Ints:
        """Return the judges who met enough controls and passed less than `threshold` of them.

        >>> ControlScores(met=np.array([20, 20, 4]), passed=np.array([9, 10, 0])).rejected().tolist()
        [0]
        """
        return np.flatnonzero((self.met >= max(1, fewest)) & (self.passed < threshold * self.met))

    def accepted(self, *, threshold: float, fewest: int = FEWEST) -> Ints:
        """Return the judges who met enough controls and passed at least `threshold` of them.

        >>> ControlScores(met=np.array([20, 20, 4]), passed=np.array([9, 10, 4])).accepted(threshold=0.5).tolist()
        [1]
        """
        return np.flatnonzero((self.met >= max(1, fewest)) & (self.passed >= threshold * self.met))


def score_controls(pairs: Pairs, makers: NDArray[np.bool_], *, margin: int = MARGIN) -> ControlScores:
    """Count the controls that each judge met and passed (WMT13 findings, section 3.2).

    `makers` is a mask of the rows whose judges make the controls. A control is two systems on a segment with
    |M_ij - M_ji| > margin, where M_ij counts the makers' judgments that have i above j. A judge's own judgments do not
    make controls for that judge. A judge passes by ordering the two systems as the makers do. A tie fails.

    >>> from dataclasses import replace
    >>> from streams.core.methods.pairs import Pairs
    >>> two = replace(Pairs.parse(">>>>>>=>"), judge=np.array([0, 0, 0, 0, 0, 0, 1, 1]), judges=("anna", "ben"))
    >>> scores = score_controls(two, two.judge == 0)
    >>> scores.met.tolist(), scores.passed.tolist()
    ([0, 2], [0, 1])
    """
    if margin < 0:
        raise ParameterError(f"margin: {margin}; it must be 0 or more")
    items, outcome = pairs.items()
    _, item = np.unique(items, return_inverse=True)
    _, own = np.unique(item * len(pairs.judges) + pairs.judge, return_inverse=True)
    lead = np.where(makers, TIE - outcome, 0)
    others = np.bincount(item, lead)[item] - np.bincount(own, lead)[own]
    control = np.abs(others) > margin
    passed = control & (outcome == np.where(others > 0, WIN, LOSS))
    size = len(pairs.judges)
    return ControlScores(
        met=np.bincount(pairs.judge[control], minlength=size), passed=np.bincount(pairs.judge[passed], minlength=size)
    )


def find_controls(pairs: Pairs, makers: NDArray[np.bool_], *, margin: int = MARGIN) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the controls that these rows make: segment, better system, worse system and lead of each.

    >>> from streams.core.methods.pairs import Pairs
    >>> [column.tolist() for column in find_controls(Pairs.parse("<<<<<<="), np.ones(7, bool))]
    [[0], [1], [0], [6]]
    """
    items, outcome = pairs.items()
    keys, item = np.unique(items, return_inverse=True)
    lead = np.bincount(item, np.where(makers, TIE - outcome, 0), len(keys)).astype(np.int64)
    control = np.abs(lead) > margin
    keys, lead = keys[control], lead[control]
    size = len(pairs.systems)
    first, second = keys // size % size, keys % size
    return keys // size**2, np.where(lead > 0, first, second), np.where(lead > 0, second, first), np.abs(lead)


def score_items(pairs: Pairs, segment: Ints, better: Ints, worse: Ints) -> ControlScores:
    """Count the controls that each judge met and passed, for given controls. A tie fails.

    >>> from streams.core.methods.pairs import Pairs
    >>> zero, one = np.array([0]), np.array([1])
    >>> scores = score_items(Pairs.parse(">><="), zero, zero, one)
    >>> scores.met.tolist(), scores.passed.tolist()
    ([4], [2])
    """
    items, outcome = pairs.items()
    size = len(pairs.systems)
    wanted = {
        (s * size + min(b, w)) * size + max(b, w): WIN if b < w else LOSS
        for s, b, w in zip(segment.tolist(), better.tolist(), worse.tolist(), strict=True)
    }
    expected = np.array([wanted.get(item, -1) for item in items.tolist()], np.int64)
    count = len(pairs.judges)
    return ControlScores(
        met=np.bincount(pairs.judge[expected >= 0], minlength=count),
        passed=np.bincount(pairs.judge[expected == outcome], minlength=count),
    )


@dataclass(frozen=True, kw_only=True)
class ThresholdAgreement:
    """The agreement of the judges who passed this share of their controls. Threshold None is all judges."""

    threshold: float | None
    judges: int
    agreement: Agreement


def by_threshold(
    pairs: Pairs, scores: ControlScores, *, thresholds: Sequence[float] = THRESHOLDS, fewest: int = FEWEST
) -> list[ThresholdAgreement]:
    """Return the inter-annotator agreement for each threshold (WMT13 findings, Table 5).

    >>> from streams.core.methods.pairs import Pairs
    >>> log = Pairs.parse(">>")
    >>> [row.judges for row in by_threshold(log, score_controls(log, np.ones(2, bool)), thresholds=[0.5])]
    [1, 0]
    """
    found = [ThresholdAgreement(threshold=None, judges=len(np.unique(pairs.judge)), agreement=inter_agreement(pairs))]
    for threshold in thresholds:
        accepted = scores.accepted(threshold=threshold, fewest=fewest)
        kept = pairs.select(np.isin(pairs.judge, accepted))
        judges = len(np.unique(kept.judge))
        found.append(ThresholdAgreement(threshold=threshold, judges=judges, agreement=inter_agreement(kept)))
    return found
