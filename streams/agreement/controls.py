"""Control items: judges tried on comparisons that are clear to others, and agreement among those who pass."""

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

MARGIN = 5  # of the findings: M_ij - M_ji is above it
FEWEST = 10  # controls that a judge must have met
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)  # of Table 5


@dataclass(frozen=True, kw_only=True)
class ControlScores:
    """By judge: the controls met, and those on which the judge said what the others say."""

    met: Ints
    passed: Ints

    @property
    def share(self) -> Floats:
        """Give the share of controls passed; NaN of a judge who met none."""
        share: Floats = np.divide(self.passed, self.met, out=np.full(len(self.met), np.nan), where=self.met > 0)
        return share

    def rejected(self, *, threshold: float = 0.5, fewest: int = FEWEST) -> Ints:
        """Number the judges who met enough controls and passed less than a share of them.

        >>> ControlScores(met=np.array([20, 20, 4]), passed=np.array([9, 10, 0])).rejected().tolist()
        [0]
        """
        return np.flatnonzero((self.met >= max(1, fewest)) & (self.passed < threshold * self.met))

    def accepted(self, *, threshold: float, fewest: int = FEWEST) -> Ints:
        """Number the judges who met enough controls and passed such a share of them; who was not tried is not here.

        >>> ControlScores(met=np.array([20, 20, 4]), passed=np.array([9, 10, 4])).accepted(threshold=0.5).tolist()
        [1]
        """
        return np.flatnonzero((self.met >= max(1, fewest)) & (self.passed >= threshold * self.met))


def score_controls(pairs: Pairs, makers: NDArray[np.bool_], *, margin: int = MARGIN) -> ControlScores:
    """Try every judge on the comparisons that are clear to the makers, other than the judge (WMT13 findings, 3.2).

    A control is two systems on a segment with |M_ij - M_ji| > margin, where M_ij is how many of the makers' judgments,
    given by a mask of rows, have i above j. To pass is to order the two as they do; a tie fails.

    >>> from dataclasses import replace
    >>> from streams.core.methods.pairs import Pairs
    >>> two = replace(Pairs.parse(">>>>>>=>"), judge=np.array([0, 0, 0, 0, 0, 0, 1, 1]), judges=("anna", "ben"))
    >>> trial = score_controls(two, two.judge == 0)
    >>> trial.met.tolist(), trial.passed.tolist()
    ([0, 2], [0, 1])
    """
    if margin < 0:
        raise ParameterError(f"margin: {margin}; it takes 0 or more")
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


@dataclass(frozen=True, kw_only=True)
class ThresholdAgreement:
    """The agreement among the judges who passed so many of their controls; None is all judges, tried or not."""

    threshold: float | None
    judges: int
    agreement: Agreement


def by_threshold(
    pairs: Pairs, trial: ControlScores, *, thresholds: Sequence[float] = THRESHOLDS, fewest: int = FEWEST
) -> list[ThresholdAgreement]:
    """Give the inter-annotator agreement as a function of the threshold (WMT13 findings, Table 5).

    >>> from streams.core.methods.pairs import Pairs
    >>> log = Pairs.parse(">>")
    >>> [row.judges for row in by_threshold(log, score_controls(log, np.ones(2, bool)), thresholds=[0.5])]
    [1, 0]
    """
    found = [ThresholdAgreement(threshold=None, judges=len(np.unique(pairs.judge)), agreement=inter_agreement(pairs))]
    for threshold in thresholds:
        accepted = trial.accepted(threshold=threshold, fewest=fewest)
        kept = pairs.select(np.isin(pairs.judge, accepted))
        judges = len(np.unique(kept.judge))
        found.append(ThresholdAgreement(threshold=threshold, judges=judges, agreement=inter_agreement(kept)))
    return found
