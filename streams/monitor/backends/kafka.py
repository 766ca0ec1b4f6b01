"""The monitor beside workers: it follows Kafka, reads Redis, and keeps running while either is away."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import BrokerUnavailable, SettingError, StoreUnavailable, TopicError
from streams.kafka.following import TopicFollower
from streams.kafka.publishing import Publisher
from streams.monitor.backends.lags import LogEnd, read_lags
from streams.monitor.backends.records import dispatch
from streams.monitor.ledger.redis import RedisLedger
from streams.rebuild.past import read_past
from streams.stores.redis.store import RedisStore
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from streams.core.campaign.campaign import Campaign
    from streams.metrics import MonitorMetrics
    from streams.monitor.backends.base import Arguments, Lag, OutputHandler, Result
    from streams.monitor.ledger.base import Ledger
    from streams.settings import Settings
    from streams.stores import Store
    from streams.stores.workers import WorkerReport
    from streams.wire.events import Command, Judgment
    from streams.wire.topics import Topic

log = logging.getLogger(__name__)

# Records before the end of a partition at which following starts. Redis has the present state; the past adds details.
BACK = ((topics.LEADERBOARDS, 200), (topics.CAMPAIGNS, 0), (topics.REJECTED, 2000))
THREADS = 4
RETRY_SECONDS = 1.0
POLL_SECONDS = 1.0
PARTITION_POLLS = 30  # the ends are asked for so often before the monitor looks for new partitions
KAFKA, REDIS = "Kafka", "Redis"
UNTRIED = "not reached yet"


class _NewPartitions(Exception):  # noqa: N818 - it names a condition
    """A topic has other partitions than those that are followed."""


class KafkaBackend:
    """Kafka and Redis. `waiting` returns which of them is away."""

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
        self._retry_at = 0.0  # when Redis is tried again
        self._ends: dict[int, LogEnd] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    async def start(self, handler: OutputHandler) -> None:
        """Start to follow. Servers that are away are waited for in the background."""
        self._tasks = [
            asyncio.create_task(self._follow(handler), name="following Kafka"),
            asyncio.create_task(self._connect(), name="connecting the producer"),
        ]

    async def stop(self) -> None:
        """Stop all tasks and close all connections."""
        self._stopping = True
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
        """Call a function that uses the store or the ledger. While Redis is away, try it once per second at most."""
        if monotonic() < self._retry_at:
            raise StoreUnavailable(self._away.get(REDIS, UNTRIED))
        loop = asyncio.get_running_loop()
        try:
            result = await loop.run_in_executor(self._threads, partial(function, *args, **kwargs))
        except (StoreUnavailable, SettingError) as error:  # a wrong password may be corrected later
            self._retry_at = monotonic() + RETRY_SECONDS
            self._metrics.upstream_errors.labels("redis").inc()
            self._mark_away(REDIS, str(error))
            raise StoreUnavailable(str(error)) from None
        self._mark_back(REDIS)
        return result

    # -- Kafka -----------------------------------------------------------------------------------------

    async def publish(self, events: Sequence[Judgment | Command]) -> None:
        """Append judgments to the log, and commands to theirs. While Kafka is known to be away, raise at once."""
        if KAFKA in self._away:
            raise BrokerUnavailable(f"{self._away[KAFKA]}; send them again later")
        try:
            await self._publisher.publish(events)
        except BrokerUnavailable:
            self._metrics.upstream_errors.labels("kafka").inc()
            raise

    async def _connect(self) -> None:
        while True:
            try:
                await self._publisher.start()
            except BrokerUnavailable:
                await asyncio.sleep(RETRY_SECONDS)  # `_follow` logs it
            else:
                return

    async def _follow(self, handler: OutputHandler) -> None:
        def receive(topic: Topic, key: bytes | None, value: bytes | None, at: datetime) -> None:
            self._metrics.records_consumed.labels(topic.name).inc()
            dispatch(handler, topic.name, key, value, at=at)

        while True:
            follower = TopicFollower(self._settings, BACK)
            try:
                await follower.start()
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(follower.follow(receive))
                    tasks.create_task(self._poll_ends(follower))
            except* _NewPartitions:
                log.info("a topic has new partitions")
            except* (BrokerUnavailable, TopicError) as errors:
                self._metrics.upstream_errors.labels("kafka").inc()
                self._mark_away(KAFKA, str(errors.exceptions[0]))
            finally:
                await follower.stop()
            await asyncio.sleep(RETRY_SECONDS)

    async def _poll_ends(self, follower: TopicFollower) -> None:
        """Ask for the ends of the log at intervals. They show the lag, and that Kafka answers."""
        for polls in count(1):
            try:
                self._ends = {number: LogEnd(*ends) for number, ends in (await follower.log_ends()).items()}
                if polls % PARTITION_POLLS == 0 and await follower.has_new_partitions():
                    raise _NewPartitions
            except BrokerUnavailable as error:
                self._metrics.upstream_errors.labels("kafka").inc()
                self._mark_away(KAFKA, str(error))
            else:
                self._mark_back(KAFKA)
            await asyncio.sleep(POLL_SECONDS)

    def campaign_of_judge(self, campaign: str, judge: str) -> Campaign | None:
        """Return a campaign with the judgments of one judge alone, rated again from the log in Kafka."""
        return read_past(self._settings, campaign, progress=self._check_running, judge=judge).campaign

    def _check_running(self, _done: int, _total: int) -> None:
        """End the reading of a log when the monitor stops."""
        if self._stopping:
            raise BrokerUnavailable("the monitor is being stopped")

    # -- how it goes -----------------------------------------------------------------------------------

    def partitions(self) -> list[str]:
        """Return the names of the log's partitions. Until Kafka has answered, the settings give their number."""
        topic = topics.JUDGMENTS.within(self._settings.namespace)
        return [f"{topic}/{number}" for number in sorted(self._ends) or range(self._settings.partitions)]

    async def lags(self) -> list[Lag]:
        """Return the lag of each partition. The ends of the log are about a second old."""
        return await self.run(read_lags, self.store, topics.JUDGMENTS.within(self._settings.namespace), self._ends)

    async def workers(self) -> list[WorkerReport]:
        """Return the reports of the workers."""
        return await self.run(self.store.read_workers)

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the task that follows Kafka, and the one that connects the producer if it has failed."""
        failed = [task for task in self._tasks[1:] if task.done() and not task.cancelled() and task.exception()]
        return [*self._tasks[:1], *failed]

    def waiting(self) -> list[str]:
        """Return which servers are away, and why."""
        return [f"waiting for {server}: {why}" for server, why in sorted(self._away.items())]

    def _mark_away(self, server: str, why: str) -> None:
        if server not in self._away or self._away[server] == UNTRIED:
            log.warning("waiting for %s: %s", server, why)
        self._away[server] = why

    def _mark_back(self, server: str) -> None:
        if self._away.pop(server, None) is not None:
            log.info("%s answers", server)
