"""The amount of data in a log, by campaign: Table 2 of the WMT13 findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from streams.core.methods.pairs import TIE, Pairs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.wire.events import Judgment


class CampaignDescription(Struct, frozen=True, kw_only=True):
    """The counts of one campaign. Campaign None is all of them.

    A ranking of n systems has n (n - 1) / 2 comparisons; `decided` are those that are not ties. `average` is the number
    of decided comparisons per system. Table 2 of the WMT13 findings calls the decided comparisons "rankings".
    """

    campaign: str | None
    systems: int
    judges: int
    segments: int
    rankings: int
    comparisons: int
    ties: int
    decided: int
    average: float
    scores: int  # direct assessments


def describe_log(logs: Mapping[str, Sequence[Judgment]]) -> list[CampaignDescription]:
    """Count every campaign, in order of name. If there are several, the last row has the totals.

    The totals add up systems and segments, because those of different campaigns differ even if their names are the
    same. A judge of several campaigns counts once.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b", "c"), ranks=(1, 1, 2), at=EPOCH)
    >>> (row,) = describe_log({"c": [one]})
    >>> row.systems, row.rankings, row.comparisons, row.ties, round(row.average, 2)
    (3, 1, 3, 1, 0.67)
    """
    rows = [_describe(name, logs[name]) for name in sorted(logs)]
    if len(rows) < 2:
        return rows
    judges = len({judgment.judge for log in logs.values() for judgment in log})
    added = {
        field: sum(getattr(row, field) for row in rows)
        for field in ("systems", "segments", "rankings", "comparisons", "ties", "decided", "scores")
    }
    average = added["decided"] / added["systems"]
    return [*rows, CampaignDescription(campaign=None, judges=judges, average=average, **added)]


def _describe(campaign: str, log: Sequence[Judgment]) -> CampaignDescription:
    ranked = [judgment for judgment in log if judgment.ranks is not None]
    pairs = Pairs.of(ranked)
    ties = int((pairs.outcome == TIE).sum())
    systems = len({system for judgment in log for system in judgment.systems})
    return CampaignDescription(
        campaign=campaign,
        systems=systems,
        judges=len({judgment.judge for judgment in log}),
        segments=len({judgment.segment for judgment in log}),
        rankings=len(ranked),
        comparisons=len(pairs),
        ties=ties,
        decided=len(pairs) - ties,
        average=(len(pairs) - ties) / systems if systems else 0.0,
        scores=len(log) - len(ranked),
    )
