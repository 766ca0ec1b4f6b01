"""The monitor beside workers: it follows Kafka, reads Redis, and outlives the absence of either."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import BrokerUnavailable, SettingError, StoreUnavailable, TopicError
from streams.kafka.following import Following
from streams.kafka.publishing import Publisher
from streams.monitor.backends.base import Arguments, Lag, Result
from streams.monitor.ledger.redis import RedisLedger
from streams.monitor.live.feed import tell
from streams.stores.redis.store import RedisStore
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from streams.metrics import MonitorMetrics
    from streams.monitor.backends.base import OutputHandler
    from streams.monitor.ledger.base import Ledger
    from streams.settings import Settings
    from streams.stores import Store
    from streams.wire.events import Judgment
    from streams.wire.topics import Topic

log = logging.getLogger(__name__)

# Where following begins, in records before the end of a partition: Redis has the present, so the past is for details.
BACK = ((topics.LEADERBOARDS, 200), (topics.REJECTED, 2000))
THREADS = 4
RETRY_SECONDS = 1.0
BEAT_SECONDS = 2.0
KAFKA, REDIS = "Kafka", "Redis"
UNTRIED = "not reached yet"


class KafkaBackend:
    """Kafka and Redis; `waiting` says which of them is away."""

    def __init__(self, settings: Settings, metrics: MonitorMetrics) -> None:
        self._settings = settings
        self._metrics = metrics
        store = RedisStore(settings.redis, namespace=settings.namespace)
        self._close = store.close
        self.store: Store = store
        self.ledger: Ledger = RedisLedger(store.client, namespace=settings.namespace)
        self._threads = ThreadPoolExecutor(THREADS, "redis")
        self._publisher = Publisher(settings)
        self._away: dict[str, str] = {KAFKA: UNTRIED, REDIS: UNTRIED}
        self._again = 0.0  # when Redis is tried again
        self._ends: dict[int, int] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, handler: OutputHandler) -> None:
        """Begin to follow; what is away is waited for in the background."""
        self._tasks = [
            asyncio.create_task(self._follow(handler), name="following Kafka"),
            asyncio.create_task(self._connect(), name="connecting the producer"),
        ]

    async def stop(self) -> None:
        """Let everything go."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._publisher.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._close()

    # -- Redis -----------------------------------------------------------------------------------------

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Do something with the store or the ledger; while it is away it is tried once a second, not more often."""
        if monotonic() < self._again:
            raise StoreUnavailable(self._away.get(REDIS, UNTRIED))
        loop = asyncio.get_running_loop()
        try:
            result = await loop.run_in_executor(self._threads, partial(function, *args, **kwargs))
        except (StoreUnavailable, SettingError) as error:  # a password can be wrong for a while too
            self._again = monotonic() + RETRY_SECONDS
            self._metrics.upstream_errors.labels("redis").inc()
            self._wait_for(REDIS, str(error))
            raise StoreUnavailable(str(error)) from None
        self._answers(REDIS)
        return result

    # -- Kafka -----------------------------------------------------------------------------------------

    async def publish(self, judgments: Sequence[Judgment]) -> None:
        """Append to the log; while Kafka is known to be away nobody is kept waiting."""
        if KAFKA in self._away:
            raise BrokerUnavailable(f"{self._away[KAFKA]}; send them again later")
        try:
            await self._publisher.publish(judgments)
        except BrokerUnavailable:
            self._metrics.upstream_errors.labels("kafka").inc()
            raise

    async def _connect(self) -> None:
        while True:
            try:
                await self._publisher.start()
            except BrokerUnavailable:
                await asyncio.sleep(RETRY_SECONDS)  # the following says so
            else:
                return

    async def _follow(self, handler: OutputHandler) -> None:
        def take(topic: Topic, key: bytes | None, value: bytes | None, at: datetime) -> None:
            self._metrics.records_consumed.labels(topic.name).inc()
            tell(handler, topic.name, key, value, at=at)

        while True:
            following = Following(self._settings, BACK)
            try:
                await following.start()
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(following.follow(take))
                    tasks.create_task(self._beat(following))
            except* (BrokerUnavailable, TopicError) as errors:
                self._metrics.upstream_errors.labels("kafka").inc()
                self._wait_for(KAFKA, str(errors.exceptions[0]))
            finally:
                await following.stop()
            await asyncio.sleep(RETRY_SECONDS)

    async def _beat(self, following: Following) -> None:
        """Ask where the log ends, again and again: so it is known how far the workers are, and that Kafka answers."""
        while True:
            try:
                self._ends = await following.ends()
            except BrokerUnavailable as error:
                self._metrics.upstream_errors.labels("kafka").inc()
                self._wait_for(KAFKA, str(error))
            else:
                self._answers(KAFKA)
            await asyncio.sleep(BEAT_SECONDS)

    # -- how it goes -----------------------------------------------------------------------------------

    def partitions(self) -> list[str]:
        """Name the partitions of the log; until Kafka has said how many, the settings do."""
        topic = topics.JUDGMENTS.within(self._settings.namespace)
        return [f"{topic}/{number}" for number in sorted(self._ends) or range(self._settings.partitions)]

    async def lags(self) -> list[Lag]:
        """Compare the log's ends, which are two seconds old at most, with what is applied now."""
        topic, ends = topics.JUDGMENTS.within(self._settings.namespace), self._ends
        applied = await self.run(
            lambda: {number: int(self.store.partition(f"{topic}/{number}").get("offset", 0)) for number in ends}
        )
        return [
            Lag(
                partition=number,
                end=max(end, applied[number]),
                applied=applied[number],
                lag=max(0, end - applied[number]),
            )
            for number, end in sorted(ends.items())
        ]

    def tasks(self) -> list[asyncio.Task[None]]:
        """Give the task that follows Kafka."""
        return self._tasks[:1]

    def waiting(self) -> list[str]:
        """Say what is away."""
        return [f"waiting for {whom}: {why}" for whom, why in sorted(self._away.items())]

    def _wait_for(self, whom: str, why: str) -> None:
        if whom not in self._away or self._away[whom] == UNTRIED:
            log.warning("waiting for %s: %s", whom, why)
        self._away[whom] = why

    def _answers(self, whom: str) -> None:
        if self._away.pop(whom, None) is not None:
            log.info("%s answers", whom)
