"""The interface between the monitor and its servers: a log to publish to, its outputs, a store and a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.monitor.ledger.base import Ledger
    from streams.stores import Store
    from streams.stores.workers import WorkerReport
    from streams.wire.events import CampaignStatus, Command, Judgment, Leaderboard, Rejection

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Lag(Struct, frozen=True, kw_only=True):
    """The progress of the workers on one partition. `lag` is the number of records that are not applied yet.

    `readable` is the end of what can be read: a transaction that is open is after it. `missing` records were deleted
    before they were read, and an operator has accepted that. `forwarded` records came to this partition by mistake, and
    were forwarded to that of their campaign. `stopped` is the gap in the log at which the partition waits for an
    operator, and what to do.
    """

    partition: int
    end: int
    readable: int
    applied: int
    lag: int
    missing: int = 0
    forwarded: int = 0
    stopped: str | None = None


class OutputHandler(Protocol):
    """Receives the records of the output topics, in the event loop."""

    def on_leaderboard(self, leaderboard: Leaderboard, *, at: datetime) -> None:
        """Handle a leaderboard."""

    def on_status(self, status: CampaignStatus) -> None:
        """Handle the status of a campaign."""

    def on_rejection(self, campaign: str, rejection: Rejection, *, at: datetime) -> None:
        """Handle a rejection of a record whose key was the campaign."""


class Backend(Protocol):
    """Kafka and Redis, or an embedded stream without servers."""

    store: Store
    ledger: Ledger

    async def start(self, handler: OutputHandler) -> None:
        """Start to pass outputs to the handler. Servers that are away are waited for in the background."""

    async def stop(self) -> None:
        """Stop all tasks and close all connections."""

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Call a function that uses the store or the ledger, in a thread."""

    async def publish(self, events: Sequence[Judgment | Command]) -> None:
        """Append judgments to the log, and commands to theirs. Raise BrokerUnavailable if some may not have arrived."""

    def campaign_of_judge(self, campaign: str, judge: str) -> ReadOnlyCampaign | None:
        """Return a campaign with the judgments of one judge alone, by pseudonym, rated again from the log, or None.

        It takes as long as reading the log, and is called in a thread. Raise JudgestreamError if it can't be rated.
        """

    def partitions(self) -> list[str]:
        """Return the names of the log's partitions, as the store uses them."""

    async def lags(self) -> list[Lag]:
        """Return the lag of each partition."""

    async def workers(self) -> list[WorkerReport]:
        """Return the reports of the workers."""

    def tasks(self) -> Sequence[asyncio.Task[None]]:
        """Return the tasks that must run as long as the monitor."""

    def waiting(self) -> list[str]:
        """Return what the monitor waits for, one line each. Empty if all servers answer."""
