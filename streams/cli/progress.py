"""A progress bar for work that takes longer than a second."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress

PATIENCE = 1.0  # seconds, before a bar appears


class Bar:
    """A progress bar on standard error, if that is a terminal and the work takes longer than a second."""

    def __init__(self, *, total: int | None) -> None:
        self._total = total
        self._done = 0
        self._name = ""
        self._start = time.monotonic()
        self._progress: Progress | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()

    def describe(self, name: str) -> None:
        """Set the text of the bar."""
        self._name = name

    def advance(self, steps: int) -> None:
        """Add finished steps."""
        self.complete(self._done + steps)

    def complete_of(self, done: int, total: int) -> None:
        """Set the total of finished steps, and of all steps."""
        self._total = total
        self.complete(done)

    def complete(self, done: int) -> None:
        """Set the total of finished steps."""
        self._done = done
        if self._progress is None and time.monotonic() - self._start > PATIENCE and sys.stderr.isatty():
            self._progress = _progress()
            self._progress.add_task(self._name, total=self._total)
            self._progress.start()
        if self._progress:
            self._progress.update(self._progress.task_ids[0], completed=self._done, description=self._name)


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
