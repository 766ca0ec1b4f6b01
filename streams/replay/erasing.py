"""What a copy of a log replaces: the ids of judges by pseudonyms, and forgotten judges by names that say nothing.

A worker that reads the copy ends with the same ratings as one that reads the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from streams.core.campaign.commands import rename_judges
from streams.core.campaign.pseudonyms import MARK, Pseudonyms, forgotten_name, is_wire_pseudonym
from streams.core.campaign.retractions import RerunCommand
from streams.errors import RecordError
from streams.wire.decoding import decode
from streams.wire.events import ForgetJudge, Judgment, Retract, encode
from streams.wire.times import check_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.pipeline.record import Record
    from streams.wire.events import Command

    IsHome = Callable[[str], bool]  # whether a partition is that of a campaign


NOTHING = b"{}"  # it is rejected, and is no sign of a foreign topic, as a record without a value would be


_LEARNED = (b'"forget"', b'"retract"', b'"suspend"', b'"reinstate"')


class _NewName(NamedTuple):
    until: float  # the offset of the last record in which it stands for the judge
    name: str


@dataclass
class ErasedCounts:
    """What was replaced so far."""

    ids: int = 0  # of judges, by pseudonyms
    forgotten: int = 0  # records of forgotten judges
    emptied: int = 0  # records that are no events, or are not on the partition of their campaign


def _everywhere(_: str) -> bool:
    return True


class Erasure:
    """Replaces judges in the records of a log. First it has to `learn` all of them."""

    def __init__(self, key: str, *, max_bytes: int) -> None:
        self.counts = ErasedCounts()
        self._pseudonyms = Pseudonyms(key.encode())
        self._max_bytes = max_bytes
        self._names: dict[tuple[str, str], list[_NewName]] = {}  # by campaign and pseudonym
        self._seen: set[tuple[str, str]] = set()

    def learn(self, record: Record, *, is_home: IsHome = _everywhere) -> None:
        """Take note of a record that forgets, retracts, suspends or reinstates judges."""
        value = record.value or b""
        if not (b"\\" in value or any(action in value for action in _LEARNED)):
            return
        event = self._decode(record)
        if not isinstance(event, ForgetJudge | RerunCommand) or not is_home(event.campaign):
            return
        for given in _judges(event):
            self._learn(event, (event.campaign, self._pseudonyms[given]), record.offset)

    def _learn(self, event: ForgetJudge | RerunCommand, judge: tuple[str, str], offset: int) -> None:
        names = self._names.get(judge, [])
        if isinstance(event, RerunCommand):
            # It concerns all judgments of the judge, also those from before they were forgotten. So all of them have
            # one name from the first to the last.
            self._names[judge] = [_NewName(inf, names[0].name)] if names else []
        elif (event.campaign, event.id) not in self._seen and not (names and names[-1].until == inf):
            self._seen.add((event.campaign, event.id))
            name = forgotten_name(event.campaign, event.id, judge[1])
            self._names[judge] = [*names, _NewName(offset, name)]

    def copy(self, record: Record, *, is_home: IsHome = _everywhere) -> tuple[bytes | None, bytes]:
        """Return key and value of a record in the copy. One that changes nothing has no content.

        That is a record that is no event, and one that is not on the partition of its campaign: it was forwarded.
        """
        event = self._decode(record)
        if event is None or not is_home(event.campaign):
            self.counts.emptied += 1
            return None, NOTHING
        key = event.campaign.encode()
        if isinstance(event, Judgment):
            return key, encode(replace(event, judge=self._copy_judge(event.campaign, event.judge, record.offset)))
        return key, encode(rename_judges(event, lambda judge: self._copy_judge(event.campaign, judge, record.offset)))

    def _copy_judge(self, campaign: str, given: str, offset: int) -> str:
        """Return a judge as the copy of a record names them."""
        self.counts.ids += not is_wire_pseudonym(given)
        pseudonym = self._pseudonyms[given]
        for new in self._names.get((campaign, pseudonym), ()):
            if offset <= new.until:
                self.counts.forgotten += 1
                return MARK + new.name
        return MARK + pseudonym

    def _decode(self, record: Record) -> Judgment | Command | None:
        """Return the event that a worker would apply, or None."""
        try:
            event = decode(record.value, max_bytes=self._max_bytes)
            check_time(event, record.written_at)
        except RecordError:
            return None
        return event


def _judges(command: ForgetJudge | RerunCommand) -> tuple[str, ...]:
    if isinstance(command, ForgetJudge):
        return (command.judge,)
    if isinstance(command, Retract):
        return tuple(judge for judge in (command.judge, *command.taken_back) if judge)
    return command.judges
