"""Results of control items in whole logs, as rows: by judge, and by threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from streams.agreement.agreement_rows import collapse_shared_outputs, none_if_nan
from streams.agreement.controls import FEWEST, MARGIN, THRESHOLDS, ControlScores, by_threshold, score_controls
from streams.core.methods.pairs import Pairs
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from streams.agreement.agreement_rows import Shared
    from streams.wire.events import Judgment

EVERYBODY = "everybody"  # all judges make controls for each other


class ThresholdRow(Struct, frozen=True, kw_only=True):
    """The agreement of the judges who passed this share of their controls. Threshold None is all judges."""

    campaign: str
    threshold: float | None
    judges: int
    comparisons: int
    comparable: int
    kappa: float | None


@dataclass(frozen=True, kw_only=True)
class Controls:
    """Options of control items.

    `makers` is the source whose judges make the controls, or EVERYBODY. `fewest` controls must be met.
    """

    makers: str = EVERYBODY
    margin: int = MARGIN
    fewest: int = FEWEST

    def score(self, pairs: Pairs, log: Sequence[Judgment]) -> tuple[ControlScores, NDArray[np.bool_]]:
        """Score the judges of one campaign. Also return a mask of the pairs whose judges are scored."""
        source = {judgment.judge: judgment.source for judgment in log}
        makers = np.array([self.makers in (EVERYBODY, source[judge]) for judge in pairs.judges], np.bool_)[pairs.judge]
        candidates = np.ones(len(pairs), np.bool_) if self.makers == EVERYBODY else ~makers
        return score_controls(pairs, makers, margin=self.margin), candidates

    def records(self, log: Sequence[Judgment]) -> dict[str, dict[str, Any]]:
        """Return the controls that each scored judge met and passed, and whether WMT13 would have rejected them."""
        pairs = Pairs.of(log)
        scores, candidates = self.score(pairs, log)
        rejected = set(scores.rejected(fewest=self.fewest).tolist())
        return {
            pairs.judges[k]: {
                "controls": int(scores.met[k]),
                "passed": int(scores.passed[k]),
                "rejected": k in rejected,
            }
            for k in np.unique(pairs.judge[candidates]).tolist()
        }


def threshold_rows(
    logs: Mapping[str, Sequence[Judgment]],
    shared: Shared,
    controls: Controls,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
) -> list[ThresholdRow]:
    """Return the agreement of the judges who pass, by campaign and threshold.

    >>> threshold_rows({}, {}, Controls())
    []
    """
    sources = {judgment.source for log in logs.values() for judgment in log if judgment.source}
    if logs and controls.makers not in (EVERYBODY, *sources):
        hint = suggestion(controls.makers, {EVERYBODY, *sources})
        raise ParameterError(f"no judgment has the source {controls.makers!r}; {hint}")
    rows = []
    for campaign in sorted(logs):
        log = list(collapse_shared_outputs(logs[campaign], shared))
        pairs = Pairs.of(log)
        scores, candidates = controls.score(pairs, log)
        rows += [
            ThresholdRow(
                campaign=campaign,
                threshold=row.threshold,
                judges=row.judges,
                comparisons=row.agreement.total,
                comparable=row.agreement.comparable,
                kappa=none_if_nan(row.agreement.kappa),
            )
            for row in by_threshold(pairs.select(candidates), scores, thresholds=thresholds, fewest=controls.fewest)
        ]
    return rows
