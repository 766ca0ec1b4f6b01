"""The difference of two leaderboards as text: a table, the lines that have changed, and what to be careful about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.reports.score_axis import rank_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streams.reports.board_diff import BoardDiff, SystemDiff
    from streams.wire.events import Row

HEADINGS = ("rank", "range", "cluster", "system", "score", "change")
ARROW = "→"
REAL = "!"
MOST_LINES = 10  # lines between systems that are listed


def describe_diff(diff: BoardDiff, *, arrow: str = ARROW) -> str:
    """Return in one line what is compared."""
    before, after = diff.before, diff.after
    judgments = _both(f"{before.judgments:,}", f"{after.judgments:,}", arrow)
    clusters = _both(str(before.clusters), str(after.clusters), arrow)
    campaign, model = _both(before.campaign, after.campaign, arrow), _both(before.model, after.model, arrow)
    return f"{campaign}  {model}, {judgments} judgments, {clusters} cluster{'s' * (clusters != '1')}"


def diff_cells(diff: BoardDiff, *, arrow: str = ARROW) -> list[tuple[str, ...]]:
    """Return one row of text per system, in the order of HEADINGS. A value that has not changed is there once."""
    digits = 0 if diff.after.scale == "elo" else 2
    sign = "" if diff.after.scale == "elo" else "+"
    columns: tuple[Callable[[Row], str], ...] = (
        lambda row: str(row.rank),
        lambda row: rank_range(row.rank_low, row.rank_high),
        lambda row: str(row.cluster),
        lambda row: f"{row.score:{sign}.{digits}f}",
    )
    rows: list[tuple[str, ...]] = []
    for each in diff.systems:
        rank, ranges, cluster, score = (_cell(each, column, arrow) for column in columns)
        rows.append((rank, ranges, cluster, each.system, score, describe_change(each)))
    return rows


def describe_change(system: SystemDiff) -> str:
    """Return what has become of a system. A real change begins with a mark."""
    if system.before is None or system.after is None:
        return "new" if system.before is None else "gone"
    text = f"{'up' if system.moved > 0 else 'down'} {abs(system.moved)}" if system.moved else ""
    return f"{REAL} {text or ('range' if system.apart else 'order')}" if system.real else text


def diff_notes(diff: BoardDiff) -> Iterator[str]:
    """Yield the sentences below the table."""
    words = {
        "appeared": "a line appeared: {above} is above {below}",
        "vanished": "a line vanished: {above} was above {below}",
        "turned": "a line turned: {above} is above {below}, and was below",
    }
    for line in diff.lines[:MOST_LINES]:
        yield f"{REAL} {words[line.change].format(above=line.above, below=line.below)}"
    if (more := len(diff.lines) - MOST_LINES) > 0:
        yield f"{REAL} and {more} more lines; JSON has all"
    if not diff.is_real and any(each.before and each.after for each in diff.systems):
        yield "No real change: all ranges overlap, and no line appeared, vanished or turned."
    elif any(each.real for each in diff.systems):
        yield f"{REAL} in the table: the ranges do not overlap, or the line to a system that was passed has changed"
    yield from diff.notes


def diff_as_text(diff: BoardDiff) -> str:
    """Return the difference as plain text."""
    rows: list[Sequence[str]] = [HEADINGS, *diff_cells(diff)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join([describe_diff(diff), *table, *diff_notes(diff)])


def _cell(system: SystemDiff, column: Callable[[Row], str], arrow: str) -> str:
    values = [column(row) for row in (system.before, system.after) if row is not None]
    return _both(values[0], values[-1], arrow)


def _both(before: str, after: str, arrow: str) -> str:
    return after if before == after else f"{before} {arrow} {after}"
