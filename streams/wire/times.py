"""The time that an event names, compared with the time at which it came.

A campaign's clock is the latest `at` of its log, and match requests expire by it. So an event from the future would
expire them all.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING

from streams.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.wire.events import Command, Judgment

# How far the clock of a platform may be ahead of that of the broker.
FUTURE = timedelta(minutes=5)
_get_time = attrgetter("at")


def check_time(event: Judgment | Command, now: float | None) -> None:
    """Raise RecordError if an event is from the future. `now` is Unix time; None: unknown, and nothing is checked."""
    if now is not None and event.at.timestamp() > now + FUTURE.total_seconds():
        came = datetime.fromtimestamp(now, UTC)
        raise RecordError(
            "in_the_future",
            f"`at` is {event.at:%Y-%m-%d %H:%M:%S%z}, but the record came at {came:%Y-%m-%d %H:%M:%S%z}; "
            f"at most {FUTURE.seconds // 60} minutes ahead are accepted. Correct the clock or the time zone of the "
            "platform, and send it again with the right time",
            field="at",
        )


def are_in_time(events: Sequence[Judgment | Command], written_at: Iterable[float | None]) -> bool:
    """Return whether no event of a batch can be from the future, by one comparison for all of them."""
    known = [at for at in written_at if at is not None]
    if not known or not events:
        return True
    latest: datetime = max(map(_get_time, events))
    return latest.timestamp() <= min(known) + FUTURE.total_seconds()
