"""The worker reports to the store what it works on, so that the monitor notices if it dies or hangs."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from multiprocessing import current_process
from platform import node
from time import monotonic
from typing import TYPE_CHECKING

from mode import Service

from streams.errors import JudgestreamError
from streams.stores.workers import REPORT_SECONDS, WorkerReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streams.stores import Store
    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)


class Reporter(Service):
    """Writes the reports in a thread of its own: neither a long batch nor a slow store delays the other work.

    `partitions` returns the partitions that the group has assigned, and whether each is rated.
    """

    mundane_level = "debug"

    def __init__(self, store: Store, status: WorkerStatus, partitions: Callable[[], Mapping[int, bool]]) -> None:
        super().__init__()
        self._store = store
        self._status = status
        self._partitions = partitions
        self._worker = f"{node()}/{current_process().pid}"
        self._version = version("judgestream")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="report")
        self._problem = ""

    async def on_stop(self) -> None:
        """Remove the report: this worker ends in order, and nobody has to look for it."""
        if "Redis" not in self._status.away:
            await self._write(lambda: self._store.remove_worker(self._worker))
        self._thread.shutdown(wait=False)

    @Service.task
    async def _report(self) -> None:
        while not self.should_stop:
            report = self.report()
            await self._write(lambda report=report: self._store.report_worker(report))  # type: ignore[misc]
            await self.sleep(REPORT_SECONDS)

    async def _write(self, work: Callable[[], None]) -> None:
        """Use the store. A report that can't be written must not stop the worker."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, work)
            self._problem = ""
        except JudgestreamError as error:
            if str(error) != self._problem:
                log.warning("this worker can't report to the monitor: %s", error, extra={"server": "redis"})
            self._problem = str(error)

    def report(self) -> WorkerReport:
        """Return the present report."""
        status, now, partitions = self._status, monotonic(), self._partitions()
        stopped = {_number(name): reason for name, reason in sorted(status.stopped.items())}
        began = status.work_began_at
        return WorkerReport(
            worker=self._worker,
            version=self._version,
            open=tuple(number for number, is_open in sorted(partitions.items()) if is_open and number not in stopped),
            opening=tuple(
                number for number, is_open in sorted(partitions.items()) if not is_open and number not in stopped
            ),
            stopped=stopped,
            waiting={_number(name): text for name, text in sorted(status.waiting.items())},
            away=dict(status.away),
            rerun_progress=dict(status.rerun_progress),
            idle_seconds=round(now - status.loop_ran_at, 1) if status.loop_ran_at else 0.0,
            working_seconds=None if began is None else round(now - began, 1),
        )


def _number(partition: str) -> int:
    return int(partition.rpartition("/")[2])
