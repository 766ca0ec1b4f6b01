"""The votes of a campaign's judges, counted in arrays while a log is rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.campaign.names import distinct_indices
from streams.core.judges import Votes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.columns import Admitted
    from streams.core.models.base import Ints

COMPACT_AFTER = 500_000  # cells that may wait to be summed
# A cell as one number: judge, first, second, outcome, size.
_SYSTEM_BITS, _OUTCOME_BITS, _SIZE_BITS = 12, 2, 8


class VoteArrays:
    """How often each judge gave each outcome to each two systems, in the order shown.

    The memory grows with the number of different cells, and by 16 bytes per judgment with a duration.
    """

    def __init__(self) -> None:
        self._keys: list[Ints] = []
        self._counts: list[Ints] = []
        self._compacted = 0  # cells after they were last summed
        self._judges: list[Ints] = []  # of rankings with a duration
        self._durations: list[Ints] = []
        self._judgments: Ints = np.zeros(0, np.int64)

    def add(self, admitted: Admitted) -> None:
        """Count the rankings of a batch."""
        batch, sizes = admitted.batch, np.diff(admitted.batch.starts)
        ranked = sizes > 1
        counted = np.bincount(batch.judges[ranked], minlength=len(self._judgments))
        counted[: len(self._judgments)] += self._judgments
        self._judgments = counted
        timed = ranked & (admitted.durations >= 0)
        self._judges.append(batch.judges[timed])
        self._durations.append(admitted.durations[timed])
        for size in distinct_indices(sizes[ranked]):
            mine = np.flatnonzero(sizes == size)
            places = batch.starts[mine][:, None] + np.arange(size)
            systems, ranks = batch.systems[places], batch.ranks[places]
            a, b = np.triu_indices(size, 1)
            outcome = np.sign(ranks[:, b] - ranks[:, a])
            keys = _pack(batch.judges[mine][:, None], systems[:, a], systems[:, b], outcome, size)
            found, counts = np.unique(keys, return_counts=True)
            self._keys.append(found)
            self._counts.append(counts)
        if sum(map(len, self._keys)) > COMPACT_AFTER + 2 * self._compacted:
            self._compact()

    def votes(self, systems: Sequence[str], judges: Sequence[str]) -> Votes:
        """Return the votes, with systems and judges sorted by name. These are the names in the order of the indices."""
        self._compact()
        judge, first, second, outcome, size = _unpack(self._keys[0])
        judged, timed = np.zeros((2, len(judges)), np.int64)
        judged[: len(self._judgments)] = self._judgments
        active = np.flatnonzero(judged)  # who made no ranking is no judge here
        met = np.unique(np.concatenate([first, second]))
        judge_names, judge_place = _sorted(judges, active)
        system_names, system_place = _sorted(systems, met)
        seconds = np.full(len(judges), np.nan)
        by, durations = (np.concatenate([np.zeros(0, np.int64), *part]) for part in (self._judges, self._durations))
        order = np.argsort(by, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(by[order])) + 1):
            if len(part):
                timed[by[part[0]]], seconds[by[part[0]]] = len(part), np.median(durations[part]) / 1000.0
        columns = judge_place[judge], system_place[first], system_place[second], outcome, size
        rows = np.lexsort(columns[::-1])
        chosen = active[np.argsort(judge_place[active])]
        return Votes(
            systems=system_names,
            judges=judge_names,
            judgments=judged[chosen],
            judge=columns[0][rows],
            first=columns[1][rows],
            second=columns[2][rows],
            outcome=outcome[rows],
            size=size[rows],
            count=self._counts[0][rows],
            timed=timed[chosen],
            seconds=seconds[chosen],
        )

    def _compact(self) -> None:
        """Add up the counts of equal cells."""
        keys, counts = (np.concatenate([np.zeros(0, np.int64), *part]) for part in (self._keys, self._counts))
        found, places = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(found), np.int64)
        np.add.at(sums, places, counts)
        self._keys, self._counts, self._compacted = [found], [sums], len(found)


def _pack(judge: Ints, first: Ints, second: Ints, outcome: Ints, size: int) -> Ints:
    key = (judge << _SYSTEM_BITS) + first
    key = (key << _SYSTEM_BITS) + second
    key = (key << _OUTCOME_BITS) + (outcome + 1)
    packed: Ints = ((key << _SIZE_BITS) + size).ravel()
    return packed


def _unpack(keys: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    size, rest = keys & ((1 << _SIZE_BITS) - 1), keys >> _SIZE_BITS
    outcome, rest = (rest & ((1 << _OUTCOME_BITS) - 1)) - 1, rest >> _OUTCOME_BITS
    second, rest = rest & ((1 << _SYSTEM_BITS) - 1), rest >> _SYSTEM_BITS
    return rest >> _SYSTEM_BITS, rest & ((1 << _SYSTEM_BITS) - 1), second, outcome, size


def _sorted(names: Sequence[str], chosen: Ints) -> tuple[tuple[str, ...], Ints]:
    """Return the chosen names in order, and the place of each index there."""
    order = sorted(chosen.tolist(), key=names.__getitem__)
    place = np.zeros(len(names), np.int64)
    place[order] = np.arange(len(order))
    return tuple(names[i] for i in order), place
