"""What the log in Kafka holds already, so that a replay sends each judgment once."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.kafka.admin import count_log_partitions
from streams.kafka.partitions import partition_of
from streams.kafka.reading import read_topic
from streams.wire.topics import JUDGMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.settings import Settings
    from streams.wire.events import Judgment

DIGEST_BYTES = 16
PROGRESS_RECORDS = 1000


class _LoggedEvent(msgspec.Struct):
    """The fields that identify a judgment of the log. A command has no systems."""

    id: str
    campaign: str
    systems: msgspec.Raw = msgspec.Raw()


_decoder = msgspec.json.Decoder(_LoggedEvent)


class PublishedLog:
    """The campaigns of the log, the end of each partition, and how often the log holds each judgment.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> two = msgspec.structs.replace(one, id="2")
    >>> published = PublishedLog([digest("c", "1")], homes={"c": 0}, ends=[1])
    >>> [judgment.id for judgment in published.missing([one, two, one])]
    ['2', '1']
    """

    def __init__(self, digests: Sequence[bytes], *, homes: dict[str, int], ends: list[int]) -> None:
        self.campaigns = set(homes)
        self.ends = ends
        self._homes = homes
        # A log may be long: 24 bytes per judgment stay in memory.
        self._known, self._left = np.unique(np.frombuffer(b"".join(digests), f"S{DIGEST_BYTES}"), return_counts=True)

    def partition(self, campaign: str) -> int:
        """Return the number of a campaign's partition."""
        if campaign not in self._homes:
            self._homes[campaign] = partition_of(campaign, len(self.ends))
        return self._homes[campaign]

    def missing(self, judgments: Sequence[Judgment]) -> Sequence[Judgment]:
        """Return the judgments that are not in the log. One that is there once is left out once."""
        if not len(self._known):
            return judgments
        wanted = np.array([digest(judgment.campaign, judgment.id) for judgment in judgments], f"S{DIGEST_BYTES}")
        places = np.minimum(np.searchsorted(self._known, wanted), len(self._known) - 1)
        there = set()
        for k in np.flatnonzero(self._known[places] == wanted).tolist():
            if self._left[places[k]]:
                self._left[places[k]] -= 1
                there.add(k)
        return [judgment for k, judgment in enumerate(judgments) if k not in there] if there else judgments


def digest(campaign: str, judgment_id: str) -> bytes:
    """Return the hash of a judgment's campaign and id."""
    return blake2b(f"{campaign}\0{judgment_id}".encode(), digest_size=DIGEST_BYTES).digest()


def read_published(settings: Settings, *, progress: Callable[[int], None]) -> PublishedLog:
    """Read the whole log. A record counts on any partition, because workers forward it, and its copy does not."""
    ends = [0] * count_log_partitions(settings)
    homes: dict[str, int] = {}
    digests: list[bytes] = []
    with read_topic(settings, JUDGMENTS) as records:
        for number, record in enumerate(records, start=1):
            ends[record.partition] = record.offset + 1
            if number % PROGRESS_RECORDS == 0:
                progress(number)
            try:
                event = _decoder.decode(record.value)
            except ValueError:
                continue
            if record.is_forwarded:
                homes[event.campaign] = record.partition
                continue
            # Without a copy nobody knows the home of a campaign that is on several partitions. Each will do.
            homes.setdefault(event.campaign, record.partition)
            if bytes(event.systems):
                digests.append(digest(event.campaign, event.id))
    return PublishedLog(digests, homes=homes, ends=ends)
