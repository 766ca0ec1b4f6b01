"""A campaign in quarantine: it is not rated, its records wait in the log, and they are counted."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.core.campaign.request_rows import RequestRows
from streams.core.campaign.result import BatchResult
from streams.core.campaign.state import CampaignChange, MetaEncoder
from streams.wire.events import CampaignSettings, Judgment
from streams.wire.id_text import IdText
from streams.wire.quarantine import Quarantine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from streams.core.campaign.options import CampaignOptions
    from streams.core.campaign.state import CampaignMeta, Counts
    from streams.wire.events import CampaignStatus, Command
    from streams.wire.outputs import Output


class QuarantinedCampaign:
    """The meta of a campaign without its model and tables, which can't be relied on.

    Its status keeps its `offset`, so that the status after the quarantine is never an older one.
    """

    def __init__(self, meta: CampaignMeta, *, persisted: int | None = None) -> None:
        self.meta = meta
        self._persisted = meta.offset if persisted is None else persisted
        self._meta_encoder = MetaEncoder()
        self._request_rows = RequestRows()

    @classmethod
    def begin(cls, meta: CampaignMeta, quarantine: Quarantine, *, persisted: int | None = None) -> Self:
        """Return a campaign whose records from an offset on are held. They may be those that would open it.

        The store has it at the offset `persisted`, if that is not the one of the meta.
        """
        changes: dict[str, object] = {"command": None, "quarantine": quarantine}
        if meta.status.offset < 0:
            meta = replace(meta, opened=quarantine.offset)
            changes["offset"] = quarantine.offset
        return cls(replace(meta, status=replace(meta.status, **changes)), persisted=persisted)

    @classmethod
    def begin_without_meta(cls, name: str, *, offset: int, error: str) -> Self:
        """Return a campaign whose stored meta is lost. The store has it at an offset, or at none (-1)."""
        new = ReadOnlyCampaign(name).meta
        meta = replace(new, offset=offset, opened=0, status=replace(new.status, offset=0))
        return cls.begin(meta, Quarantine(offset=offset + 1, error=error, cause="corrupt"))

    def change_quarantine(self, **changes: object) -> None:
        """Change the cause or the error of the quarantine."""
        status = self.meta.status
        self.meta = replace(
            self.meta, status=replace(status, command=None, quarantine=replace(self.quarantine, **changes))
        )

    @property
    def name(self) -> str:
        """The name of the campaign."""
        return self.meta.status.campaign

    @property
    def persisted_offset(self) -> int:
        """The offset at which a store has the campaign."""
        return self._persisted

    @property
    def counts(self) -> Counts:
        """What became of the campaign's records."""
        return self.meta.counts

    @property
    def quarantine(self) -> Quarantine:
        """The place and the cause."""
        assert self.meta.status.quarantine is not None
        return self.meta.status.quarantine

    def hold(self, offsets: Sequence[int], events: Sequence[Judgment | Command]) -> BatchResult:
        """Count the next records of the log as held. Each command is answered by a status that names it."""
        duplicates = rejected_without_campaign = held = 0
        meta, status = self.meta, self.meta.status
        statuses: list[CampaignStatus] = []
        last = meta.offset
        for offset, event in zip(offsets, events, strict=True):
            if offset <= last:  # read again after a restart, and counted before it
                rejected_without_campaign += offset < meta.opened
                duplicates += 1
                continue
            last = offset
            held += 1
            if not isinstance(event, Judgment):
                status = replace(status, command=event.id)
                statuses.append(status)
        counts = replace(meta.counts, held=meta.counts.held + held)
        self.meta = replace(meta, status=status, offset=last, counts=counts)
        return BatchResult(
            held=held,
            duplicates=duplicates,
            rejected_without_campaign=rejected_without_campaign,
            statuses=tuple(statuses),
        )

    def without_quarantine(self, options: CampaignOptions) -> Campaign:
        """Return a campaign without rows, at the same offset and with the same counts: it is to be deleted next."""
        status = replace(self.meta.status, state="open", settings=CampaignSettings(), withdrawn=(), quarantine=None)
        return Campaign.from_meta(replace(self.meta, status=status), persisted=self._persisted, options=options)

    def drain_changes(
        self, outbox: tuple[Output, ...], *, seen_ids: int, applied: CampaignChange | None = None
    ) -> CampaignChange:
        """Return what changed since the last call, for a store: the meta, and what was `applied` before it."""
        if applied is None:
            applied = CampaignChange(
                campaign=self.name,
                before=self._persisted,
                after=self._persisted,
                whole=False,
                meta=b"",
                tables={},
                scores={},
                withdrawn=(),
                seen=IdText(),
                seen_ids=seen_ids,
                outbox=(),
            )
        self._persisted = self.meta.offset
        meta, status = self._meta_encoder.encode(self.meta)
        requests, _ = self._request_rows.drain({request.id: request for request in self.meta.outstanding})
        return dataclasses.replace(
            applied,
            after=self.meta.offset,
            meta=meta,
            status=status,
            outbox=outbox,
            requests={**applied.requests, **requests},
        )
