"""Read WMT's CSV of comparisons. All comparisons of one ranking are joined again, because they are one verdict."""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING

import msgspec

from streams.formats.base import EntryBatch, Format
from streams.formats.names import ANONYMOUS, UNSPECIFIED
from streams.formats.validation import row_reader
from streams.formats.wmt import WmtRow, is_pairs, judge_row, read_rows
from streams.wire.limits import MAX_RANKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from streams.formats.base import ImportRun
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_Entries = list[tuple[int, "Judgment"]]
_MOST_ROWS = MAX_RANKED * (MAX_RANKED - 1) // 2


class _Rankings:
    """The comparisons of a file, with the ranking of each until it is joined."""

    def __init__(self, run: ImportRun) -> None:
        self._run = run
        self._ranking: dict[str, str] = {}  # by judgment id

    def judge(self, row: WmtRow, number: int, run: ImportRun) -> list[Judgment]:
        """Return the judgment of a row, and remember its ranking."""
        judgments = judge_row(row, number, run)
        if row.ranking:
            self._ranking |= {judgment.id: row.ranking for judgment in judgments}
        return judgments

    def join(self, batches: Iterable[EntryBatch]) -> Iterator[EntryBatch]:
        """Yield the judgments. Rows of one ranking that follow each other are one judgment, if they are all of it."""
        waiting: _Entries = []
        before: object = None
        for batch in batches:
            done: _Entries = []
            for line, judgment in zip(batch.lines, batch.judgments, strict=True):
                ranking = self._ranking.pop(judgment.id, None)
                key = ranking and (ranking, judgment.campaign, judgment.judge, judgment.segment)
                if key is None or key != before or len(waiting) >= _MOST_ROWS:
                    done += self._joined(waiting)
                    waiting, before = [], key
                waiting.append((line, judgment))
            if done:
                yield _batch(done)
        if waiting:
            yield _batch(self._joined(waiting))

    def _joined(self, rows: _Entries) -> _Entries:
        if len(rows) < 2:
            return rows
        judgments = [judgment for _, judgment in rows]
        places = [
            place for each in judgments for place in zip(each.systems, each.ranks or (), strict=True)
        ]  # of each system in each row
        ranks = dict(places)
        pairs = {frozenset(pair) for each in judgments for pair in combinations(each.systems, 2)}
        if (
            len(set(places)) != len(ranks)  # a system has two ranks
            or len(pairs) != len(ranks) * (len(ranks) - 1) // 2
            or len({frozenset(each.systems) for each in judgments}) != len(rows)  # a comparison is there twice
            or len(ranks) > MAX_RANKED
        ):
            return rows
        line, first = rows[0]
        self._share(first.id, judgments, ranks)
        summary, fewer = self._run.summary, len(rows) - 1
        summary.judgments -= fewer
        summary.anonymous -= fewer * (first.judge == ANONYMOUS)
        summary.unspecified -= fewer * (first.segment == UNSPECIFIED)
        return [(line, msgspec.structs.replace(first, systems=tuple(ranks), ranks=tuple(ranks.values())))]

    def _share(self, name: str, judgments: list[Judgment], systems: Iterable[str]) -> None:
        """Keep which systems shared an output, if it was asked for."""
        if self._run.shared is None:
            return
        known = [self._run.shared.pop(judgment.id, ()) for judgment in judgments]
        outputs = {system: names for names in chain.from_iterable(known) for system in names}
        if outputs:
            self._run.shared[name] = tuple(dict.fromkeys(outputs.get(system, (system,)) for system in systems))


def _batch(entries: _Entries) -> EntryBatch:
    return EntryBatch([line for line, _ in entries], [judgment for _, judgment in entries])


def _batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    rankings = _Rankings(run)
    return rankings.join(row_reader(read_rows, rankings.judge)(source, run))


FORMAT = Format("wmt-pairs", "WMT's CSV of comparisons: two systems of a ranking per row", is_pairs, _batches)
