"""The end of a worker process: in order if that is possible, and in any case in a limited time."""

from __future__ import annotations

import logging
import signal
import threading
from posix import _exit  # `os` also has the environment, which only the settings read
from typing import TYPE_CHECKING, Any

from faust.worker import Worker

if TYPE_CHECKING:
    import faust

    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)

# How long a stop in order may take. A client of a server that is away may wait for minutes.
STOP_SECONDS = 8.0


class BoundedWorker(Worker):
    """A worker whose process ends soon after a stop begins. Its alarm also goes off while the event loop is blocked."""

    def __init__(self, app: faust.App, status: WorkerStatus, **options: Any) -> None:
        super().__init__(app, **options)
        self._status = status

    def install_signal_handlers(self) -> None:
        """Set the alarm as soon as a signal comes. The event loop gets the signal as before."""
        super().install_signal_handlers()
        signal.signal(signal.SIGALRM, self._leave)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _set_alarm)
            signal.siginterrupt(number, False)

    async def on_stop(self) -> None:
        """Set the alarm. A stop also begins without a signal, after an unexpected error."""
        _set_alarm()
        await super().on_stop()

    def _leave(self, *_: object) -> None:
        message = "the worker did not stop within %.0f s and ends now; nothing is lost. Servers away: %s. Threads: %s"
        away = ", ".join(sorted(self._status.away)) or "none known"
        threads = ", ".join(thread.name for thread in threading.enumerate() if not thread.daemon)
        try:
            log.warning(message, STOP_SECONDS, away, threads)
        finally:
            _exit(1 if self.crashed else 0)


def _set_alarm(*_: object) -> None:
    """Set the alarm if it is not set yet. It stays on after the stop: Python may wait for threads when it exits."""
    if not signal.getitimer(signal.ITIMER_REAL)[0]:
        signal.setitimer(signal.ITIMER_REAL, STOP_SECONDS)
