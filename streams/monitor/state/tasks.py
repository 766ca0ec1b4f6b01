"""The tasks that must run as long as the monitor. One that ends is logged, and only a restart helps."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

log = logging.getLogger(__name__)


class Tasks:
    """The monitor's own tasks. Those of the backend are only watched."""

    def __init__(self) -> None:
        self._own: list[asyncio.Task[None]] = []

    def start(self, watched: Sequence[asyncio.Task[None]], **own: Coroutine[Any, Any, None]) -> None:
        """Start tasks under their names."""
        self._own = [asyncio.create_task(work, name=name) for name, work in own.items()]
        for task in (*watched, *self._own):
            task.add_done_callback(_log_end)

    async def stop(self) -> None:
        """Cancel the own tasks."""
        for task in self._own:
            task.cancel()
        if self._own:
            await asyncio.wait(self._own)

    def failure(self, watched: Sequence[asyncio.Task[None]]) -> str | None:
        """Return which task has ended. Return None if all are running."""
        ended = [task for task in (*watched, *self._own) if task.done() and not task.cancelled()]
        return f"{ended[0].get_name()} has ended: {ended[0].exception()!r}" if ended else None


def _log_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        log.critical("%s has ended; only a restart helps", task.get_name(), exc_info=task.exception())
