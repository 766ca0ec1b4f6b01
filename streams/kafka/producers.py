"""The one place that builds a producer. Records go to Kafka in order and once, and it waits for a limited time."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import MessageSizeTooLargeError
from aiokafka.partitioner import murmur2

from streams.errors import RecordError
from streams.kafka.connection import answering, connection_options, unavailable
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from streams.settings import Settings
    from streams.wire.outputs import Output
    from streams.wire.topics import Topic

BATCH_BYTES = 256 * 1024
STOP_SECONDS = 2.0


class Producer:
    """An idempotent producer. `patience` is the number of seconds that it waits for the broker."""

    def __init__(self, settings: Settings, *, patience: float, linger_ms: int = 0) -> None:
        self._settings = settings
        self._patience = patience
        self._client = AIOKafkaProducer(
            **connection_options(settings),
            enable_idempotence=True,
            max_batch_size=BATCH_BYTES,
            linger_ms=linger_ms,
            max_request_size=topics.MAX_LOG_BYTES,
            request_timeout_ms=int(patience * 1000),
        )

    async def start(self) -> None:
        """Connect. If that fails or is cancelled, nothing is left open."""
        try:
            with answering(self._settings):
                await self._client.start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Disconnect. An idempotent producer would wait forever for a broker that is away."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._client.stop(), STOP_SECONDS)

    async def send(
        self, topic: Topic, key: bytes | None, value: bytes, *, partition: int | None = None
    ) -> asyncio.Future[Any]:
        """Hand over a record, and return the future that `wait_for` waits for. Without a partition, the key decides."""
        with self._sending():
            sent: asyncio.Future[Any] = await self._client.send(self._named(topic), value, key=key, partition=partition)
        return sent

    def create_batch(self) -> Any:
        """Return an empty batch. Its `append` returns None when it is full."""
        return self._client.create_batch()

    async def send_batch(self, topic: Topic, partition: int, batch: Any) -> asyncio.Future[Any]:
        """Hand over a batch for one partition, and return the future that `wait_for` waits for."""
        batch.close()
        with self._sending():
            sent: asyncio.Future[Any] = await self._client.send_batch(batch, self._named(topic), partition=partition)
        return sent

    async def wait_for(self, sent: asyncio.Future[Any]) -> int:
        """Wait until the broker has a record or a batch, and return its first offset."""
        done, _ = await asyncio.wait([sent], timeout=self._patience)
        if not done:
            raise unavailable(self._settings, f"no answer in {self._patience:g} s")
        with self._sending():
            offset: int = sent.result().offset
        return offset

    def _named(self, topic: Topic) -> str:
        return topic.within(self._settings.namespace)

    @contextmanager
    def _sending(self) -> Iterator[None]:
        with answering(self._settings):
            try:
                yield
            except MessageSizeTooLargeError:
                message = f"the record is larger than the {topics.MAX_LOG_BYTES} bytes that the log accepts"
                raise RecordError("too_large", message) from None


@asynccontextmanager
async def open_producer(settings: Settings, *, patience: float) -> AsyncIterator[Producer]:
    """Connect a producer, and disconnect it at the end."""
    producer = Producer(settings, patience=patience)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def send_in_batches(
    client: Any, outputs: Iterable[Output], *, names: Mapping[str, str]
) -> list[asyncio.Future[Any]]:
    """Hand outputs to an aiokafka client, in order and in few batches. Return one future per batch.

    A batch has the outputs of one partition. `names` are the names of the topics on the broker.
    """
    partitions: dict[str, list[int]] = {}
    batches: dict[tuple[str, int], Any] = {}
    sent = []
    for output in outputs:
        topic = names[output.topic]
        if topic not in partitions:
            partitions[topic] = sorted(await client.partitions_for(topic))
        number = output.partition
        if number is None:  # as aiokafka chooses it; without a key, any would do
            known = partitions[topic]
            number = known[_hash(output.key if output.key is not None else output.value) % len(known)]
        batch = batches.get((topic, number))
        if batch is None or not _append(batch, output):
            if batch is not None:
                sent.append(await client.send_batch(batch, topic, partition=number))
            batch = batches[topic, number] = client.create_batch()
            _append(batch, output)  # the first record always fits
    for (topic, number), batch in batches.items():
        batch.close()
        sent.append(await client.send_batch(batch, topic, partition=number))
    return sent


def _append(batch: Any, output: Output) -> bool:
    """Append an output to a batch. Return whether there was room. A batch without room is closed."""
    found = batch.append(timestamp=None, key=output.key, value=output.sent_value, headers=list(output.headers))
    return found is not None


@lru_cache(maxsize=10_000)
def _hash(key: bytes) -> int:
    """Return the hash that decides on the partition. It is computed in Python, and the keys of a campaign are few."""
    value: int = murmur2(key) & 0x7FFFFFFF
    return value
