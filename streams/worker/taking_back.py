"""Sends the commands for changed verdicts that a campaign no longer remembers, so that it is rated again without them.

They are sent for many verdicts at once, and seldom. A worker that is killed before it has sent them loses nothing: the
verdicts are in the stored state, and the next owner of the partition sends them.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from mode import Service

from streams.errors import BrokerUnavailable, StoreUnavailable
from streams.pipeline.taking_back import is_due, make_retractions
from streams.wire import topics
from streams.wire.events import encode
from streams.wire.outputs import Output
from streams.worker.ownership import Abandoned

if TYPE_CHECKING:
    from streams.core.campaign.forgotten_verdicts import ForgottenVerdicts
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Rater
    from streams.worker.source import BatchSource

log = logging.getLogger(__name__)

SEARCH_SECONDS = 2.0


class TakingBack(Service):
    """Finds campaigns with verdicts that wait, and sends their commands when they are due."""

    mundane_level = "debug"

    def __init__(self, source: BatchSource, rater: Rater) -> None:
        super().__init__()
        self._source = source
        self._rater = rater
        self._first: dict[str, float] = {}  # when a verdict was first found to wait, by campaign
        self._last: dict[str, tuple[float, ForgottenVerdicts]] = {}  # when commands were sent, and for what

    @Service.task
    async def _find_due(self) -> None:
        while not self.should_stop:
            await self.send_due()
            await self.sleep(SEARCH_SECONDS)

    async def send_due(self, now: float | None = None) -> None:
        """Send the commands of all campaigns that are due. If a server is away, they are sent later."""
        now = monotonic() if now is None else now
        found: set[str] = set()
        for ownership, names in await self._find_awaiting():
            try:
                for name in names:
                    found.add(name)
                    await self._send_if_due(ownership, name, now)
            except Abandoned:
                continue
            except (BrokerUnavailable, StoreUnavailable) as error:
                log.warning("%s; changed verdicts are taken back later", error, extra=ownership.log_fields())
        self._first = {name: at for name, at in self._first.items() if name in found}

    async def _find_awaiting(self) -> list[tuple[PartitionOwnership, list[str]]]:
        with suppress(Abandoned):
            return await self._rater.ask_all(self._source.open_ownerships(), lambda each: each.reruns.awaiting())
        return []

    async def _send_if_due(self, ownership: PartitionOwnership, name: str, now: float) -> None:
        first, (last, sent) = self._first.setdefault(name, now), self._last.get(name, (None, None))
        processor = ownership.processor
        if not is_due(now, first=first, last=last, records=processor.persisted_offset):
            return
        meta = await self._rater.ask(ownership, partial(processor.read_meta, name))
        if meta is None or meta.verdicts == sent or not ownership.is_open:  # equal: the commands were refused
            return
        commands = make_retractions(meta, at=datetime.now(UTC))
        await self._rater.emit([Output(topics.COMMANDS.name, name.encode(), encode(each)) for each in commands])
        self._last[name] = (now, meta.verdicts)
        fields = {**ownership.log_fields(), "campaign": name}
        log.info("%d changed verdicts of %r are taken back by a rerun", len(meta.verdicts), name, extra=fields)
