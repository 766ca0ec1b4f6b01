"""A short cut through aiokafka: records as its compiled code makes them, without another object for each.

aiokafka copies each record into a ConsumerRecord, which takes longer than all the rest of reading it. The compiled
record has the same fields, except the topic and the partition. So the method that copies is replaced in all records
that a consumer receives. It is private: another version of aiokafka than the tested series is left as it is, and so is
everything that does not look as expected. The only effect is on the speed.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import aiokafka

TESTED_SERIES = "0.14."


class _RawResults(OrderedDict[Any, Any]):
    """What a consumer has received and not returned yet, by partition."""

    def __setitem__(self, partition: Any, fetched: Any) -> None:
        records: Any = getattr(fetched, "_partition_records", None)
        if hasattr(records, "_consumer_record"):
            records._consumer_record = _keep
        super().__setitem__(partition, fetched)


def leave_records_raw(client: Any) -> None:
    """Return records as they are from a consumer that has been started."""
    fetcher = getattr(client, "_fetcher", None)
    received = getattr(fetcher, "_records", None)
    if aiokafka.__version__.startswith(TESTED_SERIES) and type(received) is OrderedDict:
        fetcher._records = _RawResults(received)  # type: ignore[union-attr]


def _keep(_: object, record: object) -> object:
    return record
