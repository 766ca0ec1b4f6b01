"""What must hold at the end of a soak: every offset accounted for, the state of a calm replay, and all outputs sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import msgspec

from streams.core.campaign.state import TABLES, StoredCampaign, SystemRow, decode_meta, decode_row
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.base import Store
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import Rating, Rejection
from tests.builders import log_reader
from tests.state_hash import HEAD_FIELDS, settled_meta

BATCH = 1000


@dataclass
class Calm:
    """What a calm run in this process makes of a log."""

    store: MemoryStore = field(default_factory=MemoryStore)
    rejections: dict[str, Rejection] = field(default_factory=dict)  # by id


def replay(topic: str, log: Sequence[Sequence[Record]], settings: Settings, *, first: Sequence[int]) -> Calm:
    """Run a log through processors on a memory store.

    The records before the offsets `first` come first on all partitions: they say where each campaign lives.
    """
    calm = Calm()
    options = ProcessorOptions.from_settings(settings)
    processors = [
        Processor.open(topic, number, calm.store, options, read_log=log_reader(records))[0]
        for number, records in enumerate(log)
    ]
    for is_first in (True, False):
        for number, (processor, records) in enumerate(zip(processors, log, strict=True)):
            part = [record for record in records if (record.offset < first[number]) is is_first]
            for start in range(0, len(part), BATCH):
                outputs = processor.process(part[start : start + BATCH])
                for output in (*outputs, *chain.from_iterable(processor.rate_again().values())):
                    if output.topic == topics.REJECTED.name:
                        rejection = msgspec.json.decode(output.value, type=Rejection)
                        calm.rejections[rejection.id] = rejection
    return calm


# -- offsets ------------------------------------------------------------------------------------------------


def unaccounted(store: Store, heads: Sequence[str], *, ends: Sequence[int], missing: Sequence[int]) -> Iterator[str]:
    """Yield the partitions some of whose offsets did not end in one of the ways that are counted."""
    for head, end, gone in zip(heads, ends, missing, strict=True):
        fields = store.read_partition(head)
        offset, read, lost, empty = (int(fields.get(name, 0)) for name in ("offset", "read", "missing", "empty"))
        if offset != end:
            yield f"{head} is at offset {offset}, and the log ends at {end}"
        if lost != gone:
            yield f"{head} counts {lost} missing offsets, and {gone} were deleted before they were read"
        if offset != read + lost + empty:
            yield f"{head}: offset {offset} is not {read} read + {lost} missing + {empty} empty"
        metas = [store.read_meta(name) for name in store.list_campaigns([head])]
        ended = sum(meta.counts.records for meta in metas if meta is not None)
        ended += int(fields.get("rejected", 0)) + int(fields.get("forwarded", 0))
        if ended != read:
            ways = "applied, duplicate, rejected, held or forwarded"
            yield f"{head}: {read} records were read, and {ended} ended as {ways}"


# -- state --------------------------------------------------------------------------------------------------


def differences(found: Store, calm: Store, heads: Sequence[str]) -> Iterator[str]:
    """Yield where the state is not that of a calm run: heads first, then campaign by campaign."""
    for head in heads:
        for name in HEAD_FIELDS:
            here, there = (store.read_partition(head).get(name, "0") for store in (found, calm))
            if here != there:
                yield f"{head}: {name} is {here}, calm {there}"
    names = found.list_campaigns(heads), calm.list_campaigns(heads)
    for campaign in sorted({*names[0], *names[1]}):
        if names[0].count(campaign) != names[1].count(campaign):
            yield f"{campaign} is listed {names[0].count(campaign)} times, calm {names[1].count(campaign)} times"
        yield from _campaign_differences(campaign, found.read(campaign), calm.read(campaign))


def _campaign_differences(campaign: str, found: StoredCampaign | None, calm: StoredCampaign | None) -> Iterator[str]:
    if found is None or calm is None:
        if found is not calm:
            yield f"{campaign} is {'missing' if found is None else 'not in the calm run'}"
        return
    metas = settled_meta(found.meta), settled_meta(calm.meta)
    if metas[0] != metas[1]:
        yield f"{campaign}: meta is\n    {metas[0]!r}, calm\n    {metas[1]!r}"
    for table in TABLES:
        here, there = found.tables[table], calm.tables[table]
        for row in sorted({*here, *there}):
            if here.get(row) != there.get(row):
                yield f"{campaign}: {table} {row!r} is {here.get(row)!r}, calm {there.get(row)!r}"
                break
    if found.seen != calm.seen:
        place = next((n for n, (a, b) in enumerate(zip(found.seen, calm.seen, strict=False)) if a != b), None)
        yield f"{campaign}: {len(found.seen)} ids seen, calm {len(calm.seen)}; the first that differs is at {place}"
    if found.scores != calm.scores:
        yield f"{campaign}: scores are {found.scores}, calm {calm.scores}"


# -- outputs ------------------------------------------------------------------------------------------------


def wrong_rejections(sent: Sequence[bytes], calm: Calm) -> Iterator[str]:
    """Yield rejections of the calm run that were not sent, and rejections that were sent without a reason."""
    found = {each.id: each for each in (msgspec.json.decode(value, type=Rejection) for value in sent)}
    for name in sorted(calm.rejections.keys() - found.keys()):
        yield f"the rejection {name} was not sent: {calm.rejections[name].reason}, {calm.rejections[name].message}"
    for name in sorted(found.keys() - calm.rejections.keys()):
        yield f"the rejection {name} is not in the calm run: {found[name].reason}, {found[name].message}"


def wrong_ratings(sent: Sequence[Record], store: Store, heads: Sequence[str]) -> Iterator[str]:
    """Yield systems whose newest rating is not that of the state."""
    newest = {record.key: record.value for record in sent}
    for campaign in store.list_campaigns(heads):
        stored = store.read(campaign)
        if stored is None:
            continue
        for system, row in sorted(stored.tables["systems"].items()):
            value = newest.get(f"{campaign}/{system}".encode())
            if value is None:
                yield f"{campaign}/{system} has no rating"
                continue
            rating = msgspec.json.decode(value, type=Rating)
            state = decode_row(row, SystemRow)
            fields = ("mean", "deviation", "wins", "ties", "losses", "judgments")
            if any(getattr(rating, name) != getattr(state, name) for name in fields):
                offset = decode_meta(campaign, stored.meta).offset
                yield f"{campaign}/{system}: the newest rating is {rating}, the state at {offset} is {state}"
