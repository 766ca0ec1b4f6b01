"""The Faust app: the rating agent on the source's channel, the command agent, and the services beside them."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import faust
from faust.types import StreamT  # noqa: TC002 - Faust reads the agents' annotations
from mode.utils.queues import FlowControlEvent, ThrowableQueue

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.errors import RecordError
from streams.kafka.connection import answering, connection_options, unavailable
from streams.kafka.consumers import HEARTBEAT_MS, METADATA_MS
from streams.kafka.producers import send_in_batches
from streams.kafka.records import LOG_APPEND_TIME
from streams.pipeline.record import Record
from streams.pipeline.rejections import rejection_output
from streams.wire import topics
from streams.wire.decoding import decode_command
from streams.wire.outputs import Output
from streams.wire.times import check_time
from streams.worker.health import HealthServer
from streams.worker.judge_checks import JudgeChecks
from streams.worker.rater import Rater
from streams.worker.reporting import Reporter
from streams.worker.reruns import Reruns
from streams.worker.source import BatchSource
from streams.worker.taking_back import TakingBack
from streams.worker.transport import CommittedTransport

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ssl import SSLContext

    from faust.types import EventT

    from streams.metrics import WorkerMetrics
    from streams.settings import Settings
    from streams.stores import Store
    from streams.worker.status import WorkerStatus

FAUST_REQUEST_SECONDS = 90.0  # its default; Faust refuses to start if a session may be longer than a request
# One turn waits while another is rated; the rest waits in the log.
WAITING_TURNS = 1


class TurnChannel(faust.Channel[Any]):
    """A channel that Faust leaves alone. It empties any other one when the group of the commands rebalances."""

    @property
    def queue(self) -> ThrowableQueue[Any]:
        """Return the queue, with a flow control of its own."""
        if self._queue is None:
            flowing = FlowControlEvent(initially_suspended=False)
            self._queue = ThrowableQueue(maxsize=self.maxsize, flow_control=flowing)
        return self._queue


class TablelessApp(faust.App):
    """An app without tables. Faust would create folders for them where the worker starts, which may be read-only."""

    logger = logging.getLogger("faust.judgestream")  # the lines are Faust's own: they are logged only from WARNING on

    async def on_first_start(self) -> None:
        """Create nothing."""


def create_app(settings: Settings, store: Store, status: WorkerStatus, metrics: WorkerMetrics) -> faust.App:
    """Build the app of one worker."""
    app = TablelessApp(
        f"{settings.namespace}.judgestream" if settings.namespace else "judgestream",
        broker=[f"kafka://{address.strip()}" for address in settings.kafka.split(",")],
        broker_credentials=_credentials(**connection_options(settings)),
        key_serializer="raw",
        value_serializer="raw",
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
        consumer_auto_offset_reset="earliest",
        broker_session_timeout=settings.session_timeout_seconds,
        broker_heartbeat_interval=HEARTBEAT_MS / 1000,
        broker_request_timeout=max(FAUST_REQUEST_SECONDS, settings.session_timeout_seconds),
        producer_acks=-1,
        producer_max_request_size=topics.MAX_OUTPUT_BYTES,
        producer_metadata_max_age_ms=METADATA_MS,
        consumer_metadata_max_age_ms=METADATA_MS,
        stream_wait_empty=False,
    )
    app.transport = CommittedTransport(app.conf.broker_consumer, app)

    names = {topic.name: topic.within(settings.namespace) for topic in topics.TOPICS}

    async def send(outputs: Sequence[Output]) -> None:
        """Send outputs and wait until the broker has them all. Raise BrokerUnavailable if it does not answer."""
        with answering(settings):
            try:
                producer: Any = app.producer
                sent = await send_in_batches(producer._ensure_producer(), outputs, names=names)
                await asyncio.gather(*sent)
            except AssertionError as error:
                # aiokafka asserts that it knows an explicit partition. A new one becomes known within seconds.
                raise unavailable(settings, str(error)) from None

    pseudonyms = Pseudonyms(settings.judge_key.encode())
    turns = TurnChannel(app, maxsize=WAITING_TURNS)
    rater = Rater(send, status, metrics)
    source = BatchSource(settings, store, rater, turns, status, metrics)
    metrics.watch_partitions(source.progress)
    metrics.campaigns.set_function(source.count_campaigns)
    metrics.known_campaigns.set_function(source.count_known_campaigns)
    app.service(source)  # type: ignore[arg-type]  # an instance goes as well
    app.service(Reporter(store, status, source.partitions))  # type: ignore[arg-type]
    app.service(Reruns(settings, source, rater, status))  # type: ignore[arg-type]
    app.service(JudgeChecks(settings, source, rater))  # type: ignore[arg-type]
    app.service(TakingBack(source, rater))  # type: ignore[arg-type]
    if settings.health_port:
        app.service(HealthServer(status, metrics, host=settings.health_host, port=settings.health_port))  # type: ignore[arg-type]

    @app.agent(turns, name="rating")
    async def rate(stream: StreamT[Any]) -> None:
        async for turn in stream:
            await source.rate(turn)

    @app.agent(app.topic(names[topics.COMMANDS.name]), name="commands")
    async def command(stream: StreamT[Any]) -> None:
        async for event in stream.events():
            output = _pass_on(event, pseudonyms, max_bytes=settings.max_record_bytes)
            await rater.emit([output])
            metrics.commands.labels("rejected" if output.topic == topics.REJECTED.name else "passed_on").inc()

    return app


def _credentials(
    *,
    ssl_context: SSLContext | None = None,
    sasl_mechanism: str = "",
    sasl_plain_username: str = "",
    sasl_plain_password: str = "",
    **_: str,
) -> faust.auth.Credentials | None:
    """Return the connection options of every other client in the form that Faust needs."""
    if sasl_mechanism:
        return faust.SASLCredentials(
            username=sasl_plain_username,
            password=sasl_plain_password,
            mechanism=sasl_mechanism,
            ssl_context=ssl_context,
        )
    return None if ssl_context is None else faust.SSLCredentials(ssl_context)


def _pass_on(event: EventT[Any], pseudonyms: Pseudonyms, *, max_bytes: int) -> Output:
    """Return the record that puts a command into its campaign's log, or its rejection if the command is not valid."""
    message = event.message
    written_at = message.timestamp if message.timestamp_type == LOG_APPEND_TIME else None
    record = Record(message.offset, message.key, event.value, written_at)
    try:
        command = decode_command(record.value, max_bytes=max_bytes)
        check_time(command, record.written_at)
    except RecordError as error:
        return rejection_output(message.topic, message.partition, record, error, pseudonyms)
    return Output(topics.JUDGMENTS.name, command.campaign.encode(), event.value)
