"""Agreement of judges who score single outputs, as rows: one per campaign and level of measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
from msgspec import Struct

from streams.agreement.agreement_rows import none_if_nan
from streams.agreement.alpha import Level, score_alpha

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.wire.events import Judgment


class ScoreAgreementRow(Struct, frozen=True, kw_only=True):
    """Krippendorff's alpha of the scores of a campaign. `compared` outputs have scores of two judges or more."""

    campaign: str
    level: Level
    judges: int
    outputs: int
    compared: int
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None


def score_agreement_rows(logs: Mapping[str, Sequence[Judgment]]) -> list[ScoreAgreementRow]:
    """Return alpha of each campaign with scores, as intervals and as ranks.

    A unit is the output of one system for one segment. Only the first score of a judge for a unit counts.

    >>> score_agreement_rows({})
    []
    """
    rows = []
    for campaign in sorted(logs):
        first: dict[tuple[str, str, str], float] = {}
        for judgment in logs[campaign]:
            if judgment.score is not None:
                first.setdefault((judgment.segment, judgment.systems[0], judgment.judge), judgment.score)
        if not first:
            continue
        segments: dict[str, int] = {}
        units: dict[tuple[str, str], int] = {}
        unit = [units.setdefault((segment, system), len(units)) for segment, system, _ in first]
        group = [segments.setdefault(segment, len(segments)) for segment, _, _ in first]
        for level in get_args(Level):
            found = score_alpha(
                np.array(unit, np.int64),
                np.array(list(first.values()), np.float64),
                np.array(group, np.int64),
                level=level,
            )
            rows.append(
                ScoreAgreementRow(
                    campaign=campaign,
                    level=level,
                    judges=len({judge for _, _, judge in first}),
                    outputs=len(units),
                    compared=found.units,
                    alpha=none_if_nan(found.value),
                    alpha_low=none_if_nan(found.low),
                    alpha_high=none_if_nan(found.high),
                )
            )
    return rows
