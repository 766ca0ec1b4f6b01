"""The consumer with which the workers share the log. It is librdkafka's, which reads with less CPU than aiokafka.

Each fetch says which partitions are read next, and from which offsets. A partition that is left out, or was assigned a
moment ago, is paused. So nothing is read that nobody waits for, and whatever is lost on the way is read again.

librdkafka calls back and waits inside its methods, so one thread makes all calls that may take long.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, KafkaError, KafkaException
from confluent_kafka import Consumer as Client
from confluent_kafka import TopicPartition as ClientPartition

from streams.kafka.connection import consumer_group, not_allowed, rdkafka_options, unavailable
from streams.kafka.consumers import HEARTBEAT_MS, METADATA_MS
from streams.kafka.partitions import Partition
from streams.kafka.records import is_forwarded
from streams.pipeline.record import RecordBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.settings import Settings

log = logging.getLogger(__name__)

# Of one partition, at once: a long backlog of one must not delay the others. A larger record comes alone.
FETCH_BYTES = 2 * 1024 * 1024
QUEUE_KILOBYTES = 16 * 1024  # of all partitions, read ahead while the last turn is rated
ERROR_PAUSE_MS = 1000  # a partition is silent for so long after an error, also after its topic was deleted
# While a turn waits for a server, the group is answered so often.
IDLE_SECONDS = 1.0
JOIN_SECONDS, JOIN_STEP_SECONDS = 10.0, 0.1
REVOKE_SECONDS = 30.0
CLOSE_SECONDS = 5.0
COMMIT_MS = 1000
REFUSED = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)


class Message(Protocol):
    """A record as librdkafka returns it."""

    def offset(self) -> int:
        """Return its offset."""

    def key(self) -> bytes | None:
        """Return its key."""

    def value(self) -> bytes | None:
        """Return its value."""

    def timestamp(self) -> tuple[int, int]:
        """Return who set the time, and the milliseconds of Unix time."""

    def headers(self) -> Sequence[tuple[str, bytes]] | None:
        """Return its headers."""


class RebalanceListener(Protocol):
    """What the owner of the consumer does when its partitions change. It is called on the event loop."""

    def on_assigned(self, partitions: Sequence[Partition]) -> None:
        """Begin to work on partitions that this worker did not have. It keeps the others."""

    async def on_revoked(self, partitions: Sequence[Partition]) -> None:
        """Finish the work on partitions. The group waits for the return."""


class GroupConsumer:
    """A consumer in the group of the workers. It never commits by itself, and reads only what is committed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="consumer")
        self._client: Any = None
        self._topic = ""
        self._loop: asyncio.AbstractEventLoop
        self._listener: RebalanceListener
        self._has_joined = False
        self._assigned: set[int] = set()  # partitions
        self._positions: dict[int, int] = {}  # of the partitions that are read: the offset that comes next
        self._fetched_at = 0.0  # on the monotonic clock
        self._is_fetching = False

    async def join(self, topic: str, listener: RebalanceListener) -> None:
        """Join the group. The listener is called before this returns, unless the group takes long to answer."""
        self._topic, self._listener, self._loop = topic, listener, asyncio.get_running_loop()
        self._client = Client(self._options(), logger=log)
        self._client.subscribe([topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_revoke)
        give_up_at = time.monotonic() + JOIN_SECONDS
        while not self._has_joined and time.monotonic() < give_up_at:
            await self.fetch({}, seconds=JOIN_STEP_SECONDS, most=1)

    async def fetch(
        self, starts: Mapping[Partition, int], *, seconds: float, most: int, pause: float = 0.0
    ) -> dict[Partition, list[Message]]:
        """Return the next records of partitions, each from an offset on. Empty if none came in `seconds`.

        The records are taken at least `pause` seconds after the last fetch, so that more have come by then.
        """
        self._is_fetching = True
        try:
            found: dict[Partition, list[Message]] = await self._in_thread(
                lambda: self._fetch(starts, seconds=seconds, most=most, pause=pause)
            )
            return found
        finally:
            self._is_fetching, self._fetched_at = False, time.monotonic()

    async def stay_in_group(self) -> None:
        """Answer the group if nothing is fetched at the moment. The partitions are paused until the next fetch."""
        if not self._is_fetching and time.monotonic() - self._fetched_at > IDLE_SECONDS:
            await self._in_thread(lambda: self._fetch({}, seconds=0.0, most=1, pause=0.0))

    def known_end(self, partition: Partition) -> int | None:
        """Return the end that the last fetch saw, or None if the partition was not fetched.

        Records of transactions that are open are before it: they wait, and count as lag.
        """
        with suppress(KafkaException):
            found = self._client.get_watermark_offsets(ClientPartition(*partition), cached=True)
            if found is not None and found[1] >= 0:
                return int(found[1])
        return None

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Store offsets to be committed for the group: within a second, and before their partitions are revoked."""
        for partition, offset in offsets.items():
            with suppress(KafkaException):  # it is not ours any more
                self._client.store_offsets(offsets=[ClientPartition(*partition, offset)])

    async def stop(self) -> None:
        """Leave the group and disconnect, whether the broker answers or not."""
        if self._client is not None:
            # It may wait for the broker for minutes. Python ends without threads that are daemons.
            closing = Thread(target=self._close, name="closing consumer", daemon=True)
            closing.start()
            await asyncio.to_thread(closing.join, CLOSE_SECONDS)

    def _close(self) -> None:
        self._thread.shutdown()  # after the last fetch
        self._client.close()

    def _options(self) -> dict[str, Any]:
        session = int(self._settings.session_timeout_seconds * 1000)
        return rdkafka_options(self._settings) | {
            "group.id": consumer_group(self._settings),
            # Only partitions that move stop. With an eager assignor all of them stop for each worker that joins.
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": session,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "max.poll.interval.ms": max(300_000, session),
            "auto.commit.interval.ms": COMMIT_MS,
            "enable.auto.offset.store": False,  # only what `commit` is given is committed
            # If the beginning is deleted while it is read, the reading continues at the new beginning.
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "check.crcs": True,
            "max.partition.fetch.bytes": FETCH_BYTES,
            "queued.max.messages.kbytes": QUEUE_KILOBYTES,
            "fetch.error.backoff.ms": ERROR_PAUSE_MS,
            "fetch.queue.backoff.ms": 5,  # its second would be a pause after each full queue
            "topic.metadata.refresh.interval.ms": METADATA_MS,
            "reconnect.backoff.max.ms": 1000,
            "on_commit": self._on_commit,
            "error_cb": self._on_error,
            "log_level": 2,  # the worker itself reports a broker that is away
        }

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        return await self._loop.run_in_executor(self._thread, work)

    def _fetch(
        self, starts: Mapping[Partition, int], *, seconds: float, most: int, pause: float
    ) -> dict[Partition, list[Message]]:
        self._go_on(starts)
        first = self._client.poll(seconds)
        if first is None:
            return {}
        if (rest := self._fetched_at + pause - time.monotonic()) > 0.0:
            time.sleep(rest)
        messages = [first, *self._client.consume(most - 1, 0.0)] if most > 1 else [first]
        found: dict[int, list[Any]] = {}
        for message in messages:
            if (error := message.error()) is not None:
                self._positions.pop(message.partition(), None)  # so what comes after it is read again
                self._check(error, message.partition())
            elif (number := message.partition()) in self._positions:
                found.setdefault(number, []).append(message)
        for number in self._positions.keys() & found.keys():
            self._positions[number] = found[number][-1].offset() + 1
        return {Partition(self._topic, number): records for number, records in found.items()}

    def _go_on(self, starts: Mapping[Partition, int]) -> None:
        """Read the partitions that are given, from their offsets on, and pause the others."""
        wanted = {partition.number: offset for partition, offset in starts.items()}
        if wanted == self._positions:
            return
        if left := [number for number in self._positions if number not in wanted]:
            for number in left:
                del self._positions[number]
            with suppress(KafkaException):
                self._client.pause([ClientPartition(self._topic, number) for number in left])
        for number, offset in wanted.items():
            if self._positions.get(number) != offset and number in self._assigned:
                # librdkafka may not be ready for it after a rebalance. The next fetch tries again.
                with suppress(KafkaException):
                    self._client.seek(ClientPartition(self._topic, number, offset))
                    self._client.resume([ClientPartition(self._topic, number)])
                    self._positions[number] = offset

    def _check(self, error: KafkaError, number: int) -> None:
        """Raise BrokerUnavailable for an error that only an operator can end. librdkafka tries again after others."""
        code = error.code()
        if code not in REFUSED and code != KafkaError.INCONSISTENT_GROUP_PROTOCOL and not error.fatal():
            log.warning("%s: %s", self._topic if number < 0 else Partition(self._topic, number), error.str())
            return
        self._positions.clear()  # what was taken before the error is read again
        if code in REFUSED:
            raise not_allowed(self._settings, error.str())
        if code == KafkaError.INCONSISTENT_GROUP_PROTOCOL:
            # Workers with aiokafka's assignors; a group has one kind of assignors at a time.
            raise unavailable(self._settings, f"{error.str()}. Stop the workers of an earlier version first")
        raise unavailable(self._settings, error.str())

    def _on_assign(self, client: Any, partitions: Sequence[ClientPartition]) -> None:
        given = [ClientPartition(each.topic, each.partition, 0) for each in partitions]
        client.incremental_assign(given)
        client.pause(given)
        self._has_joined = True
        self._assigned.update(each.partition for each in given)
        self._loop.call_soon_threadsafe(self._listener.on_assigned, _ours(partitions))

    def _on_revoke(self, client: Any, partitions: Sequence[ClientPartition]) -> None:
        released = asyncio.run_coroutine_threadsafe(self._listener.on_revoked(_ours(partitions)), self._loop)
        with suppress(TimeoutError):  # the worker has ended meanwhile
            released.result(REVOKE_SECONDS)
        for each in partitions:
            self._assigned.discard(each.partition)
            self._positions.pop(each.partition, None)
        client.incremental_unassign(partitions)

    def _on_commit(self, error: KafkaError | None, _: object) -> None:
        if error is not None and error.code() != KafkaError._NO_OFFSET:
            log.info("the offsets were not committed: %s; the store has them", error.str(), extra={"server": "kafka"})

    def _on_error(self, error: KafkaError) -> None:
        log.info("%s", error.str(), extra={"server": "kafka"})


def message_block(messages: Sequence[Message]) -> RecordBlock:
    """Return the raw records of one partition as columns. A timestamp that the broker did not set is left out."""
    stamps = [message.timestamp() for message in messages]
    return RecordBlock(
        offsets=[message.offset() for message in messages],
        raw_keys=[message.key() for message in messages],
        raw_values=[message.value() for message in messages],
        written_at=[at / 1000 if kind == TIMESTAMP_LOG_APPEND_TIME else None for kind, at in stamps],
        forwarded=frozenset(message.offset() for message in messages if _is_forwarded(message)),
    )


def _is_forwarded(message: Message) -> bool:
    try:
        headers = message.headers()
    except (UnicodeDecodeError, SystemError):  # the name of a header is not UTF-8, so a worker has not sent it
        return False
    return headers is not None and is_forwarded(headers)


def sent_at(message: Message) -> float | None:
    """Return when a record was sent or written, in seconds of Unix time, if that is known."""
    kind, at = message.timestamp()
    return None if kind == TIMESTAMP_NOT_AVAILABLE or at <= 0 else at / 1000


def _ours(partitions: Sequence[ClientPartition]) -> list[Partition]:
    return [Partition(each.topic, each.partition) for each in partitions]
