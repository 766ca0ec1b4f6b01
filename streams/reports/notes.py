"""The sentences around a leaderboard: what its lines mean, and what to be careful about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.reports.score_axis import has_judge_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Leaderboard, Row

APART = "never compared with the systems above"


def count_clusters(rows: Sequence[Row]) -> int:
    """Return the number of clusters. Each island numbers its own from 1."""
    return len({(row.island, row.cluster) for row in rows})


def board_title(board: Leaderboard) -> str:
    """Return the campaign of a leaderboard, and its category if it has one.

    >>> from streams.core.campaign.campaign import Campaign
    >>> board_title(Campaign("c").leaderboard())
    'c'
    """
    category = board.category
    return board.campaign if category is None else f"{board.campaign}, {category.tag}: {category.value}"


def describe_board(board: Leaderboard) -> str:
    """Return the model and the counts of a leaderboard in one line.

    >>> from streams.core.campaign.campaign import Campaign
    >>> describe_board(Campaign("c").leaderboard())
    'trueskill, 0 judgments, 0 clusters'
    """
    islands = len({row.island for row in board.rows})
    apart = f" in {islands} islands" if islands > 1 else ""
    clusters = _count(count_clusters(board.rows), "cluster")
    return f"{board.model}, {_count(board.judgments, 'judgment')}, {clusters}{apart}"


def legend(board: Leaderboard, *, solid: str, dashed: str) -> str:
    """Return what the lines and the second range mean, or "" if the board has neither.

    `solid` and `dashed` are samples of the lines.
    """
    lines = {row.line_above for row in board.rows}
    parts = []
    if "judges" in lines:
        parts.append(f"{solid} holds for other judges")
    if "judgments" in lines:
        parts.append(f"{dashed} {'' if parts else 'holds '}for these judges")
    if has_judge_ranges(board.rows):
        parts.append("others: range for other judges")
    return "; ".join(parts)


def describe_trouble(board: Leaderboard, *, outlook: bool = True) -> list[str]:
    """Return the sentences that qualify a board, the most important first. A board without trouble has none.

    The number of judgments that decide the first place is there if no line is below the leader, and the outlook if
    any line is missing. Cautions end with their place in the documentation.
    """
    found = [] if board.pending is None else [board.pending]
    found += [f"{caution.message} ({caution.link})" for caution in board.cautions]
    if board.fragility is not None and _is_first_place_shared(board.rows):
        decide = "decides" if board.fragility == 1 else "decide"
        found.append(f"{_count(board.fragility, 'judgment')} {decide} the first place.")
    if outlook and board.outlook is not None and count_clusters(board.rows) < len(board.rows):
        found.append(board.outlook.message)
    return found


def _is_first_place_shared(rows: Sequence[Row]) -> bool:
    return len(rows) > 1 and (rows[0].island, rows[0].cluster) == (rows[1].island, rows[1].cluster)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
