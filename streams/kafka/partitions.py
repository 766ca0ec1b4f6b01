"""A partition of a topic, and which partition the records of a campaign go to."""

from __future__ import annotations

from aiokafka import TopicPartition
from aiokafka.partitioner import DefaultPartitioner

_partitioner = DefaultPartitioner()


class Partition(TopicPartition):  # type: ignore[misc]  # aiokafka has no types
    """One partition of a topic. aiokafka accepts it as it is.

    >>> str(Partition("judgments.v1", 3))
    'judgments.v1/3'
    """

    __slots__ = ()

    @property
    def number(self) -> int:
        """The number of the partition in its topic."""
        number: int = self.partition
        return number

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}"


def partition_of(campaign: str, partitions: int) -> int:
    """Return the number of the partition to which every producer sends a campaign's records, by their key.

    >>> partition_of("wmt13.fr-en", 12)
    9
    """
    number: int = _partitioner(campaign.encode(), list(range(partitions)), None)
    return number
