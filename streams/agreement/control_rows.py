"""Control items of whole logs: made or given, and their results by judge and by threshold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from streams.agreement.agreement_rows import collapse_shared_outputs, none_if_nan
from streams.agreement.controls import (
    FEWEST,
    MARGIN,
    PASSING,
    THRESHOLDS,
    ControlScores,
    by_threshold,
    find_controls,
    score_controls,
    score_items,
)
from streams.core.methods.pairs import Pairs
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from streams.agreement.agreement_rows import Shared
    from streams.core.models.base import Ints
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


class ControlItem(Struct, frozen=True, kw_only=True):
    """Two systems on a segment with a clear answer. Campaign None is every campaign.

    `made_by` is the source whose judges made the control; they are not tested on it.
    """

    campaign: str | None
    segment: str
    better: str
    worse: str
    lead: int | None = None
    made_by: str | None = None


class JudgeControls(Struct, frozen=True, kw_only=True):
    """The controls that a judge met and passed, and the judge's judgments in the campaign."""

    judge: str
    source: str | None
    controls: int
    passed: int
    judgments: int


class CampaignControls(Struct, frozen=True, kw_only=True):
    """The judges of a campaign who failed their controls. `tested` judges met enough of the `items`."""

    campaign: str
    items: int
    tested: int
    judgments: int
    failing: tuple[JudgeControls, ...]

    @property
    def left_out(self) -> int:
        """Return the number of judgments of the judges who failed."""
        return sum(each.judgments for each in self.failing)


@dataclass(frozen=True, kw_only=True)
class Controls:
    """Options of control items.

    `makers` is the source whose judges make the controls, or EVERYBODY. Or the controls are given as `items`. A judge
    who met `fewest` controls and passed less than `threshold` of them fails.
    """

    makers: str = EVERYBODY
    items: tuple[ControlItem, ...] = ()
    margin: int = MARGIN
    fewest: int = FEWEST
    threshold: float = PASSING

    def score(self, pairs: Pairs, log: Sequence[Judgment], *, campaign: str) -> tuple[ControlScores, NDArray[np.bool_]]:
        """Score the judges of one campaign. Also return a mask of the pairs whose judges are scored."""
        source = {judgment.judge: judgment.source for judgment in log}
        names = {item.made_by for item in self.items} if self.items else {self.makers}
        makers = np.array([source[judge] in names - {EVERYBODY, None} for judge in pairs.judges], np.bool_)[pairs.judge]
        if self.items:
            return score_items(pairs, *_located(self.items, pairs, campaign)[:3]), ~makers
        if self.makers == EVERYBODY:
            makers = np.ones(len(pairs), np.bool_)
            return score_controls(pairs, makers, margin=self.margin), makers
        return score_controls(pairs, makers, margin=self.margin), ~makers

    def records(self, log: Sequence[Judgment], *, campaign: str) -> dict[str, dict[str, Any]]:
        """Return the controls that each scored judge met and passed, and whether WMT13 would have rejected them."""
        pairs = Pairs.of(log)
        scores, candidates = self.score(pairs, log, campaign=campaign)
        rejected = set(scores.rejected(threshold=self.threshold, fewest=self.fewest).tolist())
        return {
            pairs.judges[k]: {
                "controls": int(scores.met[k]),
                "passed": int(scores.passed[k]),
                "rejected": k in rejected,
            }
            for k in np.unique(pairs.judge[candidates]).tolist()
        }

    def check(self, logs: Mapping[str, Sequence[Judgment]]) -> None:
        """Raise ParameterError if no judgment has the source that makes the controls."""
        sources = {judgment.source for log in logs.values() for judgment in log if judgment.source}
        if logs and not self.items and self.makers not in (EVERYBODY, *sources):
            hint = suggestion(self.makers, {EVERYBODY, *sources})
            raise ParameterError(f"no judgment has the source {self.makers!r}; {hint}")


def find_items(logs: Mapping[str, Sequence[Judgment]], shared: Shared, controls: Controls) -> list[ControlItem]:
    """Return the controls of each campaign, to write them to a file. Given ones are returned as they are.

    >>> find_items({}, {}, Controls())
    []
    """
    if controls.items:
        return list(controls.items)
    controls.check(logs)
    found = []
    for campaign in sorted(logs):
        log = list(collapse_shared_outputs(logs[campaign], shared))
        pairs = Pairs.of(log)
        for segment, better, worse, lead in zip(*_made(controls, pairs, log), strict=True):
            item = ControlItem(
                campaign=campaign,
                segment=pairs.segments[segment],
                better=pairs.systems[better],
                worse=pairs.systems[worse],
                lead=int(lead),
                made_by=controls.makers,
            )
            found.append(item)
    return found


def control_results(
    logs: Mapping[str, Sequence[Judgment]], shared: Shared, controls: Controls
) -> dict[str, CampaignControls]:
    """Test the judges of each campaign on its controls. Judges with the fewest passed controls come first.

    >>> control_results({}, {}, Controls())
    {}
    """
    controls.check(logs)
    found = {}
    for campaign in sorted(logs):
        log = list(collapse_shared_outputs(logs[campaign], shared))
        pairs, source = Pairs.of(log), {judgment.judge: judgment.source for judgment in log}
        judgments = Counter(judgment.judge for judgment in log)
        records = controls.records(log, campaign=campaign)
        failing = [
            JudgeControls(
                judge=judge,
                source=source[judge],
                controls=record["controls"],
                passed=record["passed"],
                judgments=judgments[judge],
            )
            for judge, record in records.items()
            if record["rejected"]
        ]
        items = _located(controls.items, pairs, campaign) if controls.items else _made(controls, pairs, log)
        found[campaign] = CampaignControls(
            campaign=campaign,
            items=len(items[0]),
            tested=sum(record["controls"] >= controls.fewest for record in records.values()),
            judgments=len(log),
            failing=tuple(sorted(failing, key=lambda each: (each.passed / each.controls, each.judge))),
        )
    if found and controls.items and not any(result.items for result in found.values()):
        one = controls.items[0]
        raise ParameterError(
            f"none of the {len(controls.items):,} given controls occurs in the log; the first: "
            f"segment {one.segment!r}, {one.better!r} better than {one.worse!r}. "
            "Check the names of campaign, segment and systems"
        )
    return found


def _made(controls: Controls, pairs: Pairs, log: Sequence[Judgment]) -> tuple[Ints, ...]:
    source = {judgment.judge: judgment.source for judgment in log}
    by_judge = [controls.makers in (EVERYBODY, source[judge]) for judge in pairs.judges]
    return find_controls(pairs, np.array(by_judge, np.bool_)[pairs.judge], margin=controls.margin)


def _located(items: Sequence[ControlItem], pairs: Pairs, campaign: str) -> tuple[Ints, ...]:
    """Return segment, better and worse of the items that can occur in a campaign, as indices."""
    systems, segments = ({name: k for k, name in enumerate(names)} for names in (pairs.systems, pairs.segments))
    rows = [
        (segments[item.segment], systems[item.better], systems[item.worse])
        for item in items
        if item.campaign in (None, campaign)
        and item.segment in segments
        and item.better in systems
        and item.worse in systems
    ]
    return tuple(np.array(rows, np.int64).reshape(-1, 3).T)


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
    controls.check(logs)
    rows = []
    for campaign in sorted(logs):
        log = list(collapse_shared_outputs(logs[campaign], shared))
        pairs = Pairs.of(log)
        scores, candidates = controls.score(pairs, log, campaign=campaign)
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
