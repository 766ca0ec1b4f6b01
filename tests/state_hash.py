"""One hash of what a store holds: two runs of the same log are the same if their hashes are."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from streams.core.campaign.state import TABLES, decode_meta
from streams.core.campaign.stop_rule import StopCheck
from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from streams.stores.base import Store

HEAD_FIELDS = ("offset", "read", "rejected", "forwarded")


def state_hash(store: Store, partitions: Iterable[str]) -> str:
    """Hash all ratings, counts and offsets of some partitions (topic/number) and of their campaigns.

    Left out is what depends on how the log was cut and by whom it was read: epochs, match requests that are out,
    outboxes. A partition counts by its number, so that the same log in another namespace gives the same hash.

    >>> from streams.stores.memory import MemoryStore
    >>> state_hash(MemoryStore(), ["judgments.v1/0"]) == state_hash(MemoryStore(), ["staging.judgments.v1/0"])
    True
    """
    found = hashlib.sha256()
    for part in _parts(store, sorted(partitions)):
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.hexdigest()


def settled_meta(meta: bytes) -> bytes:
    """Return a campaign's meta without the outstanding match requests."""
    return encode(msgspec.structs.replace(decode_meta("", meta), outstanding=(), stop=StopCheck()))


def _parts(store: Store, partitions: list[str]) -> Iterator[bytes]:
    """Yield the state piece by piece, in an order that only names decide."""
    for partition in partitions:
        head = store.read_partition(partition)
        yield partition.rpartition("/")[2].encode()
        yield from (head.get(name, "0").encode() for name in HEAD_FIELDS)
    for campaign in store.list_campaigns(partitions):
        stored = store.read(campaign)
        if stored is None:
            continue  # listed by a batch that did not come to write it
        yield campaign.encode()
        yield settled_meta(stored.meta)
        for table in TABLES:
            rows = sorted((name.encode(), row) for name, row in stored.tables[table].items())
            yield b"%s %d" % (table.encode(), len(rows))
            for name, row in rows:
                yield name
                yield row
        yield from (judgment_id.encode() for judgment_id in stored.seen)
        yield from (f"{system} {score!r}".encode() for system, score in sorted(stored.scores.items()))
