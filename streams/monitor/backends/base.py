"""What stands behind the monitor: a log to publish into, the outputs that come out of it, a store and a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from streams.monitor.ledger.base import Ledger
    from streams.stores import Store
    from streams.wire.events import Judgment, Leaderboard, Rejection

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Lag(Struct, frozen=True, kw_only=True):
    """How far the workers are on one partition: `lag` records of the log are not applied yet."""

    partition: int
    end: int
    applied: int
    lag: int


class OutputHandler(Protocol):
    """Who is told of the outputs, in the event loop."""

    def on_leaderboard(self, leaderboard: Leaderboard, *, at: datetime) -> None:
        """Take a leaderboard."""

    def on_rejection(self, campaign: str, rejection: Rejection, *, at: datetime) -> None:
        """Take a rejection of a record whose key was the campaign."""


class Backend(Protocol):
    """Kafka and Redis, or one process that does without them."""

    store: Store
    ledger: Ledger

    async def start(self, handler: OutputHandler) -> None:
        """Begin to tell an handler of the outputs; servers that are away are waited for in the background."""

    async def stop(self) -> None:
        """End it."""

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Do something with the store or the ledger in a thread."""

    async def publish(self, judgments: Sequence[Judgment]) -> None:
        """Append to the log; BrokerUnavailable if it may not have them all."""

    def partitions(self) -> list[str]:
        """Name the partitions of the log, as the store knows them."""

    async def lags(self) -> list[Lag]:
        """Compare the log's ends with what is applied."""

    def tasks(self) -> Sequence[asyncio.Task[None]]:
        """Give what has to run for as long as the monitor does."""

    def waiting(self) -> list[str]:
        """Say what is waited for, a line for each; nothing: all is well."""
