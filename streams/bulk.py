"""The quick way through a batch: ordinary judgments are taken in all at once, column by column."""

from __future__ import annotations

from itertools import accumulate, chain
from math import nan
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec.structs import astuple

from streams.columns import Columns
from streams.events import LONGEST_JUMP, Judgment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.campaign import Campaign
    from streams.events import Command


def admit_all(campaign: Campaign, offsets: Sequence[int], events: Sequence[Judgment | Command]) -> Columns | None:
    """Take all of them in, as the campaign would one by one; None, and nothing changed, if one needs a closer look."""
    standing, tables, retractions = campaign.standing, campaign.tables, campaign.retractions
    if set(map(type, events)) != {Judgment} or offsets[0] <= campaign.offset:
        return None
    if not campaign.exists or standing.state == "closed" or standing.settings.judge_per_minute is not None:
        return None
    if campaign.model.kind != "rankings" or offsets[0] < max(retractions.judges.values(), default=0):
        return None
    ids, _, segments, judges, systems, times, ranks, _, requests, durations, _, _ = zip(
        *map(astuple, events), strict=True
    )
    latest = max(times)
    if None in ranks or latest > campaign.clock + LONGEST_JUMP:
        return None
    fresh = set(ids)
    if len(fresh) < len(ids) or campaign.seen.has_any(fresh) or not fresh.isdisjoint(retractions.ids):
        return None
    if campaign.pseudonyms is not None:
        judges = tuple(map(campaign.pseudonyms.__getitem__, judges))
    if standing.excluded and not set(judges).isdisjoint(standing.excluded):
        return None
    try:
        of = list(map(tables.systems.index.__getitem__, chain.from_iterable(systems)))
    except KeyError:
        return None
    campaign.offset, campaign.clock = offsets[-1], max(campaign.clock, latest)
    campaign.seen.add_all(ids)
    if requests.count(None) < len(requests):
        for request in requests:
            campaign.requests.answered(request)
    return Columns(
        offsets=list(offsets),
        keys=[crc32(each.encode()) for each in ids] if campaign.replicas is not None else [],
        systems=of,
        ranks=list(chain.from_iterable(ranks)),
        starts=list(accumulate(map(len, ranks), initial=0)),
        judges=tables.judges.add_all(judges),
        segments=tables.segments.add_all(segments),
        scores=[nan] * len(ids),
        durations=[-1 if each is None else each for each in durations],
    )
