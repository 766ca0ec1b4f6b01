"""The campaigns of one partition: those that are rated, those in quarantine, and those that rest.

A campaign without records for a while rests: it leaves memory, and its next record loads it again. When a partition is
opened, all its campaigns rest except those in quarantine. `streams.pipeline.campaign_batches` applies records to them.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.categories import stored_names
from streams.core.campaign.opening import check_campaigns, opens_campaign
from streams.core.campaign.quarantined import QuarantinedCampaign
from streams.core.campaign.state import StoredCampaign
from streams.errors import Conflict, ForeignCampaign, StoreCorrupt, StoreUnavailable
from streams.pipeline.faults import is_campaign_fault
from streams.pipeline.leaderboards import Leaderboards, is_large
from streams.pipeline.quarantining import QuarantinedCampaigns
from streams.pipeline.resting import LastUses, RestingCampaign
from streams.pipeline.restoring import restore
from streams.pipeline.suspensions import may_suspend
from streams.pipeline.taking_back import awaits_rerun
from streams.stores.commit import Outcomes
from streams.wire.events import encode
from streams.wire.quarantine import Quarantine, describe_error, describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streams.core.campaign.campaign import Event
    from streams.core.campaign.state import CampaignMeta
    from streams.pipeline.options import ProcessorOptions
    from streams.stores import Lease, Store
    from streams.wire.leaderboard import Category
    from streams.wire.outputs import Output

log = logging.getLogger(__name__)

MOST_VERIFIED = 1000  # resting campaigns that are compared with the store at once


class PartitionCampaigns:
    """The campaigns of one partition, by name: those that are rated, those in quarantine, and those that rest."""

    def __init__(
        self,
        topic: str,
        partition: int,
        store: Store,
        options: ProcessorOptions,
        *,
        lease: Lease,
    ) -> None:
        self.rated: dict[str, Campaign] = {}
        self.resting: dict[str, RestingCampaign] = {}
        self.homes: Mapping[str, str] = {}  # partitions of campaigns whose state may be lost
        self.held = QuarantinedCampaigns(topic, partition, options)
        self.quarantined, self.reject = self.held.by_name, self.held.reject
        self._store = store
        self._options = options
        self._lease = lease
        self.awaiting: deque[str] = deque()  # campaigns that await match requests, because they have many systems
        self.unopened: set[str] = set()  # campaigns of this batch that no record has opened yet
        self._verified = 0  # of those that rest
        self.leaderboards = Leaderboards()
        self._uses = LastUses(most=options.max_loaded_campaigns, idle_seconds=options.idle_seconds)

    def open(self, names: Iterable[str]) -> list[Output]:
        """Claim campaigns. Return the outputs that their former owner may not have emitted, and new quarantines.

        Only a campaign that is in quarantine, or that has a problem, is loaded.
        """
        outputs: list[Output] = []
        for name, found in self._store.survey(self._lease, names):
            if found is not None and found.meta.status.quarantine is None:
                outputs += found.outbox
                self.resting[name] = _resting(found.meta, found.offset)
                continue
            try:
                stored = self.load_stored(name)
            except ForeignCampaign as error:
                # Its state was lost, and another partition began it anew with a record that was sent there.
                log.error("%s; %s lists it too, and forwards its records", error, self._lease.partition)
                continue
            if stored is not None:
                outputs += stored.outbox
                self._add(name, stored)
        outputs += self.held.announce()
        for name, campaign in self.quarantined.items():
            log.warning("%s", describe_quarantine(name, campaign.quarantine), extra={"campaign": name})
        return outputs

    def load(self, name: str) -> None:
        """Load or begin a campaign that is not in memory. Raise ForeignCampaign if it lives on another partition."""
        if name in self.rated or name in self.quarantined:
            self._uses.add(name)
            return
        stored = self.load_stored(name)
        if stored is None and (home := self.homes.get(name, self._lease.partition)) != self._lease.partition:
            raise ForeignCampaign(name, home)
        self._uses.add(name)
        if (left := self.resting.get(name)) is not None:
            self._check_rested(name, left, stored)
        if stored is None:
            self.rated[name] = Campaign(name, options=self._options.campaign)
            self.unopened.add(name)
        else:
            self._add(name, stored)
        self.resting.pop(name, None)

    def admit(self, event: Event) -> None:
        """Raise RecordError if a record would open a campaign, and there are too many.

        Records are asked in the order of the log, so that the size of the batches does not matter.
        """
        if event.campaign not in self.unopened or not opens_campaign(event, self._options.campaign):
            return
        number = len(self.rated) - len(self.unopened) + len(self.quarantined) + len(self.resting)
        check_campaigns(number, most=self._options.max_campaigns, partition=self._lease.partition)
        self.unopened.discard(event.campaign)

    def _check_rested(self, name: str, left: RestingCampaign, stored: StoredCampaign | None) -> None:
        """Raise Conflict if a campaign is not as it was when it left memory: its partition is opened again."""
        if stored is None or stored.problem is not None or stored.offset != left.offset:
            where = "not stored" if stored is None else stored.problem or f"at {stored.offset}"
            raise Conflict(f"{self._lease.partition}: the campaign {name!r} was left at {left.offset}, and is {where}")

    def load_stored(self, name: str) -> StoredCampaign | None:
        """Return a stored campaign. One whose tables can't be read at all has a problem, and no rows."""
        try:
            return self._store.load(self._lease, name)
        except StoreCorrupt as error:
            meta, offset = b"", int(self._store.read_head(name).get("offset", -1))
            with suppress(StoreCorrupt):
                if (found := self._store.read_meta(name)) is not None:
                    meta = encode(found)
            return StoredCampaign(meta=meta, tables={}, scores={}, seen=(), offset=offset, problem=str(error))

    def read_names(self, name: str) -> tuple[list[str], list[Category]]:
        """Return the systems and the categories of a campaign in quarantine, as far as the store knows them."""
        try:
            stored = self.load_stored(name)
        except StoreUnavailable as away:  # other campaigns have applied their part of the batch
            raise Conflict(f"the systems of the campaign {name!r} can't be read: {away}") from None
        tables = {} if stored is None else stored.tables
        systems = {*self.quarantined[name].meta.status.settings.systems, *tables.get("systems", {})}
        return sorted(systems), stored_names(tables.get("categories", {}))

    def _add(self, name: str, stored: StoredCampaign) -> None:
        """Add a stored campaign. If it can't be used, it is quarantined."""
        campaign, error = restore(name, stored, self._options.campaign)
        if isinstance(campaign, Campaign):
            self.rated[name] = campaign
        elif error is None:
            self.quarantined[name] = campaign
        else:
            self.held.add(campaign, error, announced=False)

    def rest(self, now: float) -> tuple[Output, ...]:
        """Remove the idle campaigns from memory. Return their leaderboards that are not emitted yet.

        All that was applied must be persisted. The time `now` is on any clock that does not go back.
        """
        outputs: list[Output] = []
        for name in self._uses.find_idle(now, among=self.rated):
            campaign = self.rated[name]
            if self.leaderboards.is_due(name, campaign.counts):
                if is_large(campaign):
                    self._uses.add(name)  # it leaves after its match requests are opened and its leaderboard is emitted
                    continue
                outputs += self.announce(campaign)
            self.leave(name)
        return tuple(outputs)

    def await_requests(self, campaign: Campaign) -> None:
        """Remember a campaign whose match requests are to be chosen beside the batches."""
        if campaign.awaits_requests and campaign.name not in self.awaiting:
            self.awaiting.append(campaign.name)

    def end(self, name: str) -> None:
        """Remove a campaign from memory at the next call of `rest`: it was archived or deleted."""
        self._uses.end(name)

    def leave(self, name: str) -> None:
        """Remove a campaign from memory, unless it is quarantined by now."""
        if (campaign := self.rated.pop(name, None)) is not None and campaign.exists:
            self.resting[name] = _resting(campaign.meta, campaign.persisted_offset)

    def end_quarantine(self, campaign: Campaign) -> None:
        """Rate a campaign from now on, which has taken the place of the one in quarantine."""
        self.rated[campaign.name] = campaign
        self.leaderboards.forget_categories(campaign.name)
        if is_large(campaign):
            self.leaderboards.mark_due(campaign.name)
        else:
            self.leaderboards.mark_emitted(campaign)
        self._uses.add(campaign.name)
        self.await_requests(campaign)
        del self.quarantined[campaign.name]

    def announce(self, campaign: Campaign) -> tuple[Output, ...]:
        """Return the leaderboard of a campaign, or its new status if it can't be ranked."""
        try:
            return self.leaderboards.make(campaign)
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            self.set_apart(campaign, error)
            return self.held.announce()

    def set_apart(self, campaign: Campaign, error: Exception) -> None:
        """Quarantine a campaign that can't be ranked."""
        quarantine = Quarantine(offset=campaign.offset + 1, error=describe_error(error))
        del self.rated[campaign.name]
        self.held.add(QuarantinedCampaign.begin(campaign.meta, quarantine), error, announced=False)

    def suspending(self) -> dict[str, int]:
        """Return the number of judgments of each campaign that suspends flagged judges by itself."""
        # All campaigns are asked every few seconds, so what few of them have is looked at first.
        some = [each for each in self.rated.values() if each.status.settings.suspend_judges == "auto"]
        rated = {each.name: each.counts.judgments for each in some if may_suspend(each.status)}
        return rated | {name: each.counts.judgments for name, each in self.resting.items() if each.suspends}

    def awaiting_rerun(self) -> list[str]:
        """Return the campaigns with changed verdicts that only a rerun can take back."""
        some = [each for each in self.rated.values() if each.verdicts.waiting]
        rated = [each.name for each in some if awaits_rerun(each.status, each.verdicts)]
        return rated + [name for name, each in self.resting.items() if each.awaits_rerun]

    def read_meta(self, name: str) -> CampaignMeta | None:
        """Return the state of a campaign except its tables. One that rests is not loaded for it."""
        campaign = self.rated.get(name)
        return self._store.read_meta(name) if campaign is None else campaign.meta

    def names(self) -> list[str]:
        """Return the names of all campaigns."""
        return sorted({*self.rated, *self.quarantined, *self.resting})

    def offsets_to_verify(self) -> dict[str, int]:
        """Return where the store should have the campaigns in memory, and the next part of those that rest."""
        names = list(self.resting)
        if self._verified >= len(names):
            self._verified = 0
        part = names[self._verified : self._verified + MOST_VERIFIED]
        self._verified += MOST_VERIFIED
        resting = {name: self.resting[name].offset for name in part}
        return resting | {name: campaign.persisted_offset for name, campaign in self.rated.items()}

    def counts(self) -> Outcomes:
        """Return what became of the records of all campaigns."""
        counts = [campaign.counts for campaign in self.rated.values()]
        counts += [campaign.counts for campaign in self.quarantined.values()]
        counts += [campaign.counts for campaign in self.resting.values()]
        return Outcomes(
            read=sum(each.records for each in counts),
            applied=sum(each.applied for each in counts),
            duplicate=sum(each.duplicates for each in counts),
            rejected=sum(each.rejected for each in counts),
            held=sum(each.held for each in counts),
            deleted=sum(each.deleted for each in counts),
        )


def _resting(meta: CampaignMeta, offset: int) -> RestingCampaign:
    """Return what is kept of a campaign that the store has at an offset."""
    return RestingCampaign(offset, meta.counts, may_suspend(meta.status), awaits_rerun(meta.status, meta.verdicts))
