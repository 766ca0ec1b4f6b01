"""The quick way through a batch: ordinary judgments are taken in all at once, column by column."""

from __future__ import annotations

from itertools import accumulate, chain
from math import nan
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from msgspec.structs import astuple

from streams.core.campaign.columns import Admitted, Columns
from streams.core.models import JudgmentBatch
from streams.wire.events import LONGEST_JUMP, Judgment
from streams.wire.scanner import JudgmentColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.wire.events import Command


def admit_all(campaign: Campaign, offsets: Sequence[int], events: Sequence[Judgment | Command]) -> Admitted | None:
    """Take all of them in, as the campaign would one by one; None, and nothing changed, if one needs a closer look."""
    status, tables, retractions = campaign.status, campaign.tables, campaign.retractions
    if offsets[0] <= campaign.offset or not campaign.exists or status.state == "closed":
        return None
    if campaign.model.kind != "rankings" or status.settings.judge_per_minute is not None:
        return None
    if offsets[0] < max(retractions.judges.values(), default=0):
        return None
    if isinstance(events, JudgmentColumns):
        return _admit_scanned(campaign, offsets, events)
    if set(map(type, events)) != {Judgment}:
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
    if status.excluded and not set(judges).isdisjoint(status.excluded):
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
    columns = Columns(
        offsets=list(offsets),
        keys=[crc32(each.encode()) for each in ids] if campaign.bootstrap is not None else [],
        systems=of,
        ranks=list(chain.from_iterable(ranks)),
        starts=list(accumulate(map(len, ranks), initial=0)),
        judges=tables.judges.add_all(judges),
        segments=tables.segments.add_all(segments),
        scores=[nan] * len(ids),
        durations=[-1 if each is None else each for each in durations],
    )
    return columns.admitted()


def _admit_scanned(campaign: Campaign, offsets: Sequence[int], block: JudgmentColumns) -> Admitted | None:
    """Take a block in without making a judgment of any line."""
    status, tables = campaign.status, campaign.tables
    if campaign.pseudonyms is not None or status.excluded or campaign.retractions.ids:
        return None
    latest = block.latest_time
    if latest > campaign.clock + LONGEST_JUMP or (block.answers_request.any() and campaign.requests.outstanding):
        return None
    systems = tables.systems.find_numbered(block.systems, block.names)
    if systems.min() < 0 or not campaign.seen.add_scanned(block):
        return None
    campaign.offset, campaign.clock = int(offsets[-1]), max(campaign.clock, latest)
    return Admitted(
        batch=JudgmentBatch(
            systems=systems,
            ranks=block.ranks,
            starts=block.starts,
            judges=tables.judges.add_numbered(block.judges, block.names),
            segments=tables.segments.add_numbered(block.segments, block.names),
            scores=np.full(len(block), nan),
        ),
        offsets=np.asarray(offsets, np.int64),
        durations=block.durations,
        keys=block.id_checksums() if campaign.bootstrap is not None else np.empty(0, np.int64),
    )
