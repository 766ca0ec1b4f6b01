"""What a batch writes, as units. A unit is a campaign or a partition, with the head that moves with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from streams.core.campaign.state import LAYOUT, TABLES
from streams.stores.base import encode_head
from streams.stores.redis.ids import encode_ids
from streams.stores.redis.outboxes import encode_outbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streams.core.campaign.state import CampaignChange
    from streams.stores.commit import Commit
    from streams.stores.redis.keys import Keys

SAME = "same"  # in place of the offset before: the unit stays at its offset, and may be written any number of times
PUSH_IDS = "IDS"  # a command of `persist.lua`
STAGED = "fresh"  # the layer of keys in which a campaign is rated again
CAMPAIGN_TABLES = (*TABLES, "requests", "seen", "leaderboard", "outbox")
ALL_TABLES = "all"  # those of a campaign, in place of their keys: `persist.lua` knows them


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Writes that go together with one head, which counts the rows of `tables`. `persist.lua` describes the format."""

    head: str
    tables: str  # the only one, or ALL_TABLES, or empty
    start: int
    before: int | str
    after: int | str
    writes: list[tuple[str, str, Sequence[Any]]]

    def touched(self) -> Iterator[str]:
        """Yield the keys that the unit writes."""
        yield self.head
        if self.tables == ALL_TABLES:
            beside = self.head.removesuffix("meta")
            yield from (beside + table for table in CAMPAIGN_TABLES)
        elif self.tables:
            yield self.tables
        yield from (key for _, key, _ in self.writes)

    def arguments(self) -> list[Any]:
        """Return the arguments of the script. Keys are named without what they share, up to the brace."""
        shared = self.head.rindex("}") + 1
        tables = self.tables if self.tables in ("", ALL_TABLES) else self.tables[shared:]
        writes = [write for write in self.writes if write[2]]
        found = [self.head[:shared], self.head[shared:], self.start, self.before, self.after, tables, len(writes)]
        for command, key, arguments in writes:
            found += (command, key[shared:], len(arguments))
            found += arguments
        return found

    def parts(self, size: int) -> Iterator[Unit]:
        """Yield units of about `size` arguments, to be written in order. In between the head names the last part."""
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
    """Return the writes of what changed in a campaign."""
    shared = keys.campaign(change.campaign, "")
    key = shared.__add__
    old = [shared + table for table in CAMPAIGN_TABLES] if change.whole else []
    if change.whole and change.before >= 0 and not keys.layer:  # it was deleted: so is what a rerun has staged of it
        staged = replace(keys, layer=STAGED)
        old += [staged.campaign(change.campaign, table) for table in ("meta", *CAMPAIGN_TABLES)]
    status = [] if change.status is None else ["status", change.status]
    return Unit(
        head=key("meta"),
        tables=ALL_TABLES if change.tables else "",
        start=-1,
        before=change.before,
        after=change.after,
        writes=[
            *(("UNLINK", each, [each]) for each in old),
            ("HSET", key("meta"), ["layout", LAYOUT, "campaign", change.meta, *status]),
            *(("HDEL", key(table), [*rows]) for table, rows in change.removed.items()),
            *[
                ("HSET", key(table), [*chain.from_iterable(rows.items())])
                for table, rows in change.tables.items()
                if rows
            ],
            ("HDEL", key("requests"), change.ended),
            ("HSET", key("requests"), [*chain.from_iterable(change.requests.items())]),
            (PUSH_IDS, key("seen"), [change.seen_ids, *encode_ids(change.seen)] if change.seen.count else []),
            (
                "ZADD",
                key("leaderboard"),
                [*chain.from_iterable((score, system) for system, score in change.scores.items())],
            ),
            ("ZREM", key("leaderboard"), change.withdrawn),
            ("SET", key("outbox"), [encode_outbox(change.outbox)]),
        ],
    )


def partition_unit(keys: Keys, partition: str, commit: Commit, *, listed: str | None = None) -> Unit:
    """Return the writes of a partition's offset, counts and outbox, and of its campaigns' offsets.

    `listed` is the list of its campaigns, unless it is the one beside the head.
    """
    listed = listed or keys.partition(partition, "campaigns")
    offsets = ((change.campaign, change.after) for change in commit.campaigns)
    return Unit(
        head=keys.partition(partition),
        tables=listed,
        start=0,
        before=commit.before,
        after=commit.after,
        writes=[
            ("HSET", keys.partition(partition), ["layout", LAYOUT, *chain.from_iterable(encode_head(commit).items())]),
            ("HSET", listed, [*chain.from_iterable(offsets)]),
            ("SET", keys.partition(partition, "outbox"), [encode_outbox(commit.outbox)]),
        ],
    )
