"""When the leaderboards of a partition are emitted.

Those of all partitions at once would hold up the ratings. So the partitions are in groups, and the groups take turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.worker.ownership import PartitionOwnership

MOST_GROUPS = 12
GROUP_SECONDS = 0.25  # at least, between two groups


class SnapshotSchedule:
    """Tells which partitions are due: each once per interval.

    `pause` is the time from one group to the next. The times are fixed by the first call, so late calls do not add up.
    """

    def __init__(self, seconds: float) -> None:
        self._groups = max(1, min(MOST_GROUPS, int(seconds / GROUP_SECONDS)))
        self.pause = seconds / self._groups
        self._began: float | None = None
        self._step = 0

    def wait(self, now: float) -> float:
        """Return the seconds until the next group is due."""
        return 0.0 if self._began is None else max(0.0, self._began + (self._step + 1) * self.pause - now)

    def find_due(self, ownerships: Sequence[PartitionOwnership], now: float) -> list[PartitionOwnership]:
        """Return the ownerships of the groups that have become due since the last call."""
        if self._began is None:
            self._began = now - self.pause
        step = round((now - self._began) / self.pause)  # a call is early or late by less than half a pause
        due = {each % self._groups for each in range(max(self._step, step - self._groups) + 1, step + 1)}
        self._step = step
        return [ownership for ownership in ownerships if ownership.partition.number % self._groups in due]
