"""Try again until a server answers, as long as the partitions concerned are owned."""

from __future__ import annotations

import asyncio
import logging
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from streams.errors import BrokerUnavailable, StoreUnavailable
    from streams.metrics import WorkerMetrics
    from streams.worker.batches import TurnOwnerships
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)

Result = TypeVar("Result")

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 2.0


class Retrying:
    """Calls Kafka and Redis. While one of them is away, the status of the worker says so."""

    def __init__(self, status: WorkerStatus, metrics: WorkerMetrics) -> None:
        self._status = status
        self._metrics = metrics

    async def run(
        self,
        server: str,
        unavailable: type[BrokerUnavailable | StoreUnavailable],
        attempt: Callable[[], Awaitable[Result]],
        ownership: PartitionOwnership | TurnOwnerships | None,
    ) -> tuple[Result, float]:
        """Try again until the server answers. Return the result and the seconds of the last attempt.

        Raise Abandoned if the ownership is over by then.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            if ownership is not None:
                ownership.check_not_over()
            started = perf_counter()
            try:
                result = await attempt()
            except unavailable as error:
                self._status.mark_away(server, str(error))
                self._metrics.count_error(server)
                fields = {"server": server.lower()}
                log.warning("%s; trying again in %.1f s, nothing is lost", error, pause, extra=fields)
            else:
                if self._status.away:
                    self._status.mark_back(server)
                return result, perf_counter() - started
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
