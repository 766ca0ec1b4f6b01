"""The effects of the features that a controlled ranking regresses out, as rows for tables, pages and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from streams.wire.events import Leaderboard  # noqa: TC001 - msgspec reads the annotation

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADINGS = ("feature", "coefficient", "range", "others", "wins")
NOTE = (
    "A coefficient is what an output gains by one deviation more of a feature, in the unit of the scores. Range: 95 %, "
    "if the same judges were asked again; others: for other judges. Wins: how often the output with one deviation more "
    "is preferred, between equal systems and without ties."
)


class FeatureEffect(Struct, frozen=True, kw_only=True):
    """The effect of one feature. Ranges are null if nothing can be claimed.

    `deviation` is that of the feature's relative difference (a - b) / (|a| + |b|), to which `coefficient` refers.
    """

    feature: str
    coefficient: float
    low: float | None
    high: float | None
    judge_low: float | None
    judge_high: float | None
    win_share: float
    deviation: float


class RankMove(Struct, frozen=True, kw_only=True):
    """A system whose rank changes when features are controlled."""

    system: str
    before: int
    after: int


class ControlledRanking(Struct, frozen=True, kw_only=True):
    """The controlled leaderboard of a campaign, with the effects of the features and the ranks that change.

    `unused` are features in which the outputs never differ.
    """

    leaderboard: Leaderboard
    features: tuple[FeatureEffect, ...]
    unused: tuple[str, ...]
    moved: tuple[RankMove, ...]


def effect_rows(effects: Sequence[FeatureEffect], scale: str) -> list[tuple[str, ...]]:
    """Return the cells of a table with HEADINGS."""
    form = "+z.0f" if scale == "elo" else "+z.3f"
    return [
        (
            each.feature,
            format(each.coefficient, form),
            _range(each.low, each.high, form),
            _range(each.judge_low, each.judge_high, form),
            f"{each.win_share:.1%}",
        )
        for each in effects
    ]


def rank_moves(plain: Leaderboard, controlled: Leaderboard) -> tuple[RankMove, ...]:
    """Return the systems whose rank differs, in the order of the controlled board."""
    before = {row.system: row.rank for row in plain.rows}
    return tuple(
        RankMove(system=row.system, before=before[row.system], after=row.rank)
        for row in controlled.rows
        if before[row.system] != row.rank
    )


def describe_moves(moves: Sequence[RankMove], systems: int) -> str:
    """Return the changes of rank in one sentence.

    >>> describe_moves([RankMove(system="a", before=2, after=1), RankMove(system="b", before=1, after=2)], 3)
    '2 of 3 ranks change: a 2 to 1, b 1 to 2.'
    """
    if not moves:
        return "No rank changes."
    changes = ", ".join(f"{each.system} {each.before} to {each.after}" for each in moves)
    return f"{len(moves):,} of {systems:,} ranks change: {changes}."


def describe_unused(names: Sequence[str]) -> list[str]:
    """Return which features could not be controlled, in one sentence or none."""
    return [f"Not controlled, because the outputs never differ in it: {', '.join(names)}."] if names else []


def _range(low: float | None, high: float | None, form: str) -> str:
    return "-" if low is None or high is None else f"{low:{form}} to {high:{form}}"
