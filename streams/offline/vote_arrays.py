"""The votes of a campaign's judges, counted in arrays while a log is rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.compiler import is_loaded
from streams.core import kernels
from streams.core.judges import Votes
from streams.core.judges.prediction import median
from streams.core.kernels.votes import DIGIT_BITS, OUTCOME_BITS, SIZE_BITS, SYSTEM_BITS
from streams.wire.limits import MAX_RANKED
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.columns import Admitted
    from streams.core.models.base import Ints

_ROOM = 1 << (MAX_RANKED * MAX_RANKED).bit_length()  # slots, for the pairs of one ranking
_HASH_SEED = SEED[:2] >> 32  # of 31 bits, so that no product overflows


class VoteArrays:
    """How often each judge gave each outcome to each two systems, in the order shown.

    The memory grows with the number of different cells, and by 16 bytes per judgment with a duration.
    """

    def __init__(self) -> None:
        # The hash table of `count_votes`.
        self._keys: Ints = np.full(2**8, -1, np.int64)
        self._counts: Ints = np.zeros(2**8, np.int64)
        self._used: Ints = np.zeros(1, np.int64)
        self._judges: list[Ints] = []  # of rankings with a duration
        self._durations: list[Ints] = []
        self._judgments: Ints = np.zeros(0, np.int64)

    def add(self, admitted: Admitted) -> None:
        """Count the rankings of a batch."""
        batch = admitted.batch
        judges, ranked = batch.judges, batch.sizes > 1
        counted = np.bincount(judges if ranked.all() else judges[ranked], minlength=len(self._judgments))
        counted[: len(self._judgments)] += self._judgments
        self._judgments = counted
        if admitted.durations.max(initial=-1) >= 0:
            timed = ranked & (admitted.durations >= 0)
            self._judges.append(judges[timed])
            self._durations.append(admitted.durations[timed])
        count_votes, done = kernels.suited("votes", batch.pairs).count_votes, 0
        while done < len(judges):
            arrays = judges, batch.systems, batch.ranks, batch.starts
            done = count_votes(self._keys, self._counts, self._used, _HASH_SEED, *arrays, done)
            if done < len(judges):
                self._grow()

    def _grow(self) -> None:
        """Double the room. Half of the table stays empty, also with the pairs of the largest ranking."""
        found = np.flatnonzero(self._keys >= 0)
        known, counts = self._keys[found], self._counts[found]
        size = max(2 * len(self._keys), _ROOM)
        self._keys, self._counts = np.full(size, -1, np.int64), np.zeros(size, np.int64)
        kernels.suited("votes", len(known)).insert_votes(self._keys, self._counts, _HASH_SEED, known, counts)

    def votes(self, systems: Sequence[str], judges: Sequence[str]) -> Votes:
        """Return the votes, with systems and judges sorted by name. These are the names in the order of the indices."""
        found = np.flatnonzero(self._keys >= 0)
        judge, first, second, outcome, size = _unpack(self._keys[found])
        judged, timed = np.zeros((2, len(judges)), np.int64)
        judged[: len(self._judgments)] = self._judgments
        active = np.flatnonzero(judged)  # who made no ranking is no judge here
        met = np.flatnonzero(np.bincount(first, minlength=len(systems)) + np.bincount(second, minlength=len(systems)))
        judge_names, judge_place = _sorted(judges, active)
        system_names, system_place = _sorted(systems, met)
        seconds = np.full(len(judges), np.nan)
        by, durations = (np.concatenate([np.zeros(0, np.int64), *part]) for part in (self._judges, self._durations))
        order = np.argsort(by, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(by[order])) + 1):
            if len(part):
                timed[by[part[0]]], seconds[by[part[0]]] = (
                    len(part),
                    median(durations[part].astype(np.float64)) / 1000.0,
                )
        keys = _pack(judge_place[judge], system_place[first], system_place[second], outcome, size)
        votes = np.stack([keys, self._counts[found]])
        if is_loaded():  # it takes a fifth of the time
            kernels.compiled("votes").sort_votes(votes, np.empty_like(votes), np.empty(2**DIGIT_BITS, np.int64))
        else:
            votes = votes[:, np.argsort(keys)]
        judge, first, second, outcome, size = _unpack(votes[0])
        chosen = active[np.argsort(judge_place[active])]
        return Votes(
            systems=system_names,
            judges=judge_names,
            judgments=judged[chosen],
            judge=judge,
            first=first,
            second=second,
            outcome=outcome,
            size=size,
            count=votes[1],
            timed=timed[chosen],
            seconds=seconds[chosen],
        )


def _pack(judge: Ints, first: Ints, second: Ints, outcome: Ints, size: Ints) -> Ints:
    """Return votes as numbers that are in the order of their columns."""
    key = (((judge << SYSTEM_BITS) + first) << SYSTEM_BITS) + second
    return (((key << OUTCOME_BITS) + (outcome + 1)) << SIZE_BITS) + size


def _unpack(keys: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    size, rest = keys & ((1 << SIZE_BITS) - 1), keys >> SIZE_BITS
    outcome, rest = (rest & ((1 << OUTCOME_BITS) - 1)) - 1, rest >> OUTCOME_BITS
    second, rest = rest & ((1 << SYSTEM_BITS) - 1), rest >> SYSTEM_BITS
    return rest >> SYSTEM_BITS, rest & ((1 << SYSTEM_BITS) - 1), second, outcome, size


def _sorted(names: Sequence[str], chosen: Ints) -> tuple[tuple[str, ...], Ints]:
    """Return the chosen names in order, and the place of each index there."""
    order = sorted(chosen.tolist(), key=names.__getitem__)
    place = np.zeros(len(names), np.int64)
    place[order] = np.arange(len(order))
    return tuple(names[i] for i in order), place
