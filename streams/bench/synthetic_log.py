"""Judgments for benchmarks, as bytes: systems whose quality falls with their number, about a fifth of them ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

CHUNK = 10_000
TIE = 0.25  # a smaller difference is a tie


class SyntheticLog:
    """A log of any length, drawn chunk by chunk. The same arguments give the same log.

    >>> log = SyntheticLog(1, systems=3)
    >>> next(log.values())[0][:43]
    b'{"id":"judgment-0","campaign":"campaign-0",'
    """

    def __init__(
        self,
        count: int,
        *,
        systems: int = 20,
        judges: int = 200,
        segments: int = 3000,
        campaigns: int | Sequence[str] = 1,
        seed: int = 1,
    ) -> None:
        self.count, self.systems, self.judges, self.segments = count, systems, judges, segments
        names = [f"campaign-{number}" for number in range(campaigns)] if isinstance(campaigns, int) else campaigns
        self.campaigns = [name.encode() for name in names]
        self._seed = seed

    def pairs(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield chunks: the number of the first judgment, the two systems, and their two ranks, as rows."""
        random = np.random.default_rng(self._seed)
        for start in range(0, self.count, CHUNK):
            size = min(CHUNK, self.count - start)
            first = random.integers(self.systems, size=size)
            second = (first + random.integers(1, self.systems, size=size)) % self.systems
            gap = (second - first) / self.systems + random.normal(size=size)
            ranks = np.where(np.abs(gap)[:, None] < TIE, 1, np.stack([1 + (gap < 0), 1 + (gap >= 0)], axis=1))
            yield start, np.stack([first, second], axis=1), ranks

    def rows(self) -> Iterator[list[tuple[int, int, int, int, int, int, int]]]:
        """Yield chunks of rows: number, judge, segment, the two systems, their two ranks."""
        random = np.random.default_rng(self._seed + 1)
        for start, systems, ranks in self.pairs():
            size = len(systems)
            columns = (
                np.arange(start, start + size),
                random.integers(self.judges, size=size),
                random.integers(self.segments, size=size),
                *systems.T,
                *ranks.T,
            )
            yield list(zip(*(column.tolist() for column in columns), strict=True))

    def values(self) -> Iterator[list[bytes]]:
        """Yield chunks of JSON judgments. The campaigns take turns."""
        form = (
            b'{"id":"judgment-%d","campaign":"%s","segment":"segment-%d","judge":"judge-%d",'
            b'"systems":["system-%d","system-%d"],"ranks":[%d,%d],"at":"%s"}'
        )
        names = self.campaigns
        for rows in self.rows():
            seconds = np.arange(rows[0][0], rows[-1][0] + 1).astype("datetime64[s]")
            times = np.char.encode(np.datetime_as_string(seconds, timezone="UTC"), "ascii").tolist()
            yield [
                form % (number, names[number % len(names)], segment, judge, a, b, rank_a, rank_b, at)
                for (number, judge, segment, a, b, rank_a, rank_b), at in zip(rows, times, strict=True)
            ]

    def keyed(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the judgments one by one, each with its key."""
        number = 0
        for values in self.values():
            for value in values:
                yield self.campaigns[number % len(self.campaigns)], value
                number += 1

    def csv_lines(self) -> Iterator[list[bytes]]:
        """Yield the header, then chunks of lines of an arena: model_a, model_b, winner, judge, question_id."""
        winners = {(1, 1): b"tie", (1, 2): b"model_a", (2, 1): b"model_b"}
        yield [b"model_a,model_b,winner,judge,question_id"]
        for rows in self.rows():
            yield [
                b"system-%d,system-%d,%s,judge-%d,segment-%d" % (a, b, winners[rank_a, rank_b], judge, segment)
                for _, judge, segment, a, b, rank_a, rank_b in rows
            ]
