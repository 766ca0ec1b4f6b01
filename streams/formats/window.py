"""A window of a log: its judgments between two bounds, each a time or a number of judgments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from streams.errors import ParameterError
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from typing import Literal

    Bound = str | int | date | datetime

# A row without a time gets its number in seconds since 1970 (`row_time`), so an earlier time is none.
FIRST_TIME = datetime(1980, 1, 1, tzinfo=UTC)
MOST_DIGITS = 15


@dataclass(frozen=True)
class LogWindow:
    """The judgments from `since` to `until`. A time includes both ends; a number counts the judgments of the log.

    >>> window = LogWindow.of(None, "2026-05-01")
    >>> window.until.isoformat()
    '2026-05-01T23:59:59.999999+00:00'
    >>> window.includes(7, datetime(2026, 5, 1, 23, 30, tzinfo=UTC)), LogWindow.of(None, 7).includes(7, FIRST_TIME)
    (True, False)
    """

    since: int | datetime | None = None
    until: int | datetime | None = None

    @classmethod
    def of(cls, since: Bound | None, until: Bound | None) -> LogWindow | None:
        """Return a window, or None without bounds. Raise ParameterError if a bound can't be read."""
        if since is None and until is None:
            return None
        window = cls(
            None if since is None else read_bound(since, name="since"),
            None if until is None else read_bound(until, name="until"),
        )
        if window.until == 0:
            raise ParameterError("until: 0 judgments are none; the smallest number is 1")
        if window._is_empty():
            raise ParameterError(f"since: {quote(str(since))} is not before until, which is {quote(str(until))}")
        return window

    def _is_empty(self) -> bool:
        since, until = self.since, self.until
        if isinstance(since, int) and isinstance(until, int):
            return since >= until  # --since 10 begins where --until 10 ends
        return isinstance(since, datetime) and isinstance(until, datetime) and since > until

    @property
    def bounds(self) -> tuple[str, ...]:
        """Return the names of the bounds that are given."""
        return tuple(name for name in ("since", "until") if getattr(self, name) is not None)

    @property
    def by_time(self) -> bool:
        """Return whether a bound is a time."""
        return isinstance(self.since, datetime) or isinstance(self.until, datetime)

    def includes(self, place: int, at: datetime) -> bool:
        """Return whether a judgment is in the window. Its place in the log is counted from 0."""
        if self.by_time and at < FIRST_TIME:
            return False
        since, until = self.since, self.until
        if since is not None and (place < since if isinstance(since, int) else at < since):
            return False
        return until is None or (place < until if isinstance(until, int) else at <= until)

    def is_over(self, place: int, at: datetime) -> bool:
        """Return whether a judgment is after the window, or may be because it has no time."""
        if isinstance(self.until, int):
            return place >= self.until
        return self.until is not None and (at > self.until or at < FIRST_TIME)


def read_bound(value: Bound, *, name: Literal["since", "until", "at"]) -> int | datetime:
    """Return a bound: a whole number, or a time in UTC. A date is its beginning for `since`, and otherwise its end.

    >>> read_bound("1000", name="until"), read_bound("2026-05-01T12:00+02:00", name="since").isoformat()
    (1000, '2026-05-01T10:00:00+00:00')
    """
    if isinstance(value, str):
        value = _parse(value, name)
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ParameterError(f"{name}: {value} is negative; write a whole number from 0 on")
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time.min if name == "since" else time.max)
    if isinstance(value, datetime):
        try:
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
        except OverflowError:
            pass
    raise _unreadable(str(value), name)


def _parse(text: str, name: str) -> int | date | datetime:
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    for kind in (date, datetime):
        try:
            return kind.fromisoformat(text)
        except ValueError:
            continue
    raise _unreadable(text, name)


def _unreadable(text: str, name: str) -> ParameterError:
    return ParameterError(
        f"{name}: {quote(text)} is not a date, a time or a whole number; write e.g. 2026-05-01, 2026-05-01T12:00Z "
        "or 1000"
    )
