"""Judges tried on controls in whole logs, as rows: by judge, and the agreement of those who pass."""

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

EVERYBODY = "everybody"  # makes the controls, each for the others


class ThresholdRow(Struct, frozen=True, kw_only=True):
    """The agreement among judges who passed such a share of their controls; the threshold None is all of them."""

    campaign: str
    threshold: float | None
    judges: int
    comparisons: int
    comparable: int
    kappa: float | None


@dataclass(frozen=True, kw_only=True)
class Controls:
    """Who makes the controls, the judges of one source or everybody for the others; their margin; how many to meet."""

    makers: str = EVERYBODY
    margin: int = MARGIN
    fewest: int = FEWEST

    def score(self, pairs: Pairs, log: Sequence[Judgment]) -> tuple[ControlScores, NDArray[np.bool_]]:
        """Try the judges of one campaign; also say which pairs are of those who are tried."""
        source = {judgment.judge: judgment.source for judgment in log}
        makers = np.array([self.makers in (EVERYBODY, source[judge]) for judge in pairs.judges], np.bool_)[pairs.judge]
        candidates = np.ones(len(pairs), np.bool_) if self.makers == EVERYBODY else ~makers
        return score_controls(pairs, makers, margin=self.margin), candidates

    def records(self, log: Sequence[Judgment]) -> dict[str, dict[str, Any]]:
        """Give, by judge who is tried, the controls met and passed, and whether WMT13 would have rejected the judge."""
        pairs = Pairs.of(log)
        trial, candidates = self.score(pairs, log)
        rejected = set(trial.rejected(fewest=self.fewest).tolist())
        return {
            pairs.judges[k]: {"controls": int(trial.met[k]), "passed": int(trial.passed[k]), "rejected": k in rejected}
            for k in np.unique(pairs.judge[candidates]).tolist()
        }


def threshold_rows(
    logs: Mapping[str, Sequence[Judgment]],
    shared: Shared,
    controls: Controls,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
) -> list[ThresholdRow]:
    """Give the agreement of those who pass, by campaign and threshold.

    >>> threshold_rows({}, {}, Controls())
    []
    """
    sources = {judgment.source for log in logs.values() for judgment in log if judgment.source}
    if logs and controls.makers not in (EVERYBODY, *sources):
        said = suggestion(controls.makers, {EVERYBODY, *sources})
        raise ParameterError(f"no judgments of the source {controls.makers!r}; {said}")
    rows = []
    for campaign in sorted(logs):
        log = list(collapse_shared_outputs(logs[campaign], shared))
        pairs = Pairs.of(log)
        trial, candidates = controls.score(pairs, log)
        rows += [
            ThresholdRow(
                campaign=campaign,
                threshold=row.threshold,
                judges=row.judges,
                comparisons=row.agreement.total,
                comparable=row.agreement.comparable,
                kappa=none_if_nan(row.agreement.kappa),
            )
            for row in by_threshold(pairs.select(candidates), trial, thresholds=thresholds, fewest=controls.fewest)
        ]
    return rows
