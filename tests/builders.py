"""Judgments, logs and strategies that the tests build from."""

from __future__ import annotations

import itertools
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from streams.core.campaign.state import TABLES, StoredCampaign, join_meta
from streams.wire.events import EPOCH, Judgment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from streams.core.campaign.state import CampaignChange
    from streams.pipeline.campaign_batches import ReadLog
    from streams.pipeline.record import Record
    from streams.wire.events import Command

    Event = Judgment | Command

NOON: datetime = EPOCH + timedelta(days=365 * 50, hours=12)


def judgment(
    number: int = 0,
    *,
    campaign: str = "c",
    systems: tuple[str, ...] = ("a", "b"),
    ranks: tuple[int, ...] | None = (1, 2),
    judge: str = "judge",
    segment: str = "segment",
    request: str | None = None,
    score: float | None = None,
    at: datetime | None = None,
) -> Judgment:
    return Judgment(
        id=f"id-{number}",
        campaign=campaign,
        segment=segment,
        judge=judge,
        systems=systems,
        ranks=ranks,
        score=score,
        request=request,
        at=at or NOON + timedelta(seconds=number),
    )


def crowd_log(count: int, *, campaigns: int = 1, systems: int = 8, seed: int = 0, ways: int = 2) -> list[Judgment]:
    """Return judgments of systems whose quality falls with their number, with ties."""
    source, drawn = _crowd(campaigns, systems, seed, ways)
    drawn += itertools.islice(source, max(0, count - len(drawn)))
    return drawn[:count]


@cache
def _crowd(campaigns: int, systems: int, seed: int, ways: int) -> tuple[Iterator[Judgment], list[Judgment]]:
    """Return the judgments to be drawn, and those that were drawn already, for every test of this process."""
    return _draw_crowd(campaigns, systems, seed, ways), []


def _draw_crowd(campaigns: int, systems: int, seed: int, ways: int) -> Iterator[Judgment]:
    random = np.random.default_rng(seed)
    for number in itertools.count():
        shown = random.choice(systems, size=ways, replace=False).tolist()
        seen = [round(0.5 * i + noise) for i, noise in zip(shown, random.normal(size=ways).tolist(), strict=True)]
        places = sorted(set(seen))
        yield judgment(
            number,
            campaign=f"campaign-{number % campaigns}",
            systems=tuple(f"system-{i}" for i in shown),
            ranks=tuple(places.index(each) + 1 for each in seen),
            judge=f"judge-{random.integers(7)}",
            segment=f"segment-{random.integers(50)}",
        )


@st.composite
def judgments(draw: st.DrawFn, *, systems: int = 6) -> Judgment:
    """Draw one valid ranking of two to five systems, its id among few, so that duplicates occur."""
    shown = draw(st.lists(st.integers(0, systems - 1), min_size=2, max_size=5, unique=True))
    return judgment(
        draw(st.integers(0, 60)),
        systems=tuple(f"system-{i}" for i in shown),
        ranks=tuple(draw(st.lists(st.integers(1, 5), min_size=len(shown), max_size=len(shown)))),
        judge=f"judge-{draw(st.integers(0, 3))}",
        segment=f"segment-{draw(st.integers(0, 5))}",
    )


def unzip(entries: Iterable[tuple[int, Event]]) -> tuple[list[int], list[Event]]:
    """Return the offsets and the events of log entries."""
    entries = list(entries)
    return [offset for offset, _ in entries], [event for _, event in entries]


def stored_campaign(changes: Sequence[CampaignChange]) -> StoredCampaign:
    """Return what a store has of a campaign after these changes."""
    tables: dict[str, dict[str, bytes]] = {table: {} for table in TABLES}
    requests: dict[str, bytes] = {}
    for change in changes:
        for table, names in change.removed.items():
            for name in names:
                tables[table].pop(name, None)
        for table, rows in change.tables.items():
            tables[table].update(rows)
        requests = {key: row for key, row in requests.items() if key not in change.ended}
        requests.update(change.requests)
    *_, status = (change.status for change in changes if change.status is not None)
    return StoredCampaign(
        meta=join_meta(changes[-1].meta, status, requests.values()),
        tables=tables,
        scores={system: score for change in changes for system, score in change.scores.items()},
        seen=tuple(each for change in changes for each in change.seen.ids())[-changes[-1].seen_ids :],
        offset=changes[-1].after,
    )


def log_reader(records: Sequence[Record]) -> ReadLog:
    """Return the function with which a processor reads a log again."""
    return lambda start, before: [[record for record in records if start <= record.offset < before]]
