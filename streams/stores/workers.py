"""The reports of the workers: each writes every two seconds what it works on, and the monitor notices who is silent."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Callable

REPORT_SECONDS = 2.0  # between two reports of a worker
SILENT_SECONDS = 6.0  # a worker with an older report was killed, or hangs
FORGET_SECONDS = 30.0  # an older report is removed: by then another worker has taken over, if there is one


class WorkerReport(Struct, frozen=True, kw_only=True):
    """What a worker reports about itself. Partitions are the numbers of the log's partitions.

    `working_seconds` is the time since the work in hand began: a batch that is rated and stored, or a state that is
    loaded. It is null if there is none. `age` is the time since the report was written, on the clock of the store.
    """

    worker: str  # host and process id
    version: str
    open: tuple[int, ...] = ()  # partitions that are rated
    opening: tuple[int, ...] = ()  # partitions whose state is loaded
    stopped: dict[int, str] = field(default_factory=dict)  # partitions that wait for an operator, and why
    waiting: dict[int, str] = field(default_factory=dict)  # partitions that wait for a transaction, and for which
    away: dict[str, str] = field(default_factory=dict)  # servers that do not answer, and why
    rerun_progress: dict[str, float] = field(default_factory=dict)  # share of the log that is rated again, by campaign
    idle_seconds: float = 0.0  # since the reading loop last ran
    working_seconds: float | None = None
    age: float = 0.0

    @property
    def is_silent(self) -> bool:
        """Return whether the worker should have reported again."""
        return self.age > SILENT_SECONDS

    @property
    def partitions(self) -> frozenset[int]:
        """Return the partitions that the group has assigned to the worker."""
        return frozenset((*self.open, *self.opening, *self.stopped))


class MemoryWorkers:
    """The part of the memory store that keeps the reports."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._reports: dict[str, tuple[float, WorkerReport]] = {}

    def report_worker(self, report: WorkerReport) -> None:
        """Replace the report of a worker."""
        self._reports[report.worker] = self._clock(), report

    def remove_worker(self, worker: str) -> None:
        """Remove the report of a worker that stops."""
        self._reports.pop(worker, None)

    def read_workers(self) -> list[WorkerReport]:
        """Return the reports that are not forgotten, by worker."""
        now = self._clock()
        found = [replace(report, age=now - at) for _, (at, report) in sorted(self._reports.items())]
        return [report for report in found if report.age <= FORGET_SECONDS]
