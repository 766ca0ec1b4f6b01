"""The votes of judges on arrays: each pair of systems that a judge compared, in the order in which it was shown."""

from __future__ import annotations

from dataclasses import dataclass
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
        rankings = [judgment for judgment in log if judgment.ranks is not None and len(judgment.systems) > 1]
        systems = sorted({system for judgment in rankings for system in judgment.systems})
        judges = sorted({judgment.judge for judgment in rankings})
        system_index = {name: i for i, name in enumerate(systems)}
        judge_index = {name: i for i, name in enumerate(judges)}
        rows: dict[tuple[int, int, int, int, int], int] = {}
        judgments = np.zeros(len(judges), np.int64)
        durations: list[list[int]] = [[] for _ in judges]
        for judgment in rankings:
            judge = judge_index[judgment.judge]
            judgments[judge] += 1
            if judgment.duration_ms is not None:
                durations[judge].append(judgment.duration_ms)
            shown, ranks = [system_index[name] for name in judgment.systems], judgment.ranks or ()
            for a in range(len(shown)):
                for b in range(a + 1, len(shown)):
                    outcome = (ranks[a] < ranks[b]) - (ranks[a] > ranks[b])
                    row = judge, shown[a], shown[b], outcome, len(shown)
                    rows[row] = rows.get(row, 0) + 1
        ordered = sorted(rows)
        table = np.array(ordered, np.int64).reshape(len(ordered), 5)
        return cls(
            systems=tuple(systems),
            judges=tuple(judges),
            judgments=judgments,
            judge=table[:, 0],
            first=table[:, 1],
            second=table[:, 2],
            outcome=table[:, 3],
            size=table[:, 4],
            count=np.array([rows[row] for row in ordered], np.int64),
            timed=np.array([len(each) for each in durations], np.int64),
            seconds=np.array([float(np.median(each)) / 1000.0 if each else np.nan for each in durations]),
        )

    @property
    def weight(self) -> Floats:
        """Return the weight of each row: 2 / n for each pair of a ranking of n systems."""
        return self.count * (2.0 / self.size)

    @property
    def matches(self) -> bool:
        """Return whether all rankings are of two systems."""
        return bool((self.size == 2).all())

    def units(self) -> Floats:
        """Return the sum of the weights of each judge: n - 1 for a ranking of n systems."""
        return np.bincount(self.judge, self.weight, len(self.judges)).astype(np.float64)
