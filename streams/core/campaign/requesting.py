"""The match requests of a campaign: dropped when they have ended, drafted, chosen, and opened."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from streams.core.campaign.judged import JudgedCampaign
from streams.core.campaign.request_choice import RequestDraft, RequestTables
from streams.core.campaign.requests import (
    MANY_SYSTEMS,
    count_missing,
    drop_requests,
    finish_requests,
    next_number,
    open_requests,
)
from streams.core.campaign.stop_rule import next_check

if TYPE_CHECKING:
    from streams.core.campaign.request_choice import ChosenRequests
    from streams.core.campaign.stop_rule import StopCheck
    from streams.wire.events import MatchRequest


class RequestingCampaign(JudgedCampaign):
    """A campaign that asks for judgments. With many systems, the choice may be made in another thread, from a draft."""

    _asked_at = -1  # the offset as of which match requests were last chosen

    @property
    def awaits_requests(self) -> bool:
        """Whether match requests are to be chosen for many systems, from a draft."""
        if not self.has_many_systems or self._asked_at >= self.offset or not self._count_missing():
            return False
        stop, is_due = self._next_check()
        return is_due or not stop.met

    def draft_requests(self, origin: str, *, copied: bool = False) -> RequestDraft | None:
        """Return the draft of a choice of match requests, or None if there are enough. Their ids begin with `origin`.

        If it is `copied`, later batches do not change it.
        """
        count = self._count_missing()
        if not count:
            return None
        gold, (stop, is_due) = self._gold_items(), self._next_check()
        return RequestDraft(
            status=self.status,
            model=deepcopy(self.model) if copied else self.model,
            tables=RequestTables.of(self.tables, copied=copied),
            candidates=self.active,
            outstanding=[each for each in self.outstanding.values() if not (gold.items and gold.includes(each))],
            count=count,
            stop=stop,
            board=self.draft_leaderboard() if is_due else None,
            clock=self.clock,
            origin=origin,
            offset=self.offset,
            deleted=self.deleted,
            first=next_number(self.outstanding, f"{origin}/{self.offset}/"),
            seed=self._options.seed,
        )

    def open_requests(self, chosen: ChosenRequests) -> tuple[MatchRequest, ...]:
        """Open match requests that were chosen from a draft, as far as they are still wanted. Return those."""
        if chosen.deleted != self.deleted:
            return ()
        gold, status = self._gold_items(), self.status
        self._asked_at, self._state.stop = max(self._asked_at, chosen.offset), chosen.stop
        by_id = {request.id: request for request in chosen.requests}
        known = open_requests(by_id, status=status, tables=self.tables, clock=self.clock, gold=gold)
        new = finish_requests(
            [*known.values()],
            self.outstanding,
            status=status,
            judgments=self.counts.judgments,
            seed=(self._options.seed, chosen.offset + 1, 1),
            request_key=self._options.request_key,
            gold=gold,
        )
        self.outstanding |= {request.id: request for request in new}
        return tuple(new)

    @property
    def has_many_systems(self) -> bool:
        """Whether the choice of match requests takes long."""
        return (
            self.model.kind == "rankings"
            and len(self.tables.systems) > MANY_SYSTEMS
            and len(self.active) > MANY_SYSTEMS
        )

    def _drop_requests(self) -> tuple[MatchRequest, ...]:
        """Drop the match requests that have ended. Return those that are to be cancelled."""
        self.outstanding, cancelled = drop_requests(
            self.outstanding,
            status=self.status,
            tables=self.tables,
            clock=self.clock,
            request_key=self._options.request_key,
            gold=self._gold_items(),
        )
        return cancelled

    def _count_missing(self) -> int:
        """Return how many match requests are to be chosen now."""
        systems = len(self.active)
        if systems < (1 if self.model.kind == "scores" else 2):
            return 0
        return count_missing(
            self.outstanding,
            status=self.status,
            systems=systems,
            judgments=self.counts.judgments,
            gold=self._gold_items(),
        )

    def _next_check(self) -> tuple[StopCheck, bool]:
        """Return the check of the stop rule that counts, and whether it is still to be made."""
        return next_check(
            self._state.stop, self.status.settings, judgments=self.counts.judgments, systems=len(self.active)
        )
