"""Scanned judgments: columns of numbers that can be rated without an object per judgment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, overload

import msgspec
import numpy as np

from streams.wire.events import EPOCH, Judgment
from streams.wire.id_text import IdText
from streams.wire.scanner import kernels
from streams.wire.scanner.kernels import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_decoder = msgspec.json.Decoder(Judgment)


@dataclass(frozen=True, kw_only=True)
class JudgmentColumns(Sequence[Judgment]):
    """Rankings as columns, in the order of their lines. A name is a number, which is its place in `names`.

    The systems and ranks of judgment n are those from starts[n] to starts[n + 1]. As a sequence it consists of
    `Judgment`s, which are decoded when the first one is asked for.
    """

    data: bytes
    names: Sequence[str]
    begins: Ints  # of all lines of the data, and its end
    rows: Ints
    starts: Ints
    systems: Ints
    ranks: Ints
    checksums: Ints | None = None  # CRC-32 of each id, if it is known
    id_lines: bytes | None = None  # the ids, each with a line feed after it, if they are known
    write: Callable[[Ints], bytes] | None = None  # returns the lines of these judgments, if the data has only their ids

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, place: int) -> Judgment: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Judgment]: ...
    def __getitem__(self, place: int | slice) -> Judgment | Sequence[Judgment]:
        return self.select(np.arange(len(self))[place]) if isinstance(place, slice) else self._judgments[place]

    def __iter__(self) -> Iterator[Judgment]:
        return iter(self._judgments)

    @cached_property
    def _judgments(self) -> list[Judgment]:
        if self.write is not None:
            return _decoder.decode_lines(self.write(self.lines))
        if len(self) == len(self.begins) - 1:
            return _decoder.decode_lines(self.data)
        begins, ends = self.begins[self.lines].tolist(), self.begins[self.lines + 1].tolist()
        return [_decoder.decode(self.data[begin:end]) for begin, end in zip(begins, ends, strict=True)]

    def _row(self, number: int) -> Ints:
        row: Ints = self.rows[number]
        return row

    @property
    def campaigns(self) -> Ints:
        """The campaign of each judgment."""
        return self._row(lines.CAMPAIGN)

    @property
    def segments(self) -> Ints:
        """The segment of each judgment."""
        return self._row(lines.SEGMENT)

    @property
    def judges(self) -> Ints:
        """The judge of each judgment."""
        return self._row(lines.JUDGE)

    @property
    def times(self) -> Ints:
        """The time of each judgment, in microseconds since 1970."""
        return self._row(lines.TIME)

    @property
    def durations(self) -> Ints:
        """The duration of each judgment in milliseconds, or -1."""
        return self._row(lines.DURATION)

    @property
    def lines(self) -> Ints:
        """The place of each judgment among the lines that were scanned."""
        return self._row(lines.LINE)

    @property
    def id_hashes(self) -> Ints:
        """A hash of the id of each judgment."""
        return self._row(lines.ID_HASH)

    @property
    def latest_time(self) -> datetime:
        """The latest time of a judgment."""
        return EPOCH + timedelta(microseconds=int(self.times.max()))

    def ids(self) -> Sequence[str]:
        """Return the ids."""
        return self.id_text.ids()

    @property
    def id_text(self) -> IdText:
        """The ids as one text. None of them has a character that is escaped."""
        return IdText(self._copied_ids[0] if self.id_lines is None else self.id_lines, len(self))

    def id_checksums(self) -> Ints:
        """Return the CRC-32 of each id."""
        return self._copied_ids[1] if self.checksums is None else self.checksums

    @cached_property
    def _copied_ids(self) -> tuple[bytes, Ints]:
        """The ids, each with a line feed after it, which no id contains, and the CRC-32 of each."""
        begins, ends = self._row(lines.ID_BEGIN), self._row(lines.ID_END)
        texts, checksums = np.empty(int((ends - begins).sum()) + len(self), np.uint8), np.empty(len(self), np.int64)
        data = np.frombuffer(self.data, np.uint8)
        kernels.compiled("ids").copy_ids(data, begins, ends, texts, checksums)
        return texts.tobytes(), checksums

    def answered_requests(self) -> list[str]:
        """Return the ids of the match requests that the judgments answer."""
        begins, ends = self._row(lines.REQUEST_BEGIN), self._row(lines.REQUEST_END)
        answers = np.flatnonzero(ends)
        return [each.decode() for each in self._texts(begins[answers], ends[answers])]

    def _texts(self, begins: Ints, ends: Ints) -> list[bytes]:
        return list(map(self.data.__getitem__, map(slice, begins.tolist(), ends.tolist())))

    def split_by_campaign(self) -> Iterator[tuple[str, Ints, JudgmentColumns]]:
        """Yield each campaign's name, the places of its judgments in these columns, and its own columns."""
        campaigns = self.campaigns
        if (campaigns == campaigns[0]).all():
            yield self.names[campaigns[0]], np.arange(len(self)), self
            return
        order = np.argsort(campaigns, kind="stable")
        ends = np.flatnonzero(np.diff(campaigns[order], append=-1)) + 1
        parts = np.split(order, ends[:-1])
        for places in sorted(parts, key=lambda part: int(part[0])):  # in order of appearance
            yield self.names[campaigns[places[0]]], places, self.select(places)

    def select(self, places: Ints) -> JudgmentColumns:
        """Return the columns of the judgments at these places, which are in order."""
        begins = self.starts[places]
        sizes = self.starts[places + 1] - begins
        starts = np.append(0, np.cumsum(sizes))
        members = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], sizes)
        return replace(
            self,
            rows=np.ascontiguousarray(self.rows[:, places]),
            starts=starts,
            systems=self.systems[members],
            ranks=self.ranks[members],
            checksums=None if self.checksums is None else self.checksums[places],
            id_lines=None,
        )
