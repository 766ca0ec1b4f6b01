"""The judgments of a campaign by category: group counts of each value of the tags in its setting `boards`.

A value gets counts of its own when it first appears, until its tag has MAX_VALUES of them. Judgments of later values
are only counted as other ones. All of it depends on the log alone, not on how it was split into batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.core.campaign.group_counts import MAX_GROUP_CELLS, GroupCounts, category_cells
from streams.core.campaign.names import distinct_indices
from streams.core.models import JudgmentBatch
from streams.wire.events import encode
from streams.wire.leaderboard import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from streams.core.campaign.group_counts import CountsCopy
    from streams.core.campaign.recent_votes import Vote

    Ints = NDArray[np.int64]

MAX_VALUES = 50  # of one tag that have counts of their own
WITHOUT, OTHER = -1, -2  # in place of the number of a category
SHARED, VALUE, SYSTEM, JUDGE, PAIR = "shared", "value ", "system ", "judge ", "pair "  # begin the keys of stored rows


class _ValueRow(msgspec.Struct, array_like=True, frozen=True):
    number: int
    rankings: int
    version: int


class CategoryCounts:
    """The group counts of each category, numbered in order of appearance.

    >>> counts = CategoryCounts(["language"])
    >>> counts.number({"language": "de"}), counts.number({"domain": "news"}), counts.names[0].value
    ((0,), (-1,), 'de')
    """

    def __init__(self, tags: Sequence[str], *, max_cells: int = category_cells(MAX_GROUP_CELLS)) -> None:
        self.tags = tuple(tags)
        self.names: list[Category] = []
        self.without = [0] * len(self.tags)  # judgments that do not have the tag
        self.other = [0] * len(self.tags)  # judgments of values that have no counts
        self._max_cells = max_cells
        self._numbers: dict[tuple[str, str], int] = {}  # by tag and value
        self._values = dict.fromkeys(self.tags, 0)  # number of values
        self._groups: list[GroupCounts] = []
        self.rankings: list[int] = []  # of each category
        self.versions: list[int] = []  # number of judgments that were added or taken back
        self._by_system: Ints = np.zeros((4, 4), np.int64)  # judgments, by system and category
        self._by_judge: Ints = np.zeros((4, 4), np.int64)
        self.forget_changes()

    def number(self, tags: Mapping[str, str] | None) -> tuple[int, ...]:
        """Return the number of a judgment's category for each tag. A new value gets the next number, if there is room.

        Without a value it is WITHOUT, and beyond the room it is OTHER.
        """
        if not tags:
            return (WITHOUT,) * len(self.tags)
        return tuple(WITHOUT if (value := tags.get(tag)) is None else self._number(tag, value) for tag in self.tags)

    def _number(self, tag: str, value: str) -> int:
        found = self._numbers.get((tag, value))
        if found is None:
            if self._values[tag] >= MAX_VALUES:
                return OTHER
            found = self._add(tag, value)
        return found

    def _add(self, tag: str, value: str) -> int:
        found = self._numbers[tag, value] = len(self.names)
        self._values[tag] += 1
        self.names.append(Category(tag=tag, value=value))
        self._groups.append(GroupCounts(self._max_cells))
        self.rankings.append(0)
        self.versions.append(0)
        return found

    def count(
        self, batch: JudgmentBatch, numbers: Ints | None, *, by_judgment: Ints, by_judge: Ints, systems: int
    ) -> None:
        """Count the judgments of a batch.

        `numbers` has a row per judgment, with a category for each tag, or is None if no judgment has tags.
        `by_judgment` and `by_judge` are the groups of each judgment, of 32.
        """
        self._is_changed = True
        if numbers is None:
            self.without = [number + len(batch) for number in self.without]
            return
        for place, column in enumerate(numbers.T):
            self.without[place] += int(np.count_nonzero(column == WITHOUT))
            self.other[place] += int(np.count_nonzero(column == OTHER))
            for category in distinct_indices(column[column >= 0]):
                chosen = np.flatnonzero(column == category)
                part = select_judgments(batch, chosen)
                groups = self._groups[category]
                groups.grow(systems)
                groups.count(part, by_judgment[chosen], by_judge[chosen], systems=systems)
                self._touched_pairs.setdefault(category, set()).update(_pairs_of(part))
                self._count(category, part.systems, part.judges, 1)
                self.rankings[category] += len(chosen)
                self.versions[category] += len(chosen)

    def take_back(self, vote: Vote, *, by_judge: int) -> None:
        """Subtract a judgment that was counted. `by_judge` is the group of its judge, of 32."""
        self._is_changed = True
        for place, category in enumerate(vote.categories):
            self.without[place] -= category == WITHOUT
            self.other[place] -= category == OTHER
            if category >= 0:
                self._groups[category].take_back(vote, by_judge=by_judge)
                met = sorted(vote.systems)
                pairs = {(i, j) for k, i in enumerate(met) for j in met[k + 1 :]}
                self._touched_pairs.setdefault(category, set()).update(pairs)
                self._count(category, np.array(vote.systems), np.array([vote.judge]), -1)
                self.rankings[category] -= 1
                self.versions[category] += 1

    def _count(self, category: int, systems: Ints, judges: Ints, step: int) -> None:
        self._by_system = _with_room(self._by_system, int(systems.max()), len(self.names))
        self._by_judge = _with_room(self._by_judge, int(judges.max()), len(self.names))
        np.add.at(self._by_system[:, category], systems, step)
        np.add.at(self._by_judge[:, category], judges, step)
        self._touched_systems.update(distinct_indices(systems))
        self._touched_judges.update(distinct_indices(judges))
        self._touched_values.add(category)

    def judges(self, category: int) -> int:
        """Return the number of judges of a category."""
        return int(np.count_nonzero(self._by_judge[:, category])) if category < self._by_judge.shape[1] else 0

    def systems(self, category: int) -> list[int]:
        """Return the systems that were judged in a category, by index."""
        if category >= self._by_system.shape[1]:
            return []
        found: list[int] = np.flatnonzero(self._by_system[:, category]).tolist()
        return found

    def copy(self, category: int, names: Sequence[str]) -> CountsCopy:
        """Return a copy of the counts of a category, with the systems that were judged in it."""
        chosen = self.systems(category)
        return self._groups[category].copy_of(
            chosen,
            names,
            judgments=self._by_system[chosen, category] if chosen else np.zeros(0, np.int64),
            rankings=self.rankings[category],
            judges=self.judges(category),
        )

    # -- stored rows -------------------------------------------------------------------------------------

    def touch_judge(self, judge: int) -> None:
        """Write the row of a judge with the next changes, because they have another name."""
        self._touched_judges.add(judge)

    def drain_rows(self, systems: Sequence[str], judges: Sequence[str]) -> dict[str, bytes]:
        """Return the encoded rows that changed since the last call."""
        pack = msgspec.msgpack.Encoder().encode
        rows = {SHARED: pack((self.without, self.other))} if self._is_changed else {}
        for number in sorted(self._touched_values):
            name = self.names[number]
            row = _ValueRow(number, self.rankings[number], self.versions[number])
            rows[VALUE + encode((name.tag, name.value)).decode()] = pack(row)
        for kind, names, counts, touched in (
            (SYSTEM, systems, self._by_system, self._touched_systems),
            (JUDGE, judges, self._by_judge, self._touched_judges),
        ):
            for i in sorted(touched):
                if i < len(counts):
                    rows[kind + names[i]] = pack(_sparse(counts[i]))
        for number, pairs in sorted(self._touched_pairs.items()):
            ordered = sorted(pairs)
            dumped = self._groups[number].dump_rows(np.array(ordered, np.int64))
            for (i, j), packed in zip(ordered, dumped, strict=True):
                rows[PAIR + encode((number, systems[i], systems[j])).decode()] = packed
        self.forget_changes()
        return rows

    def forget_changes(self) -> None:
        """Forget which rows changed."""
        self._is_changed = False
        self._touched_values: set[int] = set()
        self._touched_systems: set[int] = set()
        self._touched_judges: set[int] = set()
        self._touched_pairs: dict[int, set[tuple[int, ...]]] = {}

    def restore(self, rows: Mapping[str, bytes], systems: Mapping[str, int], judges: Mapping[str, int]) -> None:
        """Load stored rows. Raise KeyError or ValueError if a row names nobody, or can't be read.

        Whoever reads a campaign while it changes may miss the row of a new value. Then all later values are left out.
        The owner compares the number of rows.
        """
        unpack = msgspec.msgpack.decode
        values = sorted(
            (
                (unpack(row, type=_ValueRow), Category(tag=name[0], value=name[1]))
                for key, row in rows.items()
                if key.startswith(VALUE)
                for name in (_decode_name(key),)
            ),
            key=lambda item: item[0].number,
        )
        for row, name in values:
            if row.number != len(self.names):
                break
            self._add(name.tag, name.value)
            self.rankings[row.number], self.versions[row.number] = row.rankings, row.version
        pairs: dict[int, list[tuple[int, int, bytes]]] = {}
        for key, packed in rows.items():
            if key == SHARED:
                self.without, self.other = unpack(packed, type=tuple[list[int], list[int]])
            elif key.startswith(SYSTEM):
                self._by_system = self._load(self._by_system, systems[key.removeprefix(SYSTEM)], packed)
            elif key.startswith(JUDGE):
                self._by_judge = self._load(self._by_judge, judges[key.removeprefix(JUDGE)], packed)
            elif key.startswith(PAIR):
                number, one, other = msgspec.json.decode(key.removeprefix(PAIR), type=tuple[int, str, str])
                pairs.setdefault(number, []).append((systems[one], systems[other], packed))
        for number in sorted(pairs.keys() & range(len(self.names))):
            found = sorted(pairs[number])
            self._groups[number].grow(len(systems))
            self._groups[number].load_rows(
                np.array([each[:2] for each in found], np.int64), [each[2] for each in found]
            )

    def _load(self, counts: Ints, index: int, packed: bytes) -> Ints:
        counts = _with_room(counts, index, len(self.names))
        row = np.array(msgspec.msgpack.decode(packed, type=list[int]), np.int64).reshape(-1, 2)
        row = row[row[:, 0] < len(self.names)]
        counts[index, row[:, 0]] = row[:, 1]
        return counts


def stored_names(rows: Mapping[str, bytes]) -> list[Category]:
    """Return the categories of a stored table."""
    found = [_decode_name(key) for key in rows if key.startswith(VALUE)]
    return [Category(tag=tag, value=value) for tag, value in sorted(found)]


def select_judgments(batch: JudgmentBatch, chosen: Ints) -> JudgmentBatch:
    """Return some judgments of a batch, which are given in order."""
    if len(chosen) == len(batch):
        return batch
    begins = batch.starts[chosen]
    sizes = batch.starts[chosen + 1] - begins
    starts = np.append(0, np.cumsum(sizes))
    members = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], sizes)
    return JudgmentBatch(
        systems=batch.systems[members],
        ranks=batch.ranks[members],
        starts=starts,
        judges=batch.judges[chosen],
        segments=batch.segments[chosen],
        scores=batch.scores[chosen],
    )


def _decode_name(key: str) -> tuple[str, str]:
    return msgspec.json.decode(key.removeprefix(VALUE), type=tuple[str, str])


def _pairs_of(batch: JudgmentBatch) -> Iterable[tuple[int, ...]]:
    """Yield each pair of systems that met in a batch, the lower one first. A pair may come several times."""
    sizes = np.diff(batch.starts)
    for size in np.unique(sizes).tolist():
        ranked = np.sort(batch.systems[batch.starts[:-1][sizes == size, None] + np.arange(size)], axis=1)
        one, other = np.triu_indices(size, 1)
        found = np.stack((ranked[:, one].ravel(), ranked[:, other].ravel()), axis=1)
        yield from map(tuple, np.unique(found, axis=0).tolist())


def _sparse(counts: Ints) -> list[int]:
    """Return the categories with a count, each with its count after it."""
    found = np.flatnonzero(counts)
    flat: list[int] = np.column_stack((found, counts[found])).ravel().tolist()
    return flat


def _with_room(table: Ints, row: int, columns: int) -> Ints:
    """Return a table that has this row, and so many columns. It at least doubles when it grows."""
    had, wide = table.shape
    if row < had and columns <= wide:
        return table
    rows = had if row < had else max(row + 1, 2 * had)
    return np.pad(table, ((0, rows - had), (0, 0 if columns <= wide else max(columns, 2 * wide) - wide)))
