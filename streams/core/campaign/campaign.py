"""The pure heart: one campaign, to which the records of its log are applied in order, batch by batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from streams.core.campaign.admission import check_listed_segments
from streams.core.campaign.board import make_ratings
from streams.core.campaign.columns import Columns
from streams.core.campaign.commands import apply_command, rename_judges
from streams.core.campaign.pseudonyms import forgotten_name
from streams.core.campaign.recent_votes import RecentVotes
from streams.core.campaign.requesting import RequestingCampaign
from streams.core.campaign.result import BatchResult, merge
from streams.core.campaign.retractions import NO_LOG, NewRetraction, RerunCommand, check_retraction
from streams.core.campaign.seen import seen_id
from streams.core.campaign.state import CampaignChange
from streams.errors import RecordError
from streams.wire import events as wire
from streams.wire.events import EPOCH, LONGEST_JUMP, AddSystem, ForgetJudge, Judgment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from streams.wire.events import CampaignStatus, Command, MatchRequest
    from streams.wire.leaderboard import Category
    from streams.wire.outputs import Output

    Event = Judgment | Command
    FindTime = Callable[[int], float | None]  # Unix time of the record at an offset


WORTH_DIVIDING = 100  # records: fewer are applied one by one if one of them needs it


class Campaign(RequestingCampaign):
    """One campaign. `apply` is the only way to change it, except that `open_requests` opens requests chosen elsewhere.

    The state is a function of the log and the options: no clock, no I/O, no randomness except from the seed.

    >>> campaign = Campaign("demo")
    >>> verdict = Judgment(id="1", campaign="demo", segment="s", judge="j", systems=("a", "b"), ranks=(2, 1), at=EPOCH)
    >>> result = campaign.apply([0], [verdict])
    >>> [row.system for row in campaign.leaderboard().rows]
    ['b', 'a']
    """

    def apply(self, offsets: Sequence[int], events: Sequence[Event], *, origin: str = "log") -> BatchResult:
        """Apply the next records of the log, in order. The ids of ratings and requests begin with `origin`."""
        before = self.offset
        result = self.apply_records(offsets, events)
        # What was applied before a restart made its requests then, under the same ids.
        return self.complete(result, origin=origin, with_requests=self.offset > before)

    def apply_records(
        self,
        offsets: Sequence[int],
        events: Sequence[Event],
        *,
        refusal: str | None = NO_LOG,
        find_time: FindTime | None = None,
    ) -> BatchResult:
        """Apply the next records of the log without the outputs that `complete` adds to the result.

        A new retraction is rejected with the `refusal`, or it ends the batch: the campaign has to be rated again.
        `find_time` returns when the broker wrote the record at an offset.
        """
        admitted = self._admit_all(offsets, events)
        if admitted is not None:
            self._rate(admitted)
            return BatchResult(applied=len(offsets))
        if len(offsets) < WORTH_DIVIDING or not (self._may_admit(offsets) or not self.exists):
            return self._apply_each(zip(offsets, events, strict=True), refusal, find_time)
        # Few records need a check of their own, or the first ones open the campaign. The others are admitted at once.
        half = len(offsets) // 2
        first = self.apply_records(offsets[:half], events[:half], refusal=refusal, find_time=find_time)
        if first.retraction is not None:
            return first
        return merge((first, self.apply_records(offsets[half:], events[half:], refusal=refusal, find_time=find_time)))

    def complete(
        self, result: BatchResult, *, origin: str, with_requests: bool, may_defer: bool = False
    ) -> BatchResult:
        """Return the result of a batch with the ratings that changed, new match requests and cancelled ones.

        If the choice of requests may be deferred and there are many systems, there are no new ones, and
        `awaits_requests` tells whether they are to be chosen.
        """
        tables = self.tables
        rows = tables.system_rows(self.model, sorted(tables.changed_systems))
        new: tuple[MatchRequest, ...] = ()
        cancelled: tuple[MatchRequest, ...] = ()
        if with_requests:
            cancelled = self._drop_requests()
            if not (may_defer and self.has_many_systems) and (draft := self.draft_requests(origin)) is not None:
                new = self.open_requests(draft.choose())
        return replace(
            result,
            rows=rows,
            ratings=make_ratings(rows, tables.systems.names, campaign=self.name, offset=self.offset, origin=origin),
            requests=new,
            cancelled=cancelled,
        )

    def _apply_each(
        self, records: Iterable[tuple[int, Event]], refusal: str | None, find_time: FindTime | None = None
    ) -> BatchResult:
        applied = duplicates = rejected_without_campaign = 0
        rejections: dict[int, RecordError] = {}
        retraction: NewRetraction | None = None
        statuses: list[CampaignStatus] = []
        removed: list[str] = []
        removed_categories: list[Category] = []
        status, columns = self.status, Columns()
        for offset, event in records:
            if offset <= self.offset:  # read again after a restart, and counted before it
                rejected_without_campaign += offset < self.opened  # these were rejected then
                duplicates += 1
                continue
            before, self.offset = self.offset, offset
            try:
                if seen_id(event) in self._seen:
                    duplicates += 1
                    self._count(duplicates=1)
                else:
                    if isinstance(event, Judgment):
                        written_at = None if find_time is None else find_time(offset)
                        self._apply_judgment(offset, event, columns, written_at=written_at)
                    else:
                        self._rate(columns.drain())
                        systems, categories = self.tables.systems.names, self.categories
                        self._apply_command(offset, event, refusal)
                        if isinstance(event, wire.Delete):
                            removed += systems
                            removed_categories += () if categories is None else categories.names
                    applied += 1
                if event.at > self.clock:
                    self.clock = event.at if self.clock == EPOCH else min(event.at, self.clock + LONGEST_JUMP)
                if self.status is not status:
                    self.opened = offset if self.opened < 0 else self.opened
                    status = self.status
                    statuses.append(status)
            except RecordError as error:
                rejections[offset] = error
                rejected_without_campaign += not self.exists
                self._count(rejected=int(self.exists))
            except NewRetraction as found:
                retraction, self.offset = found, before
                break
        self._rate(columns.drain())
        return BatchResult(
            applied=applied,
            duplicates=duplicates,
            rejections=rejections,
            rejected_without_campaign=rejected_without_campaign,
            statuses=tuple(statuses),
            removed=tuple(removed),
            removed_categories=tuple(removed_categories),
            retraction=retraction,
        )

    def _apply_command(self, offset: int, command: Command, refusal: str | None) -> None:
        command = rename_judges(command, self._pseudonym)
        status = apply_command(self.status, command, clock=self.clock)
        check_listed_segments(status.settings.segments, most=self._options.max_segments)
        if isinstance(command, RerunCommand):
            check_retraction(self.retractions, offset, command, refusal)
        elif isinstance(command, wire.RevokeVerdicts):
            self._revoke(command, offset)
        elif isinstance(command, wire.Create):
            self._state.create_model(status.settings)
            self._votes = RecentVotes(status.settings.repeat_window)
        elif isinstance(command, wire.Delete):
            self._begin(wire.CampaignSettings(), deleted=self.counts.records)
            self.clock, self.deleted, self._is_whole = command.at, offset, True
        self._seen.add(seen_id(command))
        self._state.enter(status.settings)
        if isinstance(command, AddSystem):  # the store has no score of a system that was withdrawn
            self.tables.changed_systems.add(self.tables.systems.index[command.system])
        if isinstance(command, ForgetJudge):
            self._forget_votes(command.judge)
            self._state.rename_judge(command.judge, forgotten_name(self.name, command.id, command.judge))
            self.retractions = self.retractions.without(command.judge, offset)
        self.status = msgspec.structs.replace(status, offset=offset, command=command.id)
        self._count(commands=1)

    def drain_changes(self, result: BatchResult, outbox: tuple[Output, ...]) -> CampaignChange:
        """Return what changed since the last call, for a store. `result` is that of the last batch."""
        names, withdrawn = self.tables.systems.names, self.status.withdrawn
        meta, status = self._meta_encoder.encode(self.meta)
        whole = self._is_whole or self._persisted < 0  # of a campaign whose meta is lost, a store may have tables
        requests, ended = self._request_rows.drain(self.outstanding, whole=whole)
        change = CampaignChange(
            campaign=self.name,
            before=self._persisted,
            after=self.offset,
            whole=whole,
            meta=meta,
            status=status,
            tables=self._state.drain_changes(result.rows) | {"votes": self._votes.drain_changes()},
            scores={name: row.mean for row in result.rows if (name := names[row.index]) not in withdrawn},
            withdrawn=() if status is None else withdrawn,
            seen=self._seen.drain_changes(),
            seen_ids=self._seen.kept,
            outbox=outbox,
            removed=self.tables.drain_removed(),
            requests=requests,
            ended=ended,
        )
        self._persisted, self._is_whole = self.offset, False
        return change

    def discard_changes(self) -> None:
        """Forget what changed since the last call, where nothing is stored."""
        self._state.forget_changes()
        self._seen.discard_changes()
        self._votes.discard_changes()
