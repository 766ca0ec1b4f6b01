"""Faust's transport, changed so that it reads only committed commands, as every other consumer does."""

from __future__ import annotations

import logging
from typing import Any

from faust.transport.drivers import aiokafka as driver

IDLE_FETCH_MS = 2000  # how long the broker may wait for a command; more fetches would only cost CPU

log = logging.getLogger("faust.commands")  # the lines are Faust's own: they are logged only from WARNING on


class _CommittedThread(driver.AIOKafkaConsumerThread):
    logger = log

    def _create_worker_consumer(self, transport: driver.Transport) -> Any:
        consumer = super()._create_worker_consumer(transport)
        # Faust has no setting for it: it reads what is committed only if it writes in transactions of its own.
        consumer._isolation_level = "read_committed"
        consumer._fetch_max_wait_ms = IDLE_FETCH_MS
        return consumer


class _CommittedConsumer(driver.Consumer):
    logger = log

    def _new_consumer_thread(self) -> driver.AIOKafkaConsumerThread:
        return _CommittedThread(self, loop=self.loop, beacon=self.beacon)


class CommittedTransport(driver.Transport):
    """A transport for `App.transport`. With Faust's own, a command is executed even if its transaction is aborted."""

    Consumer = _CommittedConsumer
