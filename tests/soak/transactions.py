"""Events of a soak that Kafka's transactions bring about: offsets without a record, and readers that must wait."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count
from typing import Literal

from aiokafka import AIOKafkaProducer

from tests.soak.records import Message
from tests.soak.scene import Scene

Ending = Literal["commit", "abort", "leave"]
ENDINGS: tuple[Ending, ...] = ("commit", "abort", "abort", "leave")
# The broker aborts a transaction that its producer has left. Until then readers wait before it.
TIMEOUT_MS = 3000
_numbers = count(1)


def transact(scene: Scene) -> str:
    """Publish judgments in a transaction, which is committed, aborted, or left by its producer."""
    with scene.author.lock:
        messages = scene.author.ordinary(scene.chance.randrange(1, 40))
    ending = scene.chance.choice(ENDINGS)
    asyncio.run(_transact(scene.stack.settings.kafka, scene.topic, messages, ending))
    return f"a transaction of {len(messages)} records: {ending}"


async def _transact(kafka: str, topic: str, messages: Sequence[Message], ending: Ending) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=kafka, transactional_id=f"soak-{next(_numbers)}", transaction_timeout_ms=TIMEOUT_MS
    )
    await producer.start()
    try:
        await producer.begin_transaction()
        for key, value, partition in messages:
            await producer.send_and_wait(topic, value, key=key, partition=partition)
        if ending == "commit":
            await producer.commit_transaction()
        elif ending == "abort":
            await producer.abort_transaction()
    finally:
        await producer.stop()
