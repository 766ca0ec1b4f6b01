"""The votes of judges on arrays: each pair of systems that a judge compared, in the order in which it was shown."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from streams.wire.events import Judgment

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Votes:
    """Judge `judge[k]` compared `first[k]` with `second[k]`, which was shown after it, `count[k]` times.

    The outcome is 1 if the first system was better, 0 for a tie and -1. The pairs of one ranking are not
    independent, so each of its n (n - 1) / 2 pairs has the weight 2 / n. Rows are sorted, and so are judges and
    systems: the order of the log does not matter.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("b", "a", "c"), ranks=(2, 1, 2),
    ...                    at=EPOCH)
    >>> votes = Votes.of([verdict])
    >>> [(votes.systems[a], votes.systems[b], o) for a, b, o in zip(votes.first, votes.second, votes.outcome.tolist())]
    [('a', 'c', 1), ('b', 'a', -1), ('b', 'c', 0)]
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    judgments: Ints  # rankings of each judge
    judge: Ints
    first: Ints
    second: Ints
    outcome: Ints
    size: Ints  # systems in the ranking
    count: Ints
    timed: Ints  # judgments with a duration, of each judge
    seconds: Floats  # median duration of each judge's judgments, NaN where none is known

    @classmethod
    def of(cls, log: Iterable[Judgment]) -> Votes:
        """Return the votes in the rankings of a log. Direct assessments are left out."""
        counter = VoteCounter()
        for judgment in log:
            counter.add(judgment.judge, judgment)
        return counter.votes()

    @cached_property
    def weight(self) -> Floats:
        """The weight of each row: 2 / n for each pair of a ranking of n systems."""
        return self.count * (2.0 / self.size)

    @property
    def matches(self) -> bool:
        """Return whether all rankings are of two systems."""
        return bool((self.size == 2).all())

    @cached_property
    def units(self) -> Floats:
        """The sum of the weights of each judge: n - 1 for a ranking of n systems."""
        return np.bincount(self.judge, self.weight, len(self.judges)).astype(np.float64)


class VoteCounter:
    """Counts the votes of a log, judgment by judgment, in memory that grows with the cells and not with the log."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[tuple[str, str, int, int], int]] = {}
        self._judgments: dict[str, int] = {}
        self._durations: dict[str, array[int]] = {}

    def add(self, judge: str, judgment: Judgment) -> None:
        """Count a ranking of a judge, who is given by pseudonym. A direct assessment is left out."""
        shown, ranks = judgment.systems, judgment.ranks
        if ranks is None or len(shown) < 2:
            return
        self._judgments[judge] = self._judgments.get(judge, 0) + 1
        if judgment.duration_ms is not None:
            self._durations.setdefault(judge, array("q")).append(judgment.duration_ms)
        rows = self._rows.setdefault(judge, {})
        for a in range(len(shown)):
            for b in range(a + 1, len(shown)):
                row = shown[a], shown[b], (ranks[a] < ranks[b]) - (ranks[a] > ranks[b]), len(shown)
                rows[row] = rows.get(row, 0) + 1

    def drop(self, judge: str) -> None:
        """Forget the votes of a judge so far."""
        for table in (self._rows, self._judgments, self._durations):
            table.pop(judge, None)

    def rename(self, judge: str, name: str) -> None:
        """Keep the votes of a judge under another name, which nobody has."""
        for table in (self._rows, self._judgments, self._durations):
            if judge in table:
                table[name] = table.pop(judge)  # type: ignore[assignment]

    def votes(self) -> Votes:
        """Return the votes so far, sorted."""
        judges = sorted(self._rows)
        systems = sorted({name for rows in self._rows.values() for row in rows for name in row[:2]})
        index = {name: i for i, name in enumerate(systems)}
        found = sorted(
            (j, index[a], index[b], outcome, size, count)
            for j, judge in enumerate(judges)
            for (a, b, outcome, size), count in self._rows[judge].items()
        )
        table = np.array(found, np.int64).reshape(len(found), 6)
        durations = [self._durations.get(judge, array("q")) for judge in judges]
        return Votes(
            systems=tuple(systems),
            judges=tuple(judges),
            judgments=np.array([self._judgments[judge] for judge in judges], np.int64),
            judge=table[:, 0],
            first=table[:, 1],
            second=table[:, 2],
            outcome=table[:, 3],
            size=table[:, 4],
            count=table[:, 5],
            timed=np.array([len(each) for each in durations], np.int64),
            seconds=np.array([float(np.median(each)) / 1000.0 if each else np.nan for each in durations], np.float64),
        )
