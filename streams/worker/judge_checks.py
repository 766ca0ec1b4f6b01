"""Tests judges in the background, in campaigns that suspend flagged judges by themselves (`suspend_judges = auto`).

The log is read with a consumer of its own, and the test runs in a thread of its own: one campaign after the other, and
again only when the campaign has grown. What is found is sent as a command, so that the decision is in the log.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from mode import Service

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.errors import BrokerUnavailable, HistoryGone, JudgestreamError, StoreUnavailable
from streams.kafka.consumers import Consumer
from streams.kafka.records import raw_records
from streams.pipeline.judge_check import CampaignVotes
from streams.pipeline.processor import Processor
from streams.pipeline.suspensions import are_too_many, is_due, make_suspension
from streams.wire import topics
from streams.wire.events import encode
from streams.wire.outputs import Output
from streams.wire.topics import MAX_LOG_BYTES
from streams.worker.ownership import Abandoned

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignMeta
    from streams.settings import Settings
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Rater
    from streams.worker.source import BatchSource

log = logging.getLogger(__name__)

SEARCH_SECONDS = 5.0  # between two searches for campaigns that are due
FETCH_MS = 500
TIMEOUT_MS = 10_000
STEP_RECORDS = 5_000


class JudgeChecks(Service):
    """Tests the judges of campaigns, one campaign at a time."""

    mundane_level = "debug"

    def __init__(self, settings: Settings, source: BatchSource, rater: Rater) -> None:
        super().__init__()
        self._settings = settings
        self._source = source
        self._rater = rater
        self._tested: dict[str, int] = {}  # judgments at the last test, by campaign
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judges")

    async def on_stop(self) -> None:
        """Release the thread. The step in hand ends soon, and the task is cancelled."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    @Service.task
    async def _find_due(self) -> None:
        while not self.should_stop:
            await self.check_due()
            await self.sleep(SEARCH_SECONDS)

    async def check_due(self) -> None:
        """Test the judges of all campaigns that are due. Trouble with one is logged, and the next one goes on."""
        for ownership, suspending in await self._find_suspending():
            processor = ownership.processor
            for name, judgments in suspending.items():
                if not ownership.is_open or not is_due(judgments, tested=self._tested.get(name, 0)):
                    continue
                fields = {**ownership.log_fields(), "campaign": name}
                try:
                    meta = await self._rater.ask(ownership, partial(processor.read_meta, name))
                    if meta is not None:
                        await self._check(ownership, meta)
                except Abandoned:
                    break
                except (BrokerUnavailable, StoreUnavailable) as error:
                    log.warning("%s; the judges of %r are tested later", error, name, extra=fields)
                    continue
                except (JudgestreamError, ArithmeticError, ValueError, LookupError) as error:
                    log.error("the judges of %r can't be tested: %s", name, error, exc_info=error, extra=fields)
                self._tested[name] = judgments

    async def _find_suspending(self) -> list[tuple[PartitionOwnership, dict[str, int]]]:
        with suppress(Abandoned):
            return await self._rater.ask_all(self._source.open_ownerships(), Processor.suspending)
        return []

    async def _check(self, ownership: PartitionOwnership, meta: CampaignMeta) -> None:
        name = meta.status.campaign
        votes = CampaignVotes(name, Pseudonyms(self._settings.judge_key.encode()), meta.retractions.ids)
        await self._read(ownership, votes, until=meta.offset + 1)
        report = await asyncio.get_running_loop().run_in_executor(self._thread, votes.examine)
        fields = {**ownership.log_fields(), "campaign": name}
        if are_too_many(report):
            message = "%d of %d judges of %r are flagged: too many to suspend them without an operator"
            log.warning(message, len(report.flagged), report.tested, name, extra=fields)
        command = make_suspension(report, meta, at=datetime.now(UTC))
        if command is not None and ownership.is_open:
            await self._rater.emit([Output(topics.COMMANDS.name, name.encode(), encode(command))])
            log.warning("suspended %d judges of %r: %s", len(command.judges), name, command.reason, extra=fields)

    async def _read(self, ownership: PartitionOwnership, votes: CampaignVotes, *, until: int) -> None:
        """Read the partition from its beginning to an offset."""
        partition = ownership.partition
        consumer = Consumer(self._settings, max_fetch_bytes=MAX_LOG_BYTES, request_timeout_ms=TIMEOUT_MS)
        try:
            await consumer.start()
            consumer.assign([partition])
            beginning = (await consumer.beginning_offsets([partition]))[partition]
            if beginning > 0:
                raise HistoryGone(f"{partition} begins at offset {beginning}: the records before it are gone")
            consumer.seek(partition, 0)
            while ownership.is_open and await consumer.position(partition) < until:
                fetched = await consumer.fetch(partition, timeout_ms=FETCH_MS, max_records=STEP_RECORDS)
                records = raw_records(each for each in fetched.get(partition, ()) if each.offset < until)
                read = partial(votes.read, records, max_bytes=self._settings.max_record_bytes)
                await asyncio.get_running_loop().run_in_executor(self._thread, read)
        finally:
            await consumer.stop()
