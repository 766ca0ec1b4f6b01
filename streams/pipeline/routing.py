"""Where the events of a batch go: to the campaigns of this partition, or on to the partition of their campaign.

A campaign lives on the partition where it first appeared. A record that a producer sent to another one is copied into
the campaign's log, under the right key. The copy has a header, so that no record is forwarded twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

from streams.errors import ForeignCampaign, RecordError
from streams.pipeline.decoding import FEWEST_SCANNED
from streams.pipeline.originals import without_judge
from streams.wire import topics
from streams.wire.outputs import FORWARDED_FROM, Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streams.core.campaign.campaign import Event
    from streams.pipeline.partition_campaigns import PartitionCampaigns
    from streams.pipeline.record import Record
    from streams.wire.events import Judgment
    from streams.wire.scanner import JudgmentColumns


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

    mine: dict[str, tuple[Sequence[int], Sequence[Event]]] = field(default_factory=dict)
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

    def route(
        self,
        events: Iterable[tuple[int, Event]],
        records: Mapping[int, Record],
        *,
        scanned: JudgmentColumns | None = None,
    ) -> RoutedBatch:
        """Return where each event goes. `scanned` are judgments of the same records that are not among the events."""
        columns: dict[str, tuple[Sequence[int], JudgmentColumns]] = {}
        homes: dict[str, str] = {}  # of the campaigns of other partitions
        if scanned is not None:
            columns, decoded = self._split(scanned, list(records), homes)
            if decoded:
                events = sorted((*events, *decoded), key=itemgetter(0))
        routed = self._route_each(events, records, homes)
        for name, (offsets, judgments) in columns.items():
            others = routed.mine.get(name)
            if others is None:
                routed.mine[name] = offsets, judgments
            else:
                found = sorted((*zip(*others, strict=True), *zip(offsets, judgments, strict=True)), key=itemgetter(0))
                routed.mine[name] = [offset for offset, _ in found], [event for _, event in found]
        return routed

    def _split(
        self, scanned: JudgmentColumns, offsets: Sequence[int], homes: dict[str, str]
    ) -> tuple[dict[str, tuple[Sequence[int], JudgmentColumns]], list[tuple[int, Judgment]]]:
        """Return the judgments by campaign, and decoded those of campaigns that are new, elsewhere, or have few."""
        columns: dict[str, tuple[Sequence[int], JudgmentColumns]] = {}
        decoded: list[tuple[int, Judgment]] = []
        for name, _, part in scanned.split_by_campaign():
            own = offsets if len(part) == len(offsets) else [offsets[line] for line in part.lines.tolist()]
            try:
                self._campaigns.load(name)
            except ForeignCampaign as error:
                homes[name] = error.home
            if len(part) < FEWEST_SCANNED or name in homes or name in self._campaigns.unopened:
                decoded += zip(own, part, strict=True)
            else:
                columns[name] = own, part
        return columns, decoded

    def _route_each(
        self, events: Iterable[tuple[int, Event]], records: Mapping[int, Record], homes: dict[str, str]
    ) -> RoutedBatch:
        routed = RoutedBatch()
        mine: dict[str, tuple[list[int], list[Event]]] = {}
        for offset, event in events:
            name = event.campaign
            batch = mine.get(name)
            try:
                if batch is None and name not in homes:
                    self._campaigns.load(name)
                    batch = mine[name] = ([], [])
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
        routed.mine.update(mine)
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
