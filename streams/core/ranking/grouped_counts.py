"""Pair counts in groups: the outcomes of each pair, split by judgment and by judge. The board is computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.core.ranking.ranges import Ints
    from streams.wire.events import Judgment

GROUPS = 32
MIXER = 0x9E3779B97F4A7C15  # spreads the bits of a checksum
WIN, TIE, LOSS = 0, 1, 2  # outcomes of the first system of a pair


@dataclass(frozen=True, kw_only=True)
class GroupedCounts:
    """The outcomes of each pair that met, in groups. They do not depend on the order of the log.

    Systems are in order of name. Pair p is first[p] < second[p], and pairs are in order of these two.
    `by_judgment[p, g]` and `by_judge[p, g]` are the wins of the first system, the ties and the wins of the second one
    in group g. A whole ranking is in one group of each kind. Both kinds have the same sums over the groups.
    """

    systems: tuple[str, ...]
    first: Ints
    second: Ints
    by_judgment: Ints  # (pairs, groups, 3)
    by_judge: Ints  # (pairs, groups, 3)
    judgments: Ints  # rankings with each system
    rankings: int  # in all
    judges: int  # who made them

    @property
    def totals(self) -> Ints:
        """Return the wins, ties and losses of the first system of each pair."""
        found = np.zeros((len(self.first), 3), np.int64)
        counts = np.ascontiguousarray(self.by_judgment, np.int64)
        kernels.suited("settled", counts.size).group_totals(counts, found)
        return found

    @classmethod
    def of(cls, log: Iterable[Judgment], *, groups: int = GROUPS) -> GroupedCounts:
        """Count the rankings of a log, one by one. It is slow; a campaign counts in arrays."""
        cells: dict[tuple[str, str], tuple[Ints, Ints]] = {}
        judgments: dict[str, int] = {}
        judges, rankings = set(), 0
        for judgment in log:
            if judgment.ranks is None:
                continue
            rankings += 1
            judges.add(judgment.judge)
            own, judge = group_of(judgment.id, groups), group_of(judgment.judge, groups)
            ranked = sorted(zip(judgment.systems, judgment.ranks, strict=True))
            for system, _ in ranked:
                judgments[system] = judgments.get(system, 0) + 1
            for i, (a, x) in enumerate(ranked):
                for b, y in ranked[i + 1 :]:
                    empty = np.zeros((groups, 3), np.int64), np.zeros((groups, 3), np.int64)
                    by_judgment, by_judge = cells.setdefault((a, b), empty)
                    outcome = WIN if x < y else LOSS if x > y else TIE
                    by_judgment[own, outcome] += 1
                    by_judge[judge, outcome] += 1
        names = sorted(judgments)
        index = {name: i for i, name in enumerate(names)}
        pairs = sorted(cells)
        shape = (len(pairs), groups, 3)
        return cls(
            systems=tuple(names),
            first=np.array([index[a] for a, _ in pairs], np.int64),
            second=np.array([index[b] for _, b in pairs], np.int64),
            by_judgment=np.array([cells[pair][0] for pair in pairs], np.int64).reshape(shape),
            by_judge=np.array([cells[pair][1] for pair in pairs], np.int64).reshape(shape),
            judgments=np.array([judgments[name] for name in names], np.int64),
            rankings=rankings,
            judges=len(judges),
        )


FEW = 16  # names


def group_of(name: str, groups: int = GROUPS) -> int:
    """Return the group of a judgment's id or of a judge's pseudonym.

    Half as many groups are pairs of neighbours: group_of(name, 16) == group_of(name, 32) // 2.

    >>> group_of("j", 16) == group_of("j", 32) // 2
    True
    """
    mixed: int = (crc32(name.encode()) * MIXER) & 0xFFFFFFFFFFFFFFFF
    return (mixed >> 32) * groups >> 32


def groups_of(checksums: Ints) -> Ints:
    """Return the groups of names whose checksums (crc32) are given.

    >>> groups_of(np.array([crc32(b"j")])).tolist() == [group_of("j")]
    True
    """
    if len(checksums) < FEW:  # one by one takes less time
        mixed_each = ((checksum * MIXER) & 0xFFFFFFFFFFFFFFFF for checksum in checksums.tolist())
        return np.array([(each >> 32) * GROUPS >> 32 for each in mixed_each], np.int64)
    mixed = checksums.astype(np.uint64) * np.uint64(MIXER)
    return ((mixed >> np.uint64(32)) * np.uint64(GROUPS) >> np.uint64(32)).astype(np.int64)
