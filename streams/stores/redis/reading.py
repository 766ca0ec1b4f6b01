"""Reads a campaign: a small one with one call, a large one with many, so that Redis answers others in between.

A large campaign may change while it is read. For its owner it stands still, because nobody else may write it. Who reads
the ids seen gets the state of one moment, or an error. Any other reader gets the head, the leaderboard and the systems
of one moment. The other rows may be a little older. Rows are read before those that they refer to, so that no name is
missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from streams.core.campaign.state import LAYOUT, TABLES, StoredCampaign, join_meta, newer_layout_error
from streams.errors import Conflict
from streams.stores.completeness import decode_sizes, find_missing_rows
from streams.stores.redis.ids import decode_ids
from streams.stores.redis.outboxes import decode_outbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streams.core.campaign.state import Tables
    from streams.stores.redis.store import RedisStore

ROWS_AT_ONCE = 2000  # rows, or ids, that one call may read
ATTEMPTS = 3
LARGE = (
    "votes",
    "categories",
    "cells",
    "pairs",
    "replicas",
    "residuals",
    "judges",
    "segments",
    "segment_pages",  # a name needs its place in a page
)  # may be large; each before those that it refers to
NAMES = ("outbox", "seen", "leaderboard", "requests", *TABLES)

Rows = dict[bytes, bytes]


class CampaignHead(NamedTuple):
    """The head of a campaign, and the sizes of its tables at the same moment."""

    layout: bytes | None
    meta: bytes | None
    status: bytes | None
    offset: bytes | None
    rows: bytes | None
    epoch: bytes | None
    kept_ids: bytes | None
    sizes: dict[str, int]

    @property
    def problem(self) -> str | None:
        """What is wrong with the sizes of the tables, or None."""
        return find_missing_rows(decode_sizes((self.rows or b"").decode()), self.sizes)


class _Moment(NamedTuple):
    """What was read at one moment. The ids and the large tables are None if they are too large for one call."""

    head: CampaignHead
    outbox: bytes | None
    scores: list[bytes]
    requests: list[bytes]
    systems: Rows
    seen: list[bytes] | None
    tables: dict[str, Rows] | None


def read_head_and_sizes(store: RedisStore, campaign: str) -> CampaignHead:
    """Return where a campaign is, and the sizes of its tables."""
    return _decode_head(campaign, *_run(store, campaign, with_seen=False, most=-1))


def read_campaign(store: RedisStore, campaign: str, *, with_seen: bool) -> StoredCampaign | None:
    """Return a campaign's state, or None. Raise Conflict if it never stands still and is read with the ids seen."""
    found = _read_moment(store, campaign, with_seen=with_seen)
    for _ in range(ATTEMPTS):
        if found.head.meta is None:
            return None
        if found.tables is not None:
            return _stored(found, found.seen or [], found.tables)
        before, seen, tables = found, *_read_parts(store, campaign, with_seen=with_seen)
        found = _read_moment(store, campaign, with_seen=with_seen)
        if found.head == before.head or not with_seen:
            return _stored(found, seen, tables)
    raise Conflict(f"campaign {campaign!r}: it changed each of the {ATTEMPTS} times that it was read; stop its worker")


def _read_moment(store: RedisStore, campaign: str, *, with_seen: bool) -> _Moment:
    found = _run(store, campaign, with_seen=with_seen, most=ROWS_AT_ONCE)
    fields, sizes, outbox, scores, requests, systems, *rest = found
    head = _decode_head(campaign, fields, sizes)
    if not rest:
        return _Moment(head, outbox, scores, requests, _rows(systems), None, None)
    tables = {table: _rows(items) for table, items in zip(TABLES[1:], rest[1:], strict=True)}
    return _Moment(head, outbox, scores, requests, _rows(systems), rest[0], tables)


def _run(store: RedisStore, campaign: str, *, with_seen: bool, most: int) -> Any:
    keys = [store.keys.campaign(campaign, name) for name in ("meta", *NAMES)]
    return store.client.run("contents", keys=keys, args=(*((0, -1) if with_seen else (1, 0)), most))


def _decode_head(campaign: str, fields: Sequence[bytes | None], sizes: Sequence[int]) -> CampaignHead:
    layout, meta, status, offset, rows, epoch, kept_ids = fields
    named_sizes = dict(zip(NAMES, sizes, strict=True))
    head = CampaignHead(layout, meta, status, offset, rows, epoch, kept_ids, named_sizes)
    check_layout(campaign, head.layout)
    return head


def check_layout(campaign: str, layout: bytes | None) -> None:
    """Raise StoreNewer if a newer version has written the campaign."""
    if layout is not None and int(layout) > LAYOUT:
        raise newer_layout_error(f"campaign {campaign!r}", layout.decode())


def _read_parts(store: RedisStore, campaign: str, *, with_seen: bool) -> tuple[list[bytes], dict[str, Rows]]:
    """Return the ids and the large tables, read with many calls."""
    client: Any = store.client.redis
    with store.client.translated_errors():
        tables = {
            table: dict(client.hscan_iter(store.keys.campaign(campaign, table), count=ROWS_AT_ONCE)) for table in LARGE
        }
        seen = list(_scan_list(client, store.keys.campaign(campaign, "seen"))) if with_seen else []
    return seen, tables


def _scan_list(client: Any, key: str) -> Iterator[bytes]:
    first = 0
    while part := client.lrange(key, first, first + ROWS_AT_ONCE - 1):
        yield from part
        first += len(part)


def _stored(found: _Moment, seen: list[bytes], tables: dict[str, Rows]) -> StoredCampaign:
    head = found.head
    assert head.meta is not None
    return StoredCampaign(
        meta=join_meta(head.meta, head.status, found.requests),
        tables=_decode_tables({"systems": found.systems, **tables}),
        scores={system.decode(): float(score) for system, score in _rows(found.scores).items()},
        seen=decode_ids(seen, kept=head.kept_ids),
        outbox=decode_outbox(found.outbox),
        offset=-1 if head.offset is None else int(head.offset),
        problem=head.problem,
    )


def _decode_tables(tables: dict[str, Rows]) -> Tables:
    return {table: {name.decode(): value for name, value in tables[table].items()} for table in TABLES}


def _rows(items: Sequence[bytes]) -> Rows:
    return dict(zip(items[::2], items[1::2], strict=True))
