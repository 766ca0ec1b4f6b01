"""Rebuilding: rate the log again with the worker's own processor, compare with the store, and swap differences in.

For each partition:

1. Read what is stored. The workers go on.
2. Rate the log again from its beginning, into a store in memory. Compare each campaign at the offset that is stored.
3. Stop if nothing differs. Otherwise take the partition over, which fences its worker off for a while.
4. Rate the rest of the log up to the partition's offset.
5. Leave a campaign as it is if this code fails on it (see `streams.pipeline.campaign_batches`).
6. Write each other campaign that differs to fresh keys, read it back, and swap it in with one atomic call. The
   partition's head comes last: after a crash some campaigns may be ahead of it, and then skip the records they have.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

from streams.core.campaign.state import decode_meta
from streams.errors import Conflict, Fenced, HistoryGone, ParameterError, SettingError, StoreCorrupt, suggestion
from streams.kafka.admin import count_log_partitions
from streams.kafka.copies import find_copies
from streams.kafka.partitioned_log import PartitionedLog
from streams.pipeline.routing import Copies
from streams.rebuild.differences import (
    CampaignDifference,
    PartitionReport,
    RebuildReport,
    ValueDifference,
    compare,
    compare_heads,
    find_quarantine,
)
from streams.rebuild.replacement import make_replacement, stored_form
from streams.rebuild.rerun import FreshStore, Rerun
from streams.stores.base import decode_head
from streams.stores.commit import Commit
from streams.stores.redis.staging import Staging
from streams.stores.redis.store import RedisStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.core.campaign.state import StoredCampaign
    from streams.rebuild.rerun import Advance, Stop
    from streams.settings import Settings
    from streams.stores.base import Lease

    Progress = Callable[[int, int], None]  # records rated, and their total number

ATTEMPTS = 3


def rebuild(
    settings: Settings,
    campaign: str | None = None,
    *,
    dry_run: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> RebuildReport:
    """Rebuild one campaign, or all campaigns and partitions. A dry run changes nothing. Return the differences."""
    if not settings.judge_key:
        raise SettingError("judge_key is not set; set JUDGESTREAM_JUDGE_KEY to the secret that the workers have")
    store = RedisStore(settings.redis, namespace=settings.namespace)
    count = count_log_partitions(settings)
    with closing(store), PartitionedLog.open(settings) as log:
        numbers = [
            number
            for number in range(count)
            if campaign is None or campaign in store.list_campaigns([log.name(number)])
        ]
        if not numbers and campaign is not None:
            known = store.list_campaigns(log.name(number) for number in range(count))
            hint = suggestion(campaign, known) if known else "nothing is stored"
            raise ParameterError(
                f"no campaign {campaign!r} is stored; {hint}. To find campaigns that were lost: rebuild --all"
            )
        ends = {number: log.end(number) for number in numbers}
        copies = Copies() if campaign else find_copies(settings)
        reports, done = [], 0
        for number, end in ends.items():
            advance = partial(_advance, progress, done, sum(ends.values()))
            task = _PartitionRebuild(settings, store, log, number, campaign, copies, advance)
            reports.append(task.run(end, dry_run=dry_run))
            done += end
        progress(done, done)
        return RebuildReport(dry_run=dry_run, partitions=tuple(reports))


def _advance(progress: Progress, before: int, total: int, offset: int) -> None:
    progress(before + offset, total)


class _PartitionRebuild:
    """Rebuilds one partition: read, rate again and compare; if anything differs, take over and swap."""

    def __init__(
        self,
        settings: Settings,
        live: RedisStore,
        log: PartitionedLog,
        number: int,
        campaign: str | None,
        copies: Copies,
        advance: Advance,
    ) -> None:
        self._settings = settings
        self._live = live
        self._log = log
        self._number = number
        self._name = log.name(number)
        self._campaign = campaign
        self._copies = copies
        self._advance = advance
        self._staging = Staging(live)
        self._differences: dict[str, CampaignDifference] = {}
        self._head: dict[str, ValueDifference] = {}
        self._problems: dict[str, str] = {}
        self._start_rerun()

    def _start_rerun(self) -> None:
        self._fresh = FreshStore(self._live, self._copies.homes)
        self._rerun = Rerun(
            self._settings,
            self._fresh,
            self._log.topic,
            self._number,
            emitted=self._log.committed(self._number),
            copies=self._copies,
        )

    def run(self, end: int, *, dry_run: bool) -> PartitionReport:
        """Compare the partition with its log, and swap differences in unless it is a dry run."""
        listed = [self._campaign] if self._campaign else self._live.list_campaigns([self._name])
        self._problems = self._live.find_problems(self._name)
        stored = {name: self._read(name) for name in listed}
        head = self._live.read_partition(self._name)
        until = int(head.get("offset", end))
        if until > end:
            raise HistoryGone(
                f"{self._name} ends at offset {end}, and the stored state reflects it up to {until}: this is not the "
                "log that it came from; check the broker and the namespace"
            )
        self._rerun.note_quarantines(self._live)
        stops: defaultdict[int, list[Stop]] = defaultdict(list)
        for name, found in stored.items():
            stops[_offset_to_compare(name, found, until, end)].append(partial(self._compare, name, found))
        stops[until].append(partial(self._compare_rest, stored, head, until))
        reach = max(stops)
        self._rerun.rate(
            self._log.read(self._number, 0, reach), self._advance, {at: partial(_all, do) for at, do in stops.items()}
        )
        for name in self._rerun.failed:
            if stored.get(name) is not None:
                self._differences.pop(name, None)
        ratable = sorted(stored.keys() - self._rerun.failed.keys())
        quarantines = {name: held for name in ratable if (held := find_quarantine(name, stored[name]))}
        rated_again = tuple(name for name, held in quarantines.items() if dry_run and held.is_rated_again)
        for name in rated_again:
            self._differences.pop(name, None)
        swapped = bool(self._differences or self._head) and not dry_run
        if swapped:
            self._take_over()
        elif not dry_run:
            for name in stored:
                self._staging.clear(name)
        in_log = self._fresh.list_campaigns([self._name])
        self._copies.homes.update(dict.fromkeys(in_log, self._name))
        return PartitionReport(
            partition=self._name,
            records=self._rerun.records,
            campaigns=len({*stored, *(() if self._campaign else in_log)} - {*rated_again}),
            head=self._head,
            differences=tuple(self._differences[name] for name in sorted(self._differences)),
            swapped=swapped,
            released=tuple(name for name in quarantines if name not in rated_again),
            failed={
                name: error
                for name, error in sorted(self._rerun.failed.items())
                if self._campaign is None or name == self._campaign
            },
            rated_again=rated_again,
        )

    def _read(self, name: str) -> StoredCampaign | None:
        """Return a stored campaign. One that can't be read counts as lost."""
        try:
            found = self._live.read(name)
        except StoreCorrupt:
            return None
        return found and dataclasses.replace(found, problem=self._problems.get(name))

    def _compare(self, name: str, found: StoredCampaign | None) -> None:
        difference = compare(name, found, self._fresh.read(name))
        if difference is not None:
            self._differences[name] = difference

    def _compare_rest(self, stored: Mapping[str, StoredCampaign | None], head: Mapping[str, str], until: int) -> None:
        """Compare the partition's head and the campaigns that it does not list, unless one campaign is rebuilt."""
        if self._campaign is not None:
            return
        if until > 0:
            self._head = compare_heads(head, self._fresh.read_partition(self._name))
        unlisted = [name for name in self._fresh.list_campaigns([self._name]) if name not in stored]
        for name in unlisted:
            if (found := self._read(name)) is None:
                self._compare(name, found)
        if unlisted and until > 0:
            self._head["campaigns"] = ValueDifference(len(stored), len(stored) + len(unlisted))

    def _take_over(self) -> None:
        for _ in range(ATTEMPTS):
            lease = self._open()
            with suppress(Fenced, Conflict):
                self._swap_all(lease)
                return
        raise Fenced(
            f"{self._name} was taken back {ATTEMPTS} times while it was rebuilt. No campaign is half written. "
            "Stop its worker until the rebuild has ended, and rebuild again"
        )

    def _open(self) -> Lease:
        """Take the partition over. If its head was lost, its campaigns may still have later epochs."""
        heads = (self._live.read_head(name) for name in self._fresh.list_campaigns([self._name]))
        latest = max((int(head["epoch"]) for head in heads if head.get("partition") == self._name), default=0)
        while (lease := self._live.open(self._name)[0]).epoch <= latest:
            pass
        return lease

    def _swap_all(self, lease: Lease) -> None:
        """Swap in all that differs. If the head was lost, any campaign may be behind, and all are compared."""
        head = self._live.read_partition(self._name)
        lost = "offset" not in head
        until = self._log.end(self._number) if lost else int(head["offset"])
        if self._rerun.next_offset > until:
            self._start_rerun()  # a campaign was ahead of its partition
        self._rerun.note_quarantines(self._live)
        rest = self._log.read(self._number, self._rerun.next_offset, until)
        self._rerun.rate(rest, self._advance, {until: lambda: None})
        names = set(self._differences)
        if lost and self._campaign is None:
            names |= set(self._fresh.list_campaigns([self._name]))
        for name in sorted(names):
            self._swap(lease, name, late=lost)
        if self._campaign is None and until > 0 and compare_heads(head, self._fresh.read_partition(self._name)):
            self._swap_head(lease, late=lost)

    def _swap(self, lease: Lease, name: str, *, late: bool) -> None:
        """Replace a campaign by what the log yields."""
        self._live.load(lease, name)
        live, log = self._read(name), self._fresh.read(name)
        if log is None:
            self._staging.remove_campaign(lease, name)
            return
        difference = compare(name, live, log)
        if live is not None and (difference is None or name in self._rerun.failed):
            self._staging.clear(name)
            self._live.change_list(lease, name, live.offset)
            return
        assert difference is not None
        change = make_replacement(difference, live=live, log=log, publications=self._rerun.publications, late=late)
        self._staging.put_campaign(lease, change)
        if self._staging.fresh.read(name) != stored_form(change):
            raise StoreCorrupt(
                f"campaign {name!r}: what was written does not read back the same; it was not swapped in"
            )
        self._staging.swap_campaign(lease, name)

    def _swap_head(self, lease: Lease, *, late: bool) -> None:
        """Replace the partition's head by the one that the log yields."""
        fields = self._fresh.read_partition(self._name)
        outbox = self._live.read_outbox(self._name)
        commit = Commit(
            before=0,
            after=int(fields["offset"]),
            campaigns=(),
            outbox=tuple(dict.fromkeys((*outbox, *(self._rerun.publications.without_campaign if late else ())))),
            **decode_head(fields),
        )
        self._staging.put_partition(lease, commit)
        if compare_heads(self._staging.fresh.read_partition(self._name), fields):
            raise StoreCorrupt(f"{self._name}: what was written does not read back the same; it was not swapped in")
        self._staging.swap_partition(lease)


def _offset_to_compare(campaign: str, found: StoredCampaign | None, until: int, end: int) -> int:
    """Return the offset at which to compare a stored campaign: its own, if the log has that and it has no problem."""
    offset = None
    if found is not None and found.problem is None:
        with suppress(StoreCorrupt):
            offset = decode_meta(campaign, found.meta).offset
    return until if offset is None or not 0 <= offset < end else offset + 1


def _all(stops: Sequence[Stop]) -> None:
    for stop in stops:
        stop()
