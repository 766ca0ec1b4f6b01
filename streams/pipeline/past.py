"""Find a campaign of a partition as it is, or as it was: its log, rated again up to an offset by a processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import JudgestreamError
from streams.pipeline.processor import Processor
from streams.wire.quarantine import describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.campaign.campaign import Campaign
    from streams.pipeline.campaign_batches import ReadLog
    from streams.pipeline.options import ProcessorOptions
    from streams.stores import Store


def rate_until(
    end: int,
    name: str,
    *,
    topic: str,
    partition: int,
    store: Store,
    options: ProcessorOptions,
    read_log: ReadLog,
    advance: Callable[[int], None] = lambda _offset: None,
) -> Campaign | None:
    """Return a campaign as it was before the record at `end` was read, or None if no record had opened it.

    All campaigns of the partition are rated, into a store that is empty. Only records before `end` count, also
    commands: a judgment that was retracted later is still rated.
    """
    processor, _ = Processor.open(topic, partition, store, options.for_reading_again(), read_log=read_log)
    for records in read_log(0, end):
        processor.process(records)
        advance(processor.next_offset)
    processor.rate_again()
    return find_campaign(processor, name)


def find_campaign(processor: Processor, name: str) -> Campaign | None:
    """Return a campaign of a partition, or None. Raise JudgestreamError if it is quarantined."""
    if name not in processor.campaign_names:
        return None
    processor.load(name)
    if (found := processor.quarantined.get(name)) is not None:
        raise JudgestreamError(describe_quarantine(name, found.quarantine))
    return processor.campaigns[name]
