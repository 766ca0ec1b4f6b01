"""Emits present outputs again where a former owner of a partition has emitted older ones after them."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from streams.errors import StoreUnavailable
from streams.worker.ownership import Abandoned

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from streams.pipeline.processor import Processor
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Rater

    Guard = Callable[[PartitionOwnership, Awaitable[None]], Awaitable[None]]

log = logging.getLogger(__name__)

REPEATED_AT_ONCE = 100  # campaigns whose outputs are emitted again before the next batch may be rated


async def repeat_after_late(rater: Rater, ownerships: Sequence[PartitionOwnership], guard: Guard) -> None:
    """Ask the store, which alone knows, for reports of late outputs, and repeat what is newer. No error leaves."""
    with suppress(Abandoned):
        for ownership, report in await rater.ask_all(ownerships, _read_report):
            if report and ownership.is_open:
                await guard(ownership, _repeat(rater, ownership, report))


def _read_report(processor: Processor) -> str | Exception:
    """Return the report of a partition, or nothing, or what is wrong with it: that holds up no other partition."""
    try:
        return processor.late_report()
    except StoreUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - the guard of the partition decides what it means
        return error


async def _repeat(rater: Rater, ownership: PartitionOwnership, report: str | Exception) -> None:
    """Emit the present outputs of a partition. Batches may be rated in between: their outputs are newer."""
    if isinstance(report, Exception):
        raise report
    processor = ownership.processor
    names = processor.campaign_names
    for first in range(0, len(names), REPEATED_AT_ONCE):
        part = names[first : first + REPEATED_AT_ONCE]
        async with rater.turn:
            await rater.finish(ownership, partial(processor.boards.present_outputs, part))
    await rater.ask(ownership, partial(processor.clear_late, report))
    message = "%s: a former owner has emitted outputs late; the present ones of %d campaigns were emitted again"
    log.warning(message, ownership.partition, len(names), extra=ownership.log_fields())
