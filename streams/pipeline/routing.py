"""Where the events of a batch go: to the campaigns of this partition, or on to the partition of their campaign.

A campaign lives on the partition where it first appeared. A record that a producer sent to another one is copied into
the campaign's log, under the right key. The copy has a header, so that no record is forwarded twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streams.errors import ForeignCampaign, RecordError
from streams.pipeline.originals import without_judge
from streams.wire import topics
from streams.wire.outputs import FORWARDED_FROM, Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streams.core.campaign.campaign import Event
    from streams.pipeline.partition_campaigns import PartitionCampaigns
    from streams.pipeline.record import Record


@dataclass
class Copies:
    """The copies that the log holds. If the state is lost, they say where campaigns live and what was forwarded."""

    homes: dict[str, str] = field(default_factory=dict)  # by campaign
    last: dict[tuple[str, str], int] = field(default_factory=dict)  # offset of the last original, by way: from, to

    def add(self, key: bytes, partition: str, *, origin: bytes) -> None:
        """Add a copy on a partition. Its key is the campaign.

        >>> copies = Copies()
        >>> copies.add(b"c", "judgments.v1/0", origin=b"judgments.v1/2/17")
        >>> copies.homes, copies.last
        ({'c': 'judgments.v1/0'}, {('judgments.v1/2', 'judgments.v1/0'): 17})
        """
        source, _, offset = origin.decode(errors="replace").rpartition("/")
        if offset.isdecimal() and source != partition:
            self.homes[key.decode(errors="replace")] = partition
            self.last[source, partition] = max(int(offset), self.last.get((source, partition), -1))


@dataclass
class RoutedBatch:
    """The events of a batch by campaign, with their offsets, and what does not belong to this partition."""

    mine: dict[str, tuple[list[int], list[Event]]] = field(default_factory=dict)
    forwarded: int = 0
    copies: list[Output] = field(default_factory=list)  # of the forwarded records, to be sent
    rejections: dict[int, RecordError] = field(default_factory=dict)


class Router:
    """Routes the events of one partition, whose campaigns are loaded on the way."""

    def __init__(
        self, topic: str, partition: int, campaigns: PartitionCampaigns, *, pseudonyms: Mapping[str, str] | None
    ) -> None:
        self._topic, self._name = topic, f"{topic}/{partition}"
        self._campaigns = campaigns
        self._pseudonyms = pseudonyms
        self.copies = Copies()  # that were in the log when it was read again after a loss

    def route(self, events: Iterable[tuple[int, Event]], records: Mapping[int, Record]) -> RoutedBatch:
        """Return where each event goes."""
        routed = RoutedBatch()
        homes: dict[str, str] = {}  # of the campaigns of other partitions
        for offset, event in events:
            name = event.campaign
            batch = routed.mine.get(name)
            try:
                if batch is None and name not in homes:
                    self._campaigns.load(name)
                    batch = routed.mine[name] = ([], [])
                if batch is not None:
                    self._campaigns.admit(event)
            except ForeignCampaign as error:
                homes[name] = error.home
            except RecordError as error:
                routed.rejections[offset] = error
                continue
            if batch is not None:
                batch[0].append(offset)
                batch[1].append(event)
            elif records[offset].is_forwarded:
                routed.rejections[offset] = self._wrong_partition(name, homes[name])
            else:
                routed.forwarded += 1
                if offset > self.copies.last.get((self._name, homes[name]), -1):
                    routed.copies.append(self._forward(name, homes[name], records[offset]))
        return routed

    def _forward(self, campaign: str, home: str, record: Record) -> Output:
        return Output(
            topics.JUDGMENTS.name,
            campaign.encode(),
            without_judge(record.value, self._pseudonyms).value,
            ((FORWARDED_FROM, f"{self._name}/{record.offset}".encode()),),
            partition=int(home.removeprefix(f"{self._topic}/")),
        )

    def _wrong_partition(self, campaign: str, home: str) -> RecordError:
        message = (
            f"the campaign {campaign!r} lives on {home}, but this record was forwarded to {self._name}: the campaign "
            "was lost and began anew meanwhile. Send it with the campaign as its key. A producer that uses librdkafka "
            "needs partitioner=murmur2_random"
        )
        return RecordError("wrong_partition", message, field="campaign")
