"""The list of all campaigns, made at most once per second however many ask for it, and its pages."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from streams.monitor.state.payloads import CampaignsPayload

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.monitor.state.monitor import Monitor
    from streams.monitor.state.snapshot import Overview

KEPT_SECONDS = 1.0
PAGE_ROWS = 100  # of the first message of an event stream, and of a page whose size is not given
CURSOR = re.compile(r"(-?\d{1,18}):(.+)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Place = tuple[int, str]  # microseconds of the newest judgment, and the campaign


class Overviews:
    """The summaries of all campaigns, the one with the newest judgment first."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._making: asyncio.Task[list[Overview]] | None = None
        self._made_at = -KEPT_SECONDS
        self._all: list[Overview] = []
        # By the patterns of the campaigns that may be read, and the state.
        self._lists: dict[tuple[tuple[str, ...], str | None], list[Overview]] = {}
        self.version = 0  # changes with the list

    async def page(
        self,
        patterns: tuple[str, ...] = (),
        covers: Callable[[str], bool] = lambda _: True,
        *,
        state: str | None = None,
        after: Place | None = None,
        limit: int = PAGE_ROWS,
    ) -> CampaignsPayload:
        """Return a page of the campaigns that are covered. `patterns` stands for what `covers` accepts.

        They are in the given state, or in any but `archived`.
        """
        await self._refresh()
        key = patterns, state
        if key not in self._lists:
            self._lists[key] = [
                each
                for each in self._all
                if covers(each.campaign) and (each.state == state if state else each.state != "archived")
            ]
        overviews = self._lists[key]
        rest = overviews if after is None else [each for each in overviews if _place(each) < after]
        rows = rest[:limit]
        cursor = "{}:{}".format(*_place(rows[-1])) if rows and len(rest) > limit else None
        return CampaignsPayload(campaigns=rows, total=len(overviews), next=cursor)

    async def _refresh(self) -> None:
        """Make the list if it is too old. Whoever asks meanwhile waits for the same list."""
        if self._making is None and self._monitor.now() - self._made_at < KEPT_SECONDS:
            return
        if self._making is None:
            self._making = asyncio.create_task(self._monitor.overviews())
            self._making.add_done_callback(self._keep)
        await asyncio.shield(self._making)

    def _keep(self, task: asyncio.Task[list[Overview]]) -> None:
        self._making = None
        if not task.cancelled() and task.exception() is None:
            self._all, self._lists = task.result(), {}
            self._made_at = self._monitor.now()
            self.version += 1


def place_of(cursor: str) -> Place | None:
    """Return the place that a cursor stands for. Return None if it is not one.

    >>> place_of("1767225600000000:wmt13.fr-en"), place_of("3")
    ((1767225600000000, 'wmt13.fr-en'), None)
    """
    found = CURSOR.fullmatch(cursor)
    return (int(found[1]), found[2]) if found else None


def _place(overview: Overview) -> Place:
    return (overview.newest - _EPOCH) // timedelta(microseconds=1), overview.campaign
