"""How fast each judge judges: judgments per minute, by the times in the judgments or by those of the broker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from streams.wire.events import Judgment


class Minute(NamedTuple):
    """A judge's newest minute, the judgments in it, and the number of judgments flagged so far."""

    number: int = 0
    judgments: int = 0
    flagged: int = 0


class Paces(dict[str, Minute]):
    """The newest minute of each judge, in campaigns that limit it.

    A judgment that is older than the judge's newest one counts in the newest one's minute.

    >>> from streams.wire.events import EPOCH
    >>> paces = Paces()
    >>> paces.count("j", EPOCH)
    >>> paces.is_over("j", EPOCH, limit=1), paces.is_over("j", EPOCH, limit=2)
    (True, False)
    """

    def is_over(self, judge: str, at: datetime, *, limit: int) -> bool:
        """Return whether one more judgment would exceed the limit."""
        newest = self.get(judge, Minute())
        return _minute(at) <= newest.number and newest.judgments >= limit

    def count(self, judge: str, at: datetime, *, flagged: bool = False) -> None:
        """Count an admitted judgment."""
        newest, number = self.get(judge, Minute()), _minute(at)
        judgments = newest.judgments if number <= newest.number else 0
        self[judge] = Minute(max(number, newest.number), judgments + 1, newest.flagged + flagged)


def pace_time(judgment: Judgment, written_at: float | None, *, clock: Literal["judgment", "broker"]) -> datetime:
    """Return the time by which a judgment counts. If that of the broker is unknown, it is the judgment's own."""
    if clock == "judgment" or written_at is None:
        return judgment.at
    return datetime.fromtimestamp(written_at, UTC)


def _minute(at: datetime) -> int:
    return int(at.timestamp() // 60)
