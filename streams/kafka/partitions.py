"""A partition of a topic, and which partition the records of a campaign go to."""

from __future__ import annotations

from typing import NamedTuple

from aiokafka.partitioner import DefaultPartitioner

_partitioner = DefaultPartitioner()


class Partition(NamedTuple):
    """One partition of a topic.

    >>> str(Partition("judgments.v1", 3))
    'judgments.v1/3'
    """

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.number}"


def partition_of(campaign: str, partitions: int) -> int:
    """Return the number of the partition to which every producer sends a campaign's records, by their key.

    >>> partition_of("wmt13.fr-en", 12)
    9
    """
    number: int = _partitioner(campaign.encode(), list(range(partitions)), None)
    return number
