"""Leaderboards of the settled kind, made by hand."""

from __future__ import annotations

from msgspec.structs import replace

from streams.wire.leaderboard import BoardOutlook, Caution, Leaderboard, Row


def row(system: str, rank: int, ranks: tuple[int, int], others: tuple[int, int] | None = None, **fields: object) -> Row:
    low, high = others or (None, None)
    made = Row(
        system=system,
        rank=rank,
        rank_low=ranks[0],
        rank_high=ranks[1],
        cluster=1,
        score=1.0 - 0.5 * rank,
        deviation=0.1,
        judgments=40,
        judge_rank_low=low,
        judge_rank_high=high,
    )
    return replace(made, **fields)


def settled_board(*, islands: bool = False, **fields: object) -> Leaderboard:
    """Return three systems with a solid and a dashed line. With `islands`, two more were never compared with them."""
    rows = [
        row("ash", 1, (1, 1), (1, 1)),
        row("birch", 2, (2, 2), (2, 3), cluster=2, line_above="judges"),
        row("cedar", 3, (3, 3), (2, 3), cluster=3, line_above="judgments"),
    ]
    if islands:
        rows += [row("oak", 1, (1, 2), (1, 2), island=2), row("pine", 2, (1, 2), (1, 2), island=2)]
    board = Leaderboard(
        campaign="c",
        model="trueskill",
        sequence=60,
        offset=59,
        judgments=60,
        judges=9,
        rows=tuple(rows),
        elo_per_score=200.0,
        margin=0.25,
    )
    return replace(board, **fields)


OUTLOOK = BoardOutlook(state="open", message="About 300 more judgments until the next line.", judgments=300)
CAUTION = Caution(code="few_judges", message="There are 3 judges.", link="docs/ranking.md#few-judges")
