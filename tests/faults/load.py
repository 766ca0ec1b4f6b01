"""Load that goes on while something breaks: each record is sent until the broker has acknowledged it."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from tests.faults.stack import FaultStack

CHUNK = 20


class Load:
    """Publishes judgments in the background, with acks from all replicas, so many a second.

    `acknowledged` are the places in `records` that the broker has confirmed, `ends` the end of each partition.
    """

    def __init__(self, stack: FaultStack, records: Sequence[tuple[bytes, bytes]], *, per_second: float) -> None:
        self.acknowledged: list[int] = []
        self.ends: defaultdict[int, int] = defaultdict(int)
        self._stack = stack
        self._records = records
        self._pause = CHUNK / per_second
        self._thread = threading.Thread(target=self._run, name="load")
        self._failure: BaseException | None = None
        self._enough = False
        self._given_up = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._given_up = error is not None
        self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    @property
    def goes_on(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Publish no more records. Wait until those under way are acknowledged."""
        self._enough = True
        self.finish()

    def finish(self) -> None:
        """Wait until all records are acknowledged."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            asyncio.run(self._publish())
        except BaseException as error:  # noqa: BLE001 - told to the test, in its own thread
            self._failure = error

    async def _publish(self) -> None:
        topic = self._stack.name(topics.JUDGMENTS)
        async with AIOKafkaProducer(
            bootstrap_servers=self._stack.settings.kafka, enable_idempotence=True, acks="all"
        ) as producer:
            for start in range(0, len(self._records), CHUNK):
                waiting = list(range(start, min(start + CHUNK, len(self._records))))
                while waiting and not self._given_up:
                    waiting = await self._send(producer, topic, waiting)
                await asyncio.sleep(self._pause)
                if self._given_up or self._enough:
                    return

    async def _send(self, producer: AIOKafkaProducer, topic: str, waiting: list[int]) -> list[int]:
        """Send some records. Return those that were not acknowledged."""
        refused = []
        for place in waiting:
            key, value = self._records[place]
            try:
                sent = await producer.send_and_wait(topic, value, key=key)
            except KafkaError:
                refused.append(place)
                continue
            self.acknowledged.append(place)
            self.ends[sent.partition] = max(self.ends[sent.partition], sent.offset + 1)
        return refused
