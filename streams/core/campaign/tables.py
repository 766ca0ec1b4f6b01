"""The tables of a campaign: systems, judges, segments and pairs, in arrays that grow with their numbers."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.core import kernels
from streams.core.campaign import categories, table_rows
from streams.core.campaign.gold import GoldTally
from streams.core.campaign.group_counts import MAX_GROUP_CELLS, GroupCounts
from streams.core.campaign.names import NameIndex, SegmentIndex, distinct_indices, grow_array
from streams.core.campaign.pace import Paces
from streams.core.campaign.segment_pages import PAGE, encode_names, encode_pages, page_of
from streams.core.campaign.state import encode_row
from streams.core.campaign.table_counts import count_judgments
from streams.core.ranking.counts import PairCounts
from streams.core.ranking.grouped_counts import group_of, groups_of
from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from streams.core.campaign.group_counts import CountsCopy
    from streams.core.campaign.recent_votes import Vote
    from streams.core.campaign.state import SystemRow, Tables
    from streams.core.models import JudgmentBatch, Model
    from streams.core.models.base import Cell
    from streams.core.ranking.grouped_counts import GroupedCounts

    Ints = NDArray[np.int64]


class CampaignTables:
    """Who took part, and the outcomes of each pair of systems. The state of the model is not part of them."""

    def __init__(
        self,
        *,
        max_judges: int | None = None,
        max_segments: int | None = None,
        max_group_cells: int = MAX_GROUP_CELLS,
        group_names: Mapping[str, str] | None = None,
    ) -> None:
        self.systems, self.judges, self.segments = NameIndex(), NameIndex(max_judges), SegmentIndex(max_segments)
        self.system_judgments: Ints = np.zeros(16, np.int64)
        self.system_offset: Ints = np.full(16, -1, np.int64)
        self.judge_judgments: Ints = np.zeros(16, np.int64)
        self.judge_timed: Ints = np.zeros(16, np.int64)
        self.judge_duration: Ints = np.zeros(16, np.int64)
        self.judge_agreed: Ints = np.zeros(16, np.int64)
        self.judge_compared: Ints = np.zeros(16, np.int64)
        self._judge_groups: Ints = np.zeros(16, np.int64)
        self._grouped_judges = 0
        self._group_names = group_names
        self.segment_judgments: Ints = np.zeros(16, np.int64)
        self.paces = Paces()
        self.gold: dict[int, GoldTally] = {}  # by judge
        self.wins: Ints = np.zeros((4, 4), np.int64)
        self.ties: Ints = np.zeros((4, 4), np.int64)
        self.outcomes: Ints = np.zeros((4, 3), np.int64)  # wins, ties and losses of each system
        self._touched = np.zeros((4, 4), np.bool_)
        self.groups = GroupCounts(max_group_cells)
        self.changed_systems: set[int] = set()  # since the last call of `drain_changes`
        self._dirty_judges: set[int] = set()
        self._dirty_pages: set[int] = set()  # of segments
        self._stored_segments = 0  # names of segments whose rows were drained
        self._dirty_cells: set[Cell] = set()
        self._removed: dict[str, list[str]] = {}  # rows to remove from the store, by table

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of systems, judges and segments."""
        return len(self.systems.names), len(self.judges.names), len(self.segments.names)

    def grow(self, model: Model) -> None:
        """Make room for all names that were added so far, also in the model."""
        systems, judges, segments = self.sizes
        model.grow(systems, judges, segments)
        model.shared_segment = self.segments.shared
        self.segment_judgments = grow_array(self.segment_judgments, segments)
        if systems > len(self.system_judgments):
            self.system_judgments = grow_array(self.system_judgments, systems)
            self.system_offset = grow_array(self.system_offset, systems, fill=-1)
        if judges > len(self.judge_judgments):
            self.judge_judgments = grow_array(self.judge_judgments, judges)
            self.judge_timed = grow_array(self.judge_timed, judges)
            self.judge_duration = grow_array(self.judge_duration, judges)
            self.judge_agreed = grow_array(self.judge_agreed, judges)
            self.judge_compared = grow_array(self.judge_compared, judges)
            self._judge_groups = grow_array(self._judge_groups, judges)
        for index in range(self._grouped_judges, judges):
            self._judge_groups[index] = self._group_of(self.judges.names[index])
        self._grouped_judges = judges
        self.groups.grow(systems)
        if systems > len(self.wins):
            room = ((0, max(systems, 2 * len(self.wins)) - len(self.wins)),) * 2
            self.wins, self.ties = np.pad(self.wins, room), np.pad(self.ties, room)
            self._touched = np.pad(self._touched, room)
            self.outcomes = np.pad(self.outcomes, (room[0], (0, 0)))

    def enter(self, *, systems: Sequence[str], segments: Sequence[str]) -> None:
        """Add systems and segments that no judgment has named yet."""
        self.changed_systems.update(self.systems.add(name) for name in systems if name not in self.systems.index)
        new = (self.segments.insert(name) for name in segments if name not in self.segments.index)
        self._dirty_pages.update(map(page_of, new))

    def record(self, batch: JudgmentBatch, model: Model, *, offsets: Ints, durations: Ints, keys: Ints) -> None:
        """Count the judgments of a batch. A duration below 0 means that none was given. Keys are checksums of ids."""
        count_judgments(self, batch, offsets=offsets, durations=durations)
        kernels.suited("pairs", batch.pairs).judge_rankings(
            self.wins,
            self.ties,
            self.outcomes,
            self._touched,
            self.judge_agreed,
            self.judge_compared,
            batch.judges,
            batch.systems,
            batch.ranks,
            batch.starts,
        )
        self._count_groups(batch, keys)
        self.changed_systems.update(range(len(self.systems)) if model.moves_all else distinct_indices(batch.systems))
        self._dirty_judges.update(distinct_indices(batch.judges))
        self._dirty_pages.update(distinct_indices(batch.segments // PAGE))
        if model.cell_width:
            segments, judges = (np.repeat(each, batch.sizes) for each in (batch.segments, batch.judges))
            self._dirty_cells.update(zip(batch.systems.tolist(), segments.tolist(), judges.tolist(), strict=True))

    def _count_groups(self, batch: JudgmentBatch, keys: Ints) -> None:
        self.groups.count(batch, groups_of(keys), self.judge_groups(batch.judges), systems=len(self.systems))

    def judge_groups(self, judges: Ints) -> Ints:
        """Return the group of each of these judges, of 32."""
        found: Ints = self._judge_groups[judges]
        return found

    def _group_of(self, judge: str) -> int:
        return group_of(judge if self._group_names is None else self._group_names[judge])

    def count_gold(self, judge: int, *, passed: bool) -> GoldTally:
        """Count an answer of a judge to a gold item. Return the tally of the judge."""
        tally = self.gold[judge] = self.gold.get(judge, GoldTally()).after(passed=passed)
        self._dirty_judges.add(judge)
        return tally

    def take_back(self, vote: Vote) -> None:
        """Subtract a judgment that a newer one replaces. What the majority was when it came stays as it was."""
        systems, ranks = vote.systems, vote.ranks
        self.system_judgments[list(systems)] -= 1
        self.judge_judgments[vote.judge] -= 1
        self.segment_judgments[vote.segment] -= 1
        self.groups.take_back(vote, by_judge=int(self._judge_groups[vote.judge]))
        for (i, x), (j, y) in combinations(zip(systems, ranks, strict=True), 2):
            self._touched[min(i, j), max(i, j)] = True
            self.wins[i, j] -= x < y
            self.wins[j, i] -= x > y
            self.ties[i, j] -= x == y
            self.ties[j, i] -= x == y
            self.outcomes[i] -= (x < y, x == y, x > y)
            self.outcomes[j] -= (x > y, x == y, x < y)
        self.changed_systems.update(systems)
        self._dirty_judges.add(vote.judge)
        self._dirty_pages.add(page_of(vote.segment))

    def rename_judge(self, old: str, new: str, model: Model) -> int | None:
        """Rename the rows and the cells of a judge. Their pace is dropped. Return their index, if they are known."""
        while new != old and new in self.judges.index:  # somebody has sent it as a judge
            new += "-"
        self.paces.pop(old, None)
        index = self.judges.rename(old, new)
        if index is None:
            return None
        self._judge_groups[index] = self._group_of(new)
        cells = model.judge_cells(index)
        self._removed.setdefault("judges", []).append(old)
        self._removed.setdefault("categories", []).append(categories.JUDGE + old)
        self._removed.setdefault("cells", []).extend(self._cell_key(system, on, old) for system, on, _ in cells)
        self._dirty_judges.add(index)
        self._dirty_cells.update(cells)
        return index

    def _cell_key(self, system: int, segment: int, judge: str) -> str:
        return encode((self.systems.names[system], self.segments.names[segment], judge)).decode()

    @property
    def recorded(self) -> int:
        """The number of judgments that were counted."""
        return int(self.judge_judgments.sum())

    @property
    def active_judges(self) -> int:
        """The number of judges whose judgments were counted."""
        return int(np.count_nonzero(self.judge_judgments))

    @property
    def other_judgments(self) -> int:
        """How many judgments are on segments beyond the limit."""
        shared = self.segments.shared
        return 0 if shared is None else int(self.segment_judgments[shared])

    @property
    def met(self) -> Ints:
        """How often each two systems were compared."""
        return self.wins + self.wins.T + self.ties

    def pair_counts(self) -> PairCounts:
        """Return how often each system beat and tied with each other one, with the systems sorted by name."""
        names = self.systems.names
        order = sorted(range(len(names)), key=lambda i: names[i])
        wins, ties = (counts[np.ix_(order, order)] for counts in (self.wins, self.ties))
        return PairCounts(
            systems=tuple(names[i] for i in order), wins=wins, ties=ties, judgments=self.system_judgments[order]
        )

    def grouped_counts(self) -> GroupedCounts:
        """Return the outcomes of each pair in groups, with the systems sorted by name."""
        return self.copy_counts().grouped()

    def copy_counts(self) -> CountsCopy:
        """Return a copy of the outcomes of each pair in groups, as of this moment."""
        return self.groups.copy(
            self.systems.names,
            judgments=self.system_judgments[: len(self.systems)],
            rankings=self.recorded,
            judges=self.active_judges,
        )

    def system_rows(self, model: Model, systems: Sequence[int]) -> tuple[SystemRow, ...]:
        """Return the present rows of some systems."""
        return table_rows.make_system_rows(self, model, systems)

    def drain_changes(self, rows: Sequence[SystemRow], model: Model) -> Tables:
        """Return the encoded rows that changed since the last call. `rows` are those of the systems among them."""
        names = self.systems.names
        touched = np.flatnonzero(self._touched)  # of a thousand systems twenty times as fast as `nonzero`
        pairs = np.stack(np.divmod(touched, len(self._touched)), axis=1)
        tables = {
            "systems": {names[row.index]: encode_row(row) for row in rows},
            "judges": table_rows.encode_judges(self, model, sorted(self._dirty_judges)),
            "segments": encode_names(self.segments.names[self._stored_segments :], self._stored_segments),
            "segment_pages": encode_pages(
                sorted(self._dirty_pages), self.segment_judgments[: len(self.segments)], model
            ),
            "pairs": {
                encode((names[i], names[j])).decode(): row
                for (i, j), row in zip(pairs.tolist(), self.groups.dump_rows(pairs), strict=True)
            },
            "cells": {
                self._cell_key(i, s, self.judges.names[j]): encode(model.dump_cell((i, s, j)))
                for i, s, j in sorted(self._dirty_cells)
            },
        }
        self.forget_changes()
        return tables

    def remove_rows(self, table: str, keys: Sequence[str]) -> None:
        """Remove rows of a table from the store with the next changes."""
        self._removed.setdefault(table, []).extend(keys)

    def drain_removed(self) -> dict[str, list[str]]:
        """Return the rows to remove from the store since the last call, by table."""
        removed, self._removed = self._removed, {}
        return removed

    def forget_changes(self) -> None:
        """Forget which rows changed."""
        self._touched[:] = False
        self.changed_systems.clear()
        self._dirty_judges.clear()
        self._dirty_pages.clear()
        self._stored_segments = len(self.segments)
        self._dirty_cells.clear()

    def restore(self, tables: Mapping[str, Mapping[str, bytes]], model: Model) -> None:
        """Load stored rows, each at the index that it had."""
        table_rows.load_rows(self, tables, model)
        self._stored_segments = len(self.segments)
        self._restore_pairs(tables["pairs"])
        for key, value in tables["cells"].items():
            of, on, by = msgspec.json.decode(key, type=tuple[str, str, str])
            cell = (self.systems.index[of], self.segments.index[on], self.judges.index[by])
            model.load_cell(cell, msgspec.json.decode(value, type=tuple[float, ...]))

    def _restore_pairs(self, table: Mapping[str, bytes]) -> None:
        keys, index = sorted(table), self.systems.index
        names = msgspec.json.decode(f"[{','.join(keys)}]", type=list[tuple[str, str]])
        pairs = np.array([(index[one], index[other]) for one, other in names], np.int64).reshape(-1, 2)
        self.groups.load_rows(pairs, [table[key] for key in keys])
        wins, ties, losses = self.groups.totals(pairs).T
        one, other = pairs.T
        self.wins[one, other], self.wins[other, one] = wins, losses
        self.ties[one, other] = self.ties[other, one] = ties
        self.outcomes[:] = np.stack([self.wins.sum(axis=1), self.ties.sum(axis=1), self.wins.sum(axis=0)], axis=1)
