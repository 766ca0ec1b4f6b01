"""Columns of a batch: admitted judgments on their way into arrays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from streams.core.models import JudgmentBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.wire.events import Judgment

    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """Admitted judgments: what the model rates, and what the counts need besides."""

    batch: JudgmentBatch
    offsets: Ints
    durations: Ints  # in milliseconds, -1 where none was given
    keys: Ints  # checksums of the ids
    categories: Ints | None = None  # one row per judgment; None: no judgment has a tag that counts


@dataclass
class Columns:
    """The columns of a batch as lists."""

    offsets: list[int] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    systems: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    judges: list[int] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    categories: list[tuple[int, ...]] = field(default_factory=list)
    by_judge: Counter[int] = field(default_factory=Counter)  # number of judgments

    def append(
        self,
        offset: int,
        judgment: Judgment,
        *,
        systems: list[int],
        judge: int,
        segment: int,
        categories: tuple[int, ...] = (),
    ) -> None:
        """Add a judgment, with the indices of its names."""
        self.offsets.append(offset)
        self.keys.append(crc32(judgment.id.encode()))
        self.systems += systems
        self.ranks += judgment.ranks or (1,)
        self.starts.append(len(self.systems))
        self.judges.append(judge)
        self.by_judge[judge] += 1
        self.segments.append(segment)
        self.scores.append(nan if judgment.score is None else judgment.score)
        self.categories.append(categories)
        self.durations.append(-1 if judgment.duration_ms is None else judgment.duration_ms)

    def admitted(self) -> Admitted:
        """Return the columns as arrays."""
        batch = JudgmentBatch(
            systems=_ints(self.systems),
            ranks=_ints(self.ranks),
            starts=_ints(self.starts),
            judges=_ints(self.judges),
            segments=_ints(self.segments),
            scores=np.array(self.scores, np.float64),
        )
        return Admitted(
            batch=batch,
            offsets=_ints(self.offsets),
            durations=_ints(self.durations),
            keys=_ints(self.keys),
            categories=category_columns(self.categories),
        )

    def drain(self) -> Admitted:
        """Return the columns as arrays, and begin with empty ones."""
        admitted = self.admitted()
        self.__dict__.update(vars(Columns()))
        return admitted


def category_columns(numbers: Sequence[tuple[int, ...]]) -> Ints | None:
    """Return the categories of judgments as an array, or None if the campaign has none."""
    return np.array(numbers, np.int64) if numbers and numbers[0] else None


def _ints(values: list[int]) -> Ints:
    return np.array(values, np.int64)
