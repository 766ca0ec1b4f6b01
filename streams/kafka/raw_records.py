"""A short cut through aiokafka: records as its compiled code makes them, without another object for each.

aiokafka copies each record into a ConsumerRecord, which takes longer than all the rest of reading it. The compiled
record has the same fields, except the topic and the partition. So the method that copies is replaced in the records
that were received and wait to be fetched. It is private: another version of aiokafka than the tested series is left as
it is, and so is everything that does not look as expected. The only effect is on the speed.
"""

from __future__ import annotations

from typing import Any

import aiokafka

TESTED_SERIES = "0.14."


def leave_records_raw(client: Any) -> None:
    """Return the records that wait in a consumer as they are from its next `getmany`."""
    if not aiokafka.__version__.startswith(TESTED_SERIES):
        return
    waiting = getattr(getattr(client, "_fetcher", None), "_records", {})
    for fetched in waiting.values():
        records: Any = getattr(fetched, "_partition_records", None)
        if hasattr(records, "_consumer_record"):
            records._consumer_record = _keep


def _keep(_: object, record: object) -> object:
    return record
