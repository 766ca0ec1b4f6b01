"""Where the campaigns of a soak live: the partition of the log, and the node of the Redis Cluster.

The head of some partitions' log is deleted. A campaign there can't be rated again from the log. So all that belongs to
these *short* partitions lies on the last node, which is never set back, and none of it is evicted or retracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from aiokafka.partitioner import murmur2
from redis.crc import key_slot

from streams.wire import topics
from tests.soak.redis_nodes import SLOTS

SHORT_SHARE = 3  # one of so many partitions is short


@dataclass(frozen=True)
class Place:
    """A campaign, its partition, and whether the head of that partition may be deleted."""

    campaign: str
    partition: int
    is_short: bool


@dataclass(frozen=True)
class Places:
    """The namespace, the short partitions, and all campaigns."""

    namespace: str
    partitions: int
    short: tuple[int, ...]
    campaigns: tuple[Place, ...]

    @classmethod
    def choose(cls, *, campaigns: int, partitions: int, nodes: int) -> Places:
        """Choose a namespace and names so that everything lies where it should."""
        wanted = max(partitions // SHORT_SHARE, 1)
        for number in count(1):
            namespace = f"soak-{number}"
            heads = [f"{topics.JUDGMENTS.within(namespace)}/{partition}" for partition in range(partitions)]
            last = [number for number, head in enumerate(heads) if node_of(head, nodes) == nodes - 1]
            if len(last) >= wanted:
                short = tuple(last[-wanted:])
                break
        chosen = tuple(_place(number, partitions, short, nodes) for number in range(campaigns))
        return cls(namespace, partitions, short, chosen)

    @property
    def long(self) -> list[Place]:
        """The campaigns whose whole log is kept."""
        return [place for place in self.campaigns if not place.is_short]


def node_of(tag: str, nodes: int) -> int:
    """Return the number of the node that holds the keys with a hash tag.

    >>> [node_of(f"campaign-{number}", 3) for number in range(4)]
    [0, 0, 2, 1]
    """
    return int(key_slot(tag.encode())) * nodes // SLOTS


def _place(number: int, partitions: int, short: tuple[int, ...], nodes: int) -> Place:
    for attempt in count():
        name = f"campaign-{number}" + (f".{attempt}" if attempt else "")
        partition = (murmur2(name.encode()) & 0x7FFFFFFF) % partitions
        if partition not in short or node_of(name, nodes) == nodes - 1:
            return Place(name, partition, partition in short)
    raise AssertionError
