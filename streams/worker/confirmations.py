"""Turns whose outputs the broker has, until the store has confirmed that the worker was still the owner."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from streams.worker.batches import RatedBatch

    Confirm = Callable[[Sequence[RatedBatch]], Awaitable[None]]

CONFIRM_SECONDS = 0.1  # for which the batches of several turns are collected


class Confirmations:
    """Calls `confirm` once for the batches of all turns of a short time."""

    def __init__(self, confirm: Confirm) -> None:
        self._confirm = confirm
        self._waiting: list[RatedBatch] = []
        self._next: asyncio.Task[None] | None = None

    async def wait(self, sent: Sequence[RatedBatch]) -> None:
        """Wait until these batches are confirmed. Raise the error of the call."""
        self._waiting += sent
        if self._next is None:
            self._next = asyncio.create_task(self._confirm_waiting())
        await asyncio.shield(self._next)

    async def _confirm_waiting(self) -> None:
        await asyncio.sleep(CONFIRM_SECONDS)
        sent, self._waiting, self._next = self._waiting, [], None
        await self._confirm(sent)
