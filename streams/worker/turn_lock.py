"""Who may use the processors of a worker, and who may emit."""

from __future__ import annotations

import asyncio


class TurnLock:
    """The right to use the processors and to write, while nothing is on its way: neither a batch nor its outputs.

    What is written takes the place of the last outputs in the outboxes, so the broker must have them. Only the rating
    of a turn takes the two locks one after the other, and gives the first one back before its outputs are emitted.
    """

    def __init__(self) -> None:
        self.rating = asyncio.Lock()  # who has it may use the processors
        self.emission = asyncio.Lock()  # taken by one who has the other lock

    async def __aenter__(self) -> None:
        await self.rating.acquire()
        try:
            await self.emission.acquire()
        except BaseException:
            self.rating.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self.emission.release()
        self.rating.release()
