"""The difference of two leaderboards: what moved, and which of it is more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from streams.reports.notes import board_title, count_clusters
from streams.wire.events import Row  # noqa: TC001 - msgspec reads the annotation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from streams.core.ranking.ranges import Ints
    from streams.wire.events import Leaderboard

    Bools = NDArray[np.bool_]

LineChange = Literal["appeared", "vanished", "turned"]


class BoardSummary(Struct, frozen=True, kw_only=True):
    """What a leaderboard is of."""

    campaign: str
    model: str
    scale: str
    judgments: int
    judges: int
    clusters: int
    offset: int

    @classmethod
    def of(cls, board: Leaderboard) -> BoardSummary:
        """Return the summary of a leaderboard."""
        return cls(
            campaign=board_title(board),
            model=board.model,
            scale=board.scale,
            judgments=board.judgments,
            judges=board.judges,
            clusters=count_clusters(board.rows),
            offset=board.offset,
        )


class LineDiff(Struct, frozen=True, kw_only=True):
    """A line between two systems that has changed. A line that vanished was below `above`; others are now."""

    change: LineChange
    above: str
    below: str


class SystemDiff(Struct, frozen=True, kw_only=True):
    """One system on both boards. `before` is null if it is new, and `after` if it is gone.

    `moved` is the number of places gained among the systems on both boards; it is negative for a loss. `apart` says
    that the rank ranges do not overlap. The change is `real` if that is so, or if the system has passed another one and
    the line between the two has appeared, vanished or turned.
    """

    system: str
    before: Row | None
    after: Row | None
    moved: int = 0
    apart: bool = False
    real: bool = False


class BoardDiff(Struct, frozen=True, kw_only=True):
    """The difference of two leaderboards. Systems are in the order of the second one; those that are gone come last."""

    before: BoardSummary
    after: BoardSummary
    systems: tuple[SystemDiff, ...]
    lines: tuple[LineDiff, ...]
    notes: tuple[str, ...]

    @property
    def is_real(self) -> bool:
        """Whether anything has changed by more than chance."""
        return bool(self.lines) or any(each.real for each in self.systems)


def compare_boards(before: Leaderboard, after: Leaderboard) -> BoardDiff:
    """Return what has changed from one leaderboard to another."""
    old, new = ({row.system: row for row in board.rows} for board in (before, after))
    gone, added = ([row for name, row in each.items() if name not in other] for each, other in ((old, new), (new, old)))
    passed = _passed(old, new)
    was_at, is_at = (
        {name: place for place, name in enumerate(name for name in each if name in old and name in new)}
        for each in (old, new)
    )
    systems = []
    for name in (*new, *(row.system for row in gone)):
        was, now = old.get(name), new.get(name)
        if was is None or now is None:
            systems.append(SystemDiff(system=name, before=was, after=now))
            continue
        apart = not _overlap(was, now, gone, added)
        moved = was_at[name] - is_at[name]
        real = apart or name in passed
        systems.append(SystemDiff(system=name, before=was, after=now, moved=moved, apart=apart, real=real))
    return BoardDiff(
        before=BoardSummary.of(before),
        after=BoardSummary.of(after),
        systems=tuple(systems),
        lines=tuple(_line_changes(old, new)),
        notes=tuple(_notes(before, after, common=len(is_at))),
    )


def _overlap(was: Row, now: Row, gone: Sequence[Row], added: Sequence[Row]) -> bool:
    """Return whether two rank ranges overlap.

    A system that is new or gone shifts the ranks below it. So the ranges are widened by those that may be above.
    """
    low = max(was.rank_low - _may_be_above(gone, was), now.rank_low - _may_be_above(added, now))
    return low <= min(was.rank_high, now.rank_high)


def _may_be_above(others: Iterable[Row], row: Row) -> int:
    return sum(other.island == row.island and other.rank_low <= row.rank_high for other in others)


def _line_changes(old: Mapping[str, Row], new: Mapping[str, Row]) -> list[LineDiff]:
    """Return the lines between two systems on both boards that have changed.

    A line in the middle separates many pairs. Only the nearest pairs are returned: those without another one between.
    """
    now, was = [name for name in new if name in old], [name for name in old if name in new]
    after, before = _sides(new, now), _sides(old, now)
    changes: dict[LineChange, tuple[list[str], Bools]] = {
        "turned": (now, (after > 0) & (before < 0)),
        "appeared": (now, (after > 0) & (before == 0)),
        "vanished": (was, (_sides(old, was) > 0) & (_sides(new, was) == 0)),
    }
    return [
        LineDiff(change=change, above=names[a], below=names[b])
        for change, (names, pairs) in changes.items()
        for a, b in _nearest(pairs)
    ]


def _passed(old: Mapping[str, Row], new: Mapping[str, Row]) -> set[str]:
    """Return the systems that have passed another one, from which a line separates them on one of the boards."""
    names = [name for name in new if name in old]
    place = {name: number for number, name in enumerate(old)}
    was = np.array([place[name] for name in names], np.int64)
    below = np.triu(np.ones((len(names), len(names)), bool), 1)
    swapped = below != (was[None, :] > was[:, None])
    changed = swapped & (_sides(old, names) != _sides(new, names))
    return {names[i] for i in np.flatnonzero(changed.any(axis=1))}


def _sides(rows: Mapping[str, Row], names: Sequence[str]) -> Ints:
    """Return 1 where a line separates the system of the row from that of the column below, -1 above, otherwise 0."""
    cluster = np.array([rows[name].cluster for name in names], np.int64)
    island = np.array([rows[name].island for name in names], np.int64)
    sides: Ints = np.sign(cluster[None, :] - cluster[:, None]) * (island[None, :] == island[:, None])
    return sides


def _nearest(pairs: Bools) -> list[tuple[int, int]]:
    """Return the pairs (a, b), a before b, that do not enclose another pair. The matrix is an upper triangle."""
    found: list[tuple[int, int]] = []
    best = len(pairs)
    for a in range(len(pairs) - 1, -1, -1):
        b = int(pairs[a].argmax())
        if pairs[a, b] and b < best:
            found.append((a, b))
            best = b
    return found[::-1]


def _notes(before: Leaderboard, after: Leaderboard, *, common: int) -> Iterator[str]:
    """Yield what has to be known to read the difference."""
    if before.campaign != after.campaign:
        yield f"The campaigns differ: {before.campaign} and {after.campaign}."
    if before.model != after.model:
        yield f"The models differ: {before.model} and {after.model}. Their scores can't be compared."
    if before.scale != after.scale:
        yield f"The scales differ: {before.scale} and {after.scale}. Their scores can't be compared."
    if not common and (before.rows or after.rows):
        yield "No system is on both boards."
    elif max(len(before.rows), len(after.rows)) > common:
        yield "Systems are new or gone, which shifts ranks. Moves count the systems on both boards only."
    for name, board in (("first", before), ("second", after)):
        if board.pending is not None:
            yield f"The {name} board is not complete: {board.pending}"
