"""Judgments on their way into the log from many senders at once, each of whom is told when the broker has theirs."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from streams.errors import BrokerUnavailable, RecordError
from streams.kafka.producing import acknowledged, producing
from streams.wire import topics
from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiokafka import AIOKafkaProducer

    from streams.settings import Settings
    from streams.wire.events import Judgment

PATIENCE_SECONDS = 5.0
LINGER_MS = 10  # for which a record waits for company: one request to the broker costs as much as many records


class Publisher:
    """One producer for all: what arrives while a batch is on its way goes with the next."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topic = topics.JUDGMENTS.within(settings.namespace)
        self._stack = AsyncExitStack()
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connect; BrokerUnavailable if that can't be."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                self._producer = await self._stack.enter_async_context(
                    producing(self._settings, patience=PATIENCE_SECONDS, linger_ms=LINGER_MS)
                )
        except (KafkaError, TimeoutError) as error:
            raise self._away(error) from None

    async def publish(self, judgments: Sequence[Judgment]) -> None:
        """Append in order; once this returns, the broker has them all."""
        if self._producer is None:
            raise self._away("not connected yet")
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                sent = [
                    await self._producer.send(self._topic, encode(judgment), key=judgment.campaign.encode())
                    for judgment in judgments
                ]
            for each in sent:
                each.add_done_callback(_seen)
            for each in sent:
                await acknowledged(each, patience=PATIENCE_SECONDS)
        except MessageSizeTooLargeError:
            message = f"a judgment has more than the {topics.MAX_LOG_BYTES} bytes that the log takes"
            raise RecordError("too_large", message) from None
        except (KafkaError, TimeoutError) as error:
            raise self._away(error) from None

    async def stop(self) -> None:
        """Disconnect."""
        self._producer = None
        await self._stack.aclose()

    def _away(self, error: object) -> BrokerUnavailable:
        words = str(error) or f"no answer in {PATIENCE_SECONDS:g} s"
        return BrokerUnavailable(
            f"Kafka at {self._settings.kafka} did not say that it has the judgments: {words}; "
            "send them again: those that it has are known by their ids"
        )


def _seen(sent: asyncio.Future[object]) -> None:
    """Look at the outcome of a record nobody may be waiting for any more."""
    if not sent.cancelled():
        sent.exception()
