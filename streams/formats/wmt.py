"""Read the CSV files of WMT: one row ranks five systems, or compares two."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from streams.errors import FormatError, RecordError
from streams.formats.base import Format
from streams.formats.input.tables import Cells, Table
from streams.formats.names import campaign_name, language_pair, wmt_campaign
from streams.formats.rankings import make_judgments, ranked_outputs
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_REQUIRED = ("srclang", "trglang", "segmentid", "judgeid", "system1id", "system1rank", "system2id", "system2rank")
_SYSTEM = re.compile(r"system(\d{1,3})id")
_PAIRS_ONLY = "rankingid"


class _WmtRow(NamedTuple):
    campaign: str | None
    languages: tuple[str, str]
    segment: str
    judge: str
    outputs: list[tuple[tuple[str], str]]


def _read_rows(source: Source, run: ImportRun) -> Iterator[tuple[int, _WmtRow | RecordError]]:
    table = Table(source, required=_REQUIRED, kind="a CSV of WMT")
    at = table.columns
    places = []
    for name in at:
        if found := _SYSTEM.fullmatch(name):
            rank = f"system{found[1]}rank"
            if rank not in at:
                raise FormatError(f"{run.file}:1: there is a column {name}, but no column {rank}")
            places.append((at[name], at[rank]))
    source_language, target, segment, judge = (at[name] for name in _REQUIRED[:4])
    campaign = None
    for line, cells in table.rows():
        if isinstance(cells, RecordError):
            yield line, cells
        else:
            outputs = _outputs(cells, places)
            campaign = wmt_campaign([system for (system,), _ in outputs]) or campaign
            yield (
                line,
                _WmtRow(campaign, (cells[source_language], cells[target]), cells[segment], cells[judge], outputs),
            )


def _outputs(cells: Cells, places: list[tuple[int, int]]) -> list[tuple[tuple[str], str]]:
    return [((cells[system],), cells[rank]) for system, rank in places if cells[system] or cells[rank]]


def _to_judgments(row: _WmtRow, number: int, run: ImportRun) -> list[Judgment]:
    outputs = ranked_outputs(run, row.outputs)
    if not outputs:
        return []
    return make_judgments(
        run,
        number,
        outputs,
        campaign=campaign_name(run, in_file=row.campaign, pair=language_pair(*row.languages)),
        segment=row.segment,
        judge=row.judge,
    )


def _is_rankings(head: FileHead) -> bool:
    return head.columns.issuperset(_REQUIRED) and _PAIRS_ONLY not in head.columns


def _is_pairs(head: FileHead) -> bool:
    return head.columns.issuperset((*_REQUIRED, _PAIRS_ONLY))


RANKINGS = Format(
    "wmt-rankings", "WMT's CSV of rankings: five systems per row", _is_rankings, row_reader(_read_rows, _to_judgments)
)
PAIRS = Format(
    "wmt-pairs", "WMT's CSV of comparisons: two systems per row", _is_pairs, row_reader(_read_rows, _to_judgments)
)
