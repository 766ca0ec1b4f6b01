"""The steady load of a soak, from a thread of its own. Each record is sent until the broker has acknowledged it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from streams.wire import topics
from tests.soak.records import Author, Message

TICK_SECONDS = 0.1


class Traffic:
    """Publishes so many ordinary records a second, and what is added."""

    def __init__(self, kafka: str, topic: str, author: Author, *, per_second: float) -> None:
        self.sent = 0
        self.failure: BaseException | None = None
        self._kafka, self._topic, self._author = kafka, topic, author
        self._per_tick = max(round(per_second * TICK_SECONDS), 1)
        self._added: SimpleQueue[Sequence[Message]] = SimpleQueue()
        self._flows = threading.Event()
        self._over = threading.Event()
        # A daemon, because a producer waits for ever for a broker that does not come back.
        self._thread = threading.Thread(target=self._run, name="traffic", daemon=True)

    def start(self) -> None:
        """Begin with what is added. The steady load waits for `flow`."""
        self._thread.start()

    def flow(self) -> None:
        """Begin the steady load."""
        self._flows.set()

    def add(self, messages: Sequence[Message]) -> None:
        """Publish some records soon."""
        self._added.put(messages)

    def stop(self) -> None:
        """Publish what was added, and no more. Wait until all is acknowledged."""
        self._flows.clear()
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def give_up(self) -> None:
        """End soon. What is under way may be lost."""
        self.failure = self.failure or InterruptedError("the soak has ended")

    def _run(self) -> None:
        try:
            asyncio.run(self._publish())
        except BaseException as error:  # noqa: BLE001 - the soak ends with it, in its own thread
            self.failure = error

    async def _publish(self) -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=self._kafka,
            enable_idempotence=True,
            acks="all",
            max_request_size=topics.MAX_LOG_BYTES,
            request_timeout_ms=10_000,
        ) as producer:
            while self.failure is None:
                over = self._over.is_set()
                waiting: list[Message] = []
                with suppress(Empty):
                    while True:
                        waiting += self._added.get_nowait()
                if self._flows.is_set():
                    with self._author.lock:
                        waiting += self._author.ordinary(self._per_tick)
                while waiting and self.failure is None:
                    waiting = await self._send(producer, waiting)
                if over:
                    return
                await asyncio.sleep(TICK_SECONDS)

    async def _send(self, producer: AIOKafkaProducer, waiting: list[Message]) -> list[Message]:
        """Send some records. Return those that were not acknowledged."""
        sending: list[asyncio.Future[object]] = []
        try:
            for message in waiting:
                key, value, partition = message
                sending.append(await producer.send(self._topic, value, key=key, partition=partition))
        except KafkaError:
            await asyncio.sleep(TICK_SECONDS)
        answers = await asyncio.gather(*sending, return_exceptions=True)
        refused = [message for message, answer in zip(waiting, answers, strict=False) if isinstance(answer, KafkaError)]
        others = [answer for answer in answers if isinstance(answer, BaseException)]
        if unexpected := [error for error in others if not isinstance(error, KafkaError)]:
            raise unexpected[0]
        self.sent += len(answers) - len(refused)
        return [*refused, *waiting[len(answers) :]]
