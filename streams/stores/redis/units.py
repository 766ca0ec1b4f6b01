"""What a batch writes, as units: a campaign or a partition, each with the head that it moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from streams.core.campaign.state import TABLES
from streams.stores.base import encode_head
from streams.wire.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from streams.core.campaign.state import CampaignChange
    from streams.stores.commit import Commit
    from streams.stores.redis.keys import Keys

CAMPAIGN_TABLES = (*TABLES, "seen", "leaderboard", "outbox")


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What moves together with one head; `persist.lua` says how it is read."""

    head: str
    start: int
    before: int | str
    after: int | str
    writes: list[tuple[str, str, Sequence[Any]]]

    def touched(self) -> Iterator[str]:
        """Name the keys."""
        yield self.head
        yield from (key for _, key, _ in self.writes)

    def arguments(self) -> Iterator[Any]:
        """Spell it for the script."""
        yield from (self.head, self.start, self.before, self.after, len(self.writes))
        for command, key, arguments in self.writes:
            yield from (command, key, len(arguments), *arguments)

    def parts(self, size: int) -> Iterator[Unit]:
        """Cut it into units of so many arguments, to be written in order: the head names the part that it is at."""
        writes = [
            (command, key, arguments[first : first + size])
            for command, key, arguments in self.writes
            for first in range(0, max(len(arguments), 1), size)
        ]
        before, part = self.before, []
        for number, write in enumerate(writes, 1):
            part.append(write)
            if number < len(writes) and sum(len(arguments) for _, _, arguments in part) < size:
                continue
            after = self.after if number == len(writes) else f"part-{number}"
            yield replace(self, before=before, after=after, writes=part)
            before, part = after, []


def campaign_unit(keys: Keys, change: CampaignChange) -> Unit:
    """Write what changed in a campaign."""

    def key(table: str) -> str:
        return keys.campaign(change.campaign, table)

    replaced = [key(table) for table in CAMPAIGN_TABLES] if change.whole else []
    return Unit(
        head=key("meta"),
        start=-1,
        before=change.before,
        after=change.after,
        writes=[
            *(("UNLINK", table, [table]) for table in replaced),
            ("HSET", key("meta"), ["campaign", change.meta]),
            *(("HSET", key(table), flat(rows.items())) for table, rows in change.tables.items()),
            ("RPUSH", key("seen"), change.seen),
            ("LTRIM", key("seen"), [-change.seen_ids, -1]),
            ("ZADD", key("leaderboard"), flat((score, system) for system, score in change.scores.items())),
            ("ZREM", key("leaderboard"), change.withdrawn),
            ("SET", key("outbox"), [encode_outbox(change.outbox)]),
        ],
    )


def partition_unit(keys: Keys, partition: str, commit: Commit) -> Unit:
    """Write a partition's offset and counts."""
    return Unit(
        head=keys.partition(partition),
        start=0,
        before=commit.before,
        after=commit.after,
        writes=[
            ("HSET", keys.partition(partition), flat(encode_head(commit).items())),
            ("SADD", keys.partition_campaigns(partition), [change.campaign for change in commit.campaigns]),
            ("SET", keys.partition_outbox(partition), [encode_outbox(commit.outbox)]),
        ],
    )


def flat(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Put pairs one after the other."""
    return [item for pair in pairs for item in pair]


def encode_outbox(outbox: tuple[Output, ...]) -> bytes:
    """Encode an outbox."""
    return msgspec.msgpack.encode(outbox)


def decode_outbox(outbox: bytes | None) -> tuple[Output, ...]:
    """Decode an outbox, one of an earlier version too.

    >>> decode_outbox(msgspec.msgpack.encode([("ratings.v1", b"c/a", b"{}")]))
    (Output(topic='ratings.v1', key=b'c/a', value=b'{}', headers=()),)
    """
    return tuple(msgspec.msgpack.decode(outbox, type=list[Output])) if outbox else ()
