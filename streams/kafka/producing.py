"""Records on their way into Kafka, in order and once, with an end to the waiting for a broker that is away."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaTimeoutError

from streams.kafka.connection import connection
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from streams.settings import Settings

BATCH_BYTES = 256 * 1024
STOP_SECONDS = 2.0


@asynccontextmanager
async def producing(settings: Settings, *, patience: float, linger_ms: int = 0) -> AsyncIterator[AIOKafkaProducer]:
    """Open a producer, and close it; an idempotent one would wait forever for a broker that is away, also to close."""
    producer = AIOKafkaProducer(
        **connection(settings),
        enable_idempotence=True,
        max_batch_size=BATCH_BYTES,
        linger_ms=linger_ms,
        max_request_size=topics.MAX_LOG_BYTES,
        request_timeout_ms=int(patience * 1000),
    )
    await producer.start()
    try:
        yield producer
    finally:
        with suppress(TimeoutError):
            await asyncio.wait_for(producer.stop(), STOP_SECONDS)


async def acknowledged(sent: asyncio.Future[Any], *, patience: float) -> int:
    """Wait until the broker has a record or a batch; give its first offset."""
    done, _ = await asyncio.wait([sent], timeout=patience)
    if not done:
        raise KafkaTimeoutError(f"no answer in {patience:g} s")
    offset: int = sent.result().offset
    return offset
