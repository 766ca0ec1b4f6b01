"""Make judgments from scores of single outputs, and combine the rows of one rating."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.base import EntryBatch
from streams.formats.limits import MAX_RATINGS
from streams.formats.names import content_id
from streams.formats.rankings import parse_number, refuse_long_names, row_time
from streams.wire.decoding import quote
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from streams.formats.base import ImportRun

    Rating = tuple[str, str, str, str]  # campaign, judge, segment and system

AGGREGATED = "aggregated"  # the judge of scores that are means over judges
REPLACED = "replaced by a later submission"

_BATCH = 1000
_REFERENCE = re.compile(
    r"(?:^|[._/-])(?:ref|reference|human|translator)(?:[._ -]?[a-z0-9])?(?=$|[. ]|_with_)", re.IGNORECASE
)


def is_reference(system: str) -> bool:
    """Return whether this is the name of a human reference, as the files of WMT write it.

    >>> [is_reference(name) for name in ("HUMAN-B.12", "wmt23.refA", "translator-B", "ref.A", "Refiner", "Online-A")]
    [True, True, True, True, False, False]
    """
    return _REFERENCE.search(system) is not None


class Score(NamedTuple):
    """The score of one output in a row of a file."""

    system: str
    score: float
    campaign: str
    segment: str
    judge: str
    at: datetime | None = None
    duration_ms: int | None = None


def make_scores(run: ImportRun, number: int, *scores: Score) -> list[Judgment]:
    """Return the judgments of row `number`. Without `run.references`, those of human references are left out."""
    judgments = []
    for place, row in enumerate(scores):
        refuse_long_names(campaign=row.campaign, segment=row.segment, judge=row.judge, systems=row.system)
        if run.references or not is_reference(row.system):
            judgments.append(
                Judgment(
                    id=content_id(number, str(place), row.campaign, row.segment, row.judge, row.system, str(row.score)),
                    campaign=row.campaign,
                    segment=row.segment,
                    judge=row.judge,
                    systems=(row.system,),
                    score=row.score,
                    at=row.at or row_time(number),
                    duration_ms=row.duration_ms,
                )
            )
    if scores and not judgments:
        run.leave_out("a human reference")
    return judgments


def optional_number(value: object, *, field: str = "score") -> float | None:
    """Return a number of a JSON file, which may be a text. Null, an empty text and NaN are None."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise RecordError("invalid_value", f"{quote(value)} is not a number", field=field)
    return parse_number(str(value), field=field)


def add_up(batches: Iterable[EntryBatch], run: ImportRun) -> Iterator[EntryBatch]:
    """Yield one judgment per rating, whose score is the sum of the scores of all its rows."""
    ratings: dict[Rating, tuple[int, Judgment]] = {}
    for line, judgment, rating in _ratings(batches, ratings, run):
        if rating not in ratings:
            ratings[rating] = line, judgment
            continue
        first, known = ratings[rating]
        total = (known.score or 0.0) + (judgment.score or 0.0)
        ratings[rating] = first, msgspec.structs.replace(known, score=total, at=max(known.at, judgment.at))
        run.summary.judgments -= 1
    yield from _in_batches(ratings.values())


def keep_last(
    batches: Iterable[EntryBatch],
    run: ImportRun,
    *,
    finish: Callable[[int, Judgment], Judgment | str] | None = None,
) -> Iterator[EntryBatch]:
    """Yield the last submission of each rating, by time. The earlier ones are counted as left out.

    After the last row, `finish` gets the line and the judgment, and returns the final judgment or why it is left out.
    """
    ratings: dict[Rating, tuple[int, Judgment]] = {}
    judgments_of: Counter[int] = Counter()  # by line

    def leave_out(line: int, kind: str) -> None:
        run.summary.judgments -= 1
        judgments_of[line] -= 1
        if not judgments_of[line]:
            run.summary.judged -= 1
            run.leave_out(kind)

    for line, judgment, rating in _ratings(batches, ratings, run):
        judgments_of[line] += 1
        before = ratings.get(rating)
        if before is None or judgment.at >= before[1].at:
            ratings[rating] = line, judgment
        if before is not None:
            leave_out(before[0] if judgment.at >= before[1].at else line, REPLACED)
    final = []
    for line, judgment in ratings.values():
        found = finish(line, judgment) if finish else judgment
        if isinstance(found, str):
            leave_out(line, found)
        else:
            final.append((line, found))
    yield from _in_batches(final)


def _ratings(
    batches: Iterable[EntryBatch], known: Mapping[Rating, object], run: ImportRun
) -> Iterator[tuple[int, Judgment, Rating]]:
    names: dict[str, str] = {}  # one copy of each name, because they are all kept
    for batch in batches:
        for line, judgment in zip(batch.lines, batch.judgments, strict=True):
            campaign, judge, segment, system = (
                names.setdefault(name, name)
                for name in (judgment.campaign, judgment.judge, judgment.segment, *judgment.systems)
            )
            if len(known) >= MAX_RATINGS:
                raise FormatError(
                    f"{run.file}: more than {MAX_RATINGS:,} ratings, which must be in memory together; split the file"
                )
            short = msgspec.structs.replace(
                judgment, campaign=campaign, judge=judge, segment=segment, systems=(system,)
            )
            yield line, short, (campaign, judge, segment, system)


def _in_batches(entries: Iterable[tuple[int, Judgment]]) -> Iterator[EntryBatch]:
    lines: list[int] = []
    judgments: list[Judgment] = []
    for line, judgment in entries:
        lines.append(line)
        judgments.append(judgment)
        if len(lines) == _BATCH:
            yield EntryBatch(lines, judgments)
            lines, judgments = [], []
    if lines:
        yield EntryBatch(lines, judgments)
