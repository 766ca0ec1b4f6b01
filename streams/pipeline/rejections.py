"""The dead letter of a record that was not applied, for the topic of rejections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.pipeline.originals import without_judge
from streams.wire import topics
from streams.wire.events import Rejection, encode
from streams.wire.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.errors import RecordError
    from streams.pipeline.record import Record

# Kafka Connect's dead letter queues use these headers, and tools for such queues read them.
CONNECT = "__connect.errors."


def rejection_output(
    topic: str, partition: int, record: Record, error: RecordError, pseudonyms: Mapping[str, str] | None
) -> Output:
    """Return the Rejection of a record, under the record's own key. It does not hold the id of the judge."""
    original = without_judge(record.value, pseudonyms)
    rejection = Rejection(
        id=f"{topic}/{partition}/{record.offset}",
        reason=error.reason,
        field=error.field,
        message=error.message,
        judgment=original.id,
        original=original.value,
        topic=topic,
        partition=partition,
        offset=record.offset,
    )
    headers = {
        "topic": topic,
        "partition": partition,
        "offset": record.offset,
        "connector.name": "judgestream",
        "exception.class.name": f"{type(error).__module__}.{type(error).__qualname__}",
        "exception.message": f"{error.reason}: {error.message}",
    }
    return Output(
        topics.REJECTED.name,
        record.key,
        encode(rejection),
        tuple((f"{CONNECT}{name}", str(value).encode()) for name, value in headers.items()),
    )
