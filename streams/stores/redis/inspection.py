"""Looks at all campaigns of a partition at once: whether they are where they should be, and whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import redis

from streams.errors import Conflict, StoreCorrupt, StoreNewer
from streams.stores.completeness import UNKNOWN, decode_sizes, find_missing_rows, find_problem
from streams.stores.redis.reading import read_head_and_sizes
from streams.stores.redis.units import CAMPAIGN_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from streams.stores.base import Lease
    from streams.stores.redis.store import RedisStore

PART = 100  # campaigns at once, so that Redis answers other clients in between
SIZES = {"seen": "llen", "leaderboard": "zcard", "outbox": "exists"}  # the other tables are hashes


class Outline(NamedTuple):
    """Where a stored campaign is, and what is wrong with its tables. The offset is None if it is not stored."""

    offset: int | None
    rows: str | None


def read_list(store: RedisStore, partition: str) -> dict[str, str]:
    """Return the campaigns of a partition, with their offsets as of its head."""
    key = store.keys.partition(partition, "campaigns")
    with store.client.translated_errors():
        client = store.client.redis
        try:
            listed: dict[bytes, bytes] = client.hgetall(key)  # type: ignore[assignment]
        except redis.ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            # Before layout 3 it was a set. The next owner of the partition changes it.
            listed = dict.fromkeys(client.smembers(key), UNKNOWN.encode())  # type: ignore[arg-type]
    return {name.decode(): at.decode() for name, at in listed.items()}


def read_latest_epoch(store: RedisStore, partition: str, campaigns: Iterable[str]) -> int:
    """Return the latest epoch in which one of these campaigns was written or loaded, or -1."""
    with store.client.translated_errors():
        pipeline = store.client.redis.pipeline(transaction=False)
        for name in campaigns:
            pipeline.hmget(store.keys.campaign(name, "meta"), "epoch", "partition")
        heads = [answer for answer in pipeline.execute(raise_on_error=False) if isinstance(answer, list)]
    return max((int(epoch) for epoch, home in heads if home == partition.encode()), default=-1)


def find_problems(store: RedisStore, partition: str) -> dict[str, str]:
    """Return the campaigns whose state is lost, not complete or older than the partition knows, and why."""
    listed = read_list(store, partition)
    suspects = [
        name
        for name, found in read_outlines(store, listed)
        if find_problem(listed=listed[name], offset=found.offset, rows=found.rows) is not None
    ]
    # A worker may have written in between. What is read as of one moment decides.
    return {name: problem for name in suspects if (problem := _find_problem(store, name, listed[name])) is not None}


def _find_problem(store: RedisStore, name: str, listed: str) -> str | None:
    try:
        found = read_head_and_sizes(store, name)
    except (StoreCorrupt, StoreNewer) as error:
        return str(error)
    offset = None if found.meta is None or found.offset is None else int(found.offset)
    return find_problem(listed=listed, offset=offset, rows=found.problem)


def verify(store: RedisStore, lease: Lease, offset: int, campaigns: Mapping[str, int]) -> None:
    """Raise Conflict if the partition or a campaign is not at its offset, or not complete."""
    with store.client.translated_errors():
        head, campaigns_key = store.keys.partition(lease.partition), store.keys.partition(lease.partition, "campaigns")
        (at, rows), listed = store.client.call([("HMGET", head, "offset", "rows"), ("HLEN", campaigns_key)])
    if int(at or 0) != offset:
        raise Conflict(f"{lease.partition}: the store is at {int(at or 0)}, and was left at {offset}")
    if rows is not None and decode_sizes(rows.decode()) != {"campaigns": listed}:
        raise Conflict(f"{lease.partition}: {listed} campaigns are listed, and the head was left with {rows.decode()}")
    for name, found in read_outlines(store, campaigns):
        if found.offset != campaigns[name] or found.rows is not None:
            where = "not stored" if found.offset is None else f"at {found.offset}"
            problem = found.rows or f"it is {where}, and was left at {campaigns[name]}"
            raise Conflict(f"{lease.partition}: the campaign {name!r}: {problem}")


def read_outlines(store: RedisStore, campaigns: Iterable[str]) -> Iterator[tuple[str, Outline]]:
    """Yield where campaigns are, and whether their tables have the sizes that they were left with."""
    names = list(campaigns)
    read = _read_from_nodes if store.client.is_cluster else _read_at_once
    for first in range(0, len(names), PART):
        part = names[first : first + PART]
        yield from zip(part, read(store, part), strict=True)


def _read_at_once(store: RedisStore, names: list[str]) -> list[Outline]:
    """Look at campaigns with one script. A dozen commands for each of them would take the worker much longer."""
    heads = [store.keys.campaign(name, "meta") for name in names]
    return [_decode_outline(found) for found in store.client.run("outlines", keys=heads, args=CAMPAIGN_TABLES)]


def _decode_outline(found: Any) -> Outline:
    """Return what the script says about a campaign."""
    if isinstance(found, bytes):  # it is whole, or there is none
        return Outline(int(found) if found else None, None)
    offset, rows, *sizes = found
    missing = find_missing_rows(decode_sizes(rows.decode()), dict(zip(CAMPAIGN_TABLES, sizes, strict=True)))
    return Outline(int(offset), missing)


def _read_from_nodes(store: RedisStore, names: list[str]) -> list[Outline]:
    """Look at campaigns in a cluster, where a script sees the keys of one campaign only."""
    with store.client.translated_errors():
        pipeline = store.client.redis.pipeline(transaction=False)
        for name in names:
            pipeline.hmget(store.keys.campaign(name, "meta"), "offset", "rows")
            for table in CAMPAIGN_TABLES:
                getattr(pipeline, SIZES.get(table, "hlen"))(store.keys.campaign(name, table))
        answers = map(_checked_answer, pipeline.execute(raise_on_error=False))
        return [_outline(answers) for _ in names]


def _checked_answer(answer: Any) -> Any:
    """Return an answer of Redis. A key of another type has a size that no table has."""
    if isinstance(answer, Exception):
        if "WRONGTYPE" not in str(answer):
            raise answer
        return -1
    return answer


def _outline(answers: Iterator[Any]) -> Outline:
    head = next(answers)
    sizes = {table: next(answers) for table in CAMPAIGN_TABLES}
    offset, rows = (None, None) if head == -1 else head
    if offset is None:
        return Outline(None, None)
    return Outline(int(offset), find_missing_rows(decode_sizes((rows or b"").decode()), sizes))
