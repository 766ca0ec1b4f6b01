"""When `judgestream replay` sends each judgment."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from streams.wire.events import Judgment

    Steps = Iterator[tuple[float, Sequence[Judgment]]]  # seconds to wait, and the judgments to send then


@dataclass
class ReplaySchedule:
    """When each judgment is sent: by the times of the judgments, with a maximum rate per second."""

    speed: float = inf
    rate: float | None = None
    clock: Callable[[], float] = time.monotonic
    _start: float | None = None
    _first: datetime | None = None
    _sent: int = 0

    def steps(self, batches: Iterable[Sequence[Judgment]]) -> Steps:
        """Yield the seconds to wait and the judgments to send together. Late judgments are sent at once.

        >>> from streams.wire.events import EPOCH, Judgment
        >>> log = [Judgment(id=name, campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
        ...        for name in "xyz"]
        >>> schedule = ReplaySchedule(rate=2.0, clock=lambda: 100.0)
        >>> [(wait, [each.id for each in part]) for wait, part in schedule.steps([log])]
        [(0.0, ['x']), (0.5, ['y']), (1.0, ['z'])]
        """
        for judgments in batches:
            if self.speed == inf and self.rate is None:
                yield 0.0, judgments
                continue
            start, due = 0, [self._due(judgment) for judgment in judgments]
            while start < len(due):
                now = max(self.clock(), due[start])
                end = next((k for k in range(start, len(due)) if due[k] > now), len(due))
                yield max(0.0, due[start] - self.clock()), judgments[start:end]
                start = end

    def _due(self, judgment: Judgment) -> float:
        if self._start is None or self._first is None:
            self._start, self._first = self.clock(), judgment.at
        due = self._start + (judgment.at - self._first).total_seconds() / self.speed
        if self.rate is not None:
            due = max(due, self._start + self._sent / self.rate)
            self._sent += 1
        return due
