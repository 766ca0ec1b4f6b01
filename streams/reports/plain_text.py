"""Rankings as plain text, for `print` in a script or a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.reports.notes import board_title, describe_trouble
from streams.reports.score_axis import ScoreText, has_judge_ranges, judge_range, rank_range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.reports.report import Report


def reports_as_text(reports: Iterable[Report]) -> str:
    """Return one block per leaderboard, with what to be careful about below it."""
    blocks = []
    for report in reports:
        board, form = report.leaderboard, ScoreText.of(report.leaderboard)
        width, others = max((len(row.system) for row in board.rows), default=0), has_judge_ranges(board.rows)
        lines = [
            f"{row.rank:>4}  {rank_range(row.rank_low, row.rank_high):<7}  "
            f"{f'{judge_range(row):<7}  ' if others else ''}{row.system:<{width}}  "
            f"{form.score(row)} ± {form.deviation(row)}"
            for row in board.rows
        ]
        blocks.append("\n".join([f"{board_title(board)}  {report.about}", *lines, *describe_trouble(board)]))
    return "\n\n".join(blocks)
