"""Read scores that are means over judges: the `.score` and `.rating` files of mt-metrics-eval, and averaged MQM.

They have no header. A line has a system and a score; the first line of a system is its first segment. Averaged MQM has
a header and the number of the segment in each line.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from streams.errors import RecordError
from streams.formats.base import Format
from streams.formats.input.lines import first_lines, read_lines
from streams.formats.names import campaign_name
from streams.formats.rankings import parse_number
from streams.formats.scores import AGGREGATED, Score, make_scores
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_MISSING = "None"
_AVERAGED = ["system", "mqm_avg_score", "seg_id"]
_INSPECTED = 3  # lines


class _Error(msgspec.Struct):
    score: float = 0.0


class _Rating(msgspec.Struct):
    errors: list[_Error]


_rating = msgspec.json.Decoder(_Rating)


class _File:
    """The lines of one file. The segments of each system are counted."""

    def __init__(self) -> None:
        self._averaged = False
        self._segments: Counter[str] = Counter()

    def rows(self, source: Source, _: ImportRun) -> Iterator[tuple[int, list[str] | RecordError]]:
        """Yield the cells of each line."""
        for line, text in read_lines(source):
            if isinstance(text, RecordError):
                yield line, text
            elif line == 1 and text.split() == _AVERAGED:
                self._averaged = True
            else:
                yield line, _cells(text)

    def judge(self, cells: list[str], number: int, run: ImportRun) -> list[Judgment]:
        """Return the judgment of a line."""
        run.summary.scale = "raw"
        if len(cells) not in (2, 3):
            raise RecordError("length_mismatch", f"{len(cells)} cells; a system and a score should be here")
        judge, segment = AGGREGATED, None
        if self._averaged and len(cells) == 3:
            system, score, segment = cells
        elif len(cells) == 3 and _is_rating(cells[1]):  # with the rater
            system, score, judge = cells
        elif len(cells) == 3:
            domain, system, score = cells
            segment = domain
        else:
            system, score = cells
        key = f"{system}|{judge}"
        self._segments[key] += 1
        if score == _MISSING:
            run.leave_out("not scored")
            return []
        value = _penalty(score) if score.startswith("{") else parse_number(score, field="score")
        place = segment or str(self._segments[key])
        return make_scores(run, number, Score(system, value, campaign_name(run), place, judge))


def _cells(text: str) -> list[str]:
    cells = [cell.strip() for cell in text.split("\t")]
    return cells if len(cells) > 1 and cells[1].startswith("{") else text.split()


def _is_rating(cell: str) -> bool:
    return cell == _MISSING or cell.startswith("{")


def _penalty(text: str) -> float:
    try:
        return 0.0 - sum(abs(error.score) for error in _rating.decode(text).errors)
    except (ValueError, RecursionError) as error:
        raise RecordError("invalid_value", f"not a rating: {error}", field="score") from None


def _batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    file = _File()
    return row_reader(file.rows, file.judge)(source, run)


def _recognise(head: FileHead) -> bool:
    """Return whether the first lines have names and scores, and the first two have the same name."""
    lines = first_lines(head, most=_INSPECTED)
    if lines and lines[0].split() == _AVERAGED:
        return True
    return has_scores(head) and _cells(lines[0])[0] == _cells(lines[1])[0]


def has_scores(head: FileHead) -> bool:
    """Return whether the first lines have names and scores."""
    rows = [_cells(line) for line in first_lines(head, most=_INSPECTED)]
    if len(rows) < 2 or not all(len(row) in (2, 3) for row in rows):
        return False
    return all(_is_score(row[1] if _is_rating(row[1]) else row[-1]) for row in rows)


def _is_score(text: str) -> bool:
    if text == _MISSING or text.startswith('{"errors"'):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


FORMAT = Format("mt-metrics-eval", "scores of mt-metrics-eval, and averaged MQM: no judges", _recognise, _batches)
