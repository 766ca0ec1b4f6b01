"""Blocks of JSON Lines as columns: rankings that are rated without an object each, and made into one if asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, overload
from zlib import crc32

import msgspec
import numpy as np

from streams.errors import RecordError
from streams.wire.decoding import check_campaign
from streams.wire.events import EPOCH, Judgment
from streams.wire.scanner import kernels
from streams.wire.scanner.lines import NO_ROOM, PADDING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_CAMPAIGN, _SEGMENT, _JUDGE, _AT, _DURATION, _ID, _ID_END, _HASH, _REQUEST = range(9)
_ROWS = 9
_SHORTEST = 60  # bytes of a line that is a judgment
_decoder = msgspec.json.Decoder(Judgment)


@dataclass(frozen=True, kw_only=True)
class Scanned(Sequence[Judgment]):
    """Rankings in columns, in the order of their lines; names are numbers, which `names` tells.

    >>> from streams.wire.events import encode
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> scanned = Scanner().scan(encode(verdict) + bytes([10]), lines=1)
    >>> [scanned.names[number] for number in scanned.systems], scanned[0].judge
    (['a', 'b'], 'j')
    """

    data: bytes
    names: Sequence[str]
    rows: Ints
    starts: Ints
    systems: Ints
    ranks: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, place: int) -> Judgment: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Judgment]: ...
    def __getitem__(self, place: int | slice) -> Judgment | Sequence[Judgment]:
        return self._judgments[place]

    def __iter__(self) -> Iterator[Judgment]:
        return iter(self._judgments)

    @cached_property
    def _judgments(self) -> list[Judgment]:
        """Decode the lines after all; those of other campaigns stand among them."""
        every = _decoder.decode_lines(self.data)
        if len(every) == len(self):
            return every
        begins = [0, *np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n")) + 1]
        lines = np.searchsorted(begins, self.rows[_ID], side="right") - 1
        return [every[line] for line in lines.tolist()]

    def _row(self, number: int) -> Ints:
        row: Ints = self.rows[number]
        return row

    @property
    def segments(self) -> Ints:
        """Give the number of each one's segment."""
        return self._row(_SEGMENT)

    @property
    def judges(self) -> Ints:
        """Give the number of each one's judge."""
        return self._row(_JUDGE)

    @property
    def durations(self) -> Ints:
        """Give the milliseconds of each one, -1 where it does not say."""
        return self._row(_DURATION)

    @property
    def hashes(self) -> Ints:
        """Give a hash of each one's id."""
        return self._row(_HASH)

    @property
    def latest(self) -> datetime:
        """Give the latest time that one of them names."""
        return EPOCH + timedelta(microseconds=int(self.rows[_AT].max()))

    @property
    def answers(self) -> bool:
        """Say whether one of them names a request."""
        return bool(self.rows[_REQUEST].any())

    def ids(self) -> list[str]:
        """Give their ids."""
        return [each.decode() for each in self._encoded_ids()]

    def keys(self) -> Ints:
        """Give the checksums of their ids."""
        return np.array([crc32(each) for each in self._encoded_ids()], np.int64)

    def _encoded_ids(self) -> list[bytes]:
        spans = zip(self._row(_ID).tolist(), self._row(_ID_END).tolist(), strict=True)
        return [self.data[begin:end] for begin, end in spans]

    def by_campaign(self) -> Iterator[tuple[str, Ints, Scanned]]:
        """Take them apart: each campaign's name, the places of its judgments, and these; most blocks are of one."""
        campaigns = self.rows[_CAMPAIGN]
        if (campaigns == campaigns[0]).all():
            yield self.names[campaigns[0]], np.arange(len(self)), self
            return
        for number in dict.fromkeys(campaigns.tolist()):
            places = np.flatnonzero(campaigns == number)
            yield self.names[number], places, self._only(places)

    def _only(self, places: Ints) -> Scanned:
        sizes = np.diff(self.starts)
        kept = np.zeros(len(self), np.bool_)
        kept[places] = True
        members = np.repeat(kept, sizes)
        return replace(
            self,
            rows=np.ascontiguousarray(self.rows[:, places]),
            starts=np.append(0, np.cumsum(sizes[places])),
            systems=self.systems[members],
            ranks=self.ranks[members],
        )


class Scanner:
    """Scans the blocks of one log; a name has the same number in all of them."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._sound: set[int] = set()  # campaigns whose names were checked
        self._slots = np.full(2**13, -1, np.int32)
        self._hashes = np.zeros(2**12, np.int64)
        self._ends = np.zeros(2**12 + 1, np.int64)
        self._words = np.zeros(2**14, np.int64)
        self._used = np.zeros(1, np.int64)
        self._quotes = np.zeros(0, np.int64)

    def scan(self, block: bytes, lines: int) -> Scanned | None:
        """Scan so many whole lines; None if one of them needs a closer look."""
        if not block.isascii():
            try:
                block.decode()
            except UnicodeDecodeError:
                return None
        size = len(block)
        if size < _SHORTEST * lines:
            return None  # some are empty, and are not to take part
        if size + 2 > len(self._quotes):
            self._quotes = np.empty(size + 2, np.int64)
        rows, starts = np.empty((_ROWS, lines), np.int64), np.empty(lines + 1, np.int64)
        systems, ranks = np.empty((2, size // 4), np.int64)
        data = np.frombuffer(block + bytes(PADDING), np.uint8)
        while True:
            found = kernels.compiled("lines").scan_lines(
                data,
                size,
                self._quotes,
                self._slots,
                self._hashes,
                self._ends,
                self._words,
                self._used,
                rows,
                starts,
                systems,
                ranks,
            )
            if found != NO_ROOM:
                break
            self._grow()
        self._learn()
        if found != lines or not self._are_sound(rows[_CAMPAIGN]):
            return None
        members = int(starts[-1])
        return Scanned(
            data=block,
            names=self.names,
            rows=rows,
            starts=starts,
            systems=systems[:members].copy(),
            ranks=ranks[:members].copy(),
        )

    def _grow(self) -> None:
        """Make room for twice as many names."""
        count = int(self._used[0])
        self._slots = np.full(2 * len(self._slots), -1, np.int32)
        self._hashes, self._ends, self._words = (
            np.append(array, np.zeros_like(array[: len(array) - odd]))
            for array, odd in ((self._hashes, 0), (self._ends, 1), (self._words, 0))
        )
        kernels.compiled("hashes").number_names(self._slots, self._hashes, count)

    def _learn(self) -> None:
        """Read the names that are new."""
        ends = self._ends[len(self.names) : int(self._used[0]) + 1].tolist()
        letters = self._words[ends[0] : ends[-1]].astype("<i8").tobytes()
        self.names.extend(
            letters[8 * (begin - ends[0]) : 8 * (end - ends[0])].rstrip(b"\0").decode() for begin, end in pairwise(ends)
        )

    def _are_sound(self, campaigns: Ints) -> bool:
        new = set(campaigns.tolist()) - self._sound
        try:
            for number in new:
                check_campaign(self.names[number])
        except RecordError:
            return False
        self._sound |= new
        return True
