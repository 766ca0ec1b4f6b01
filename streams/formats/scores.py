"""Make judgments from scores of single outputs, and combine the rows of one rating."""

from __future__ import annotations

import math
import re
from array import array
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.base import EntryBatch
from streams.formats.limits import MAX_RATINGS
from streams.formats.names import content_id, shorten_name
from streams.formats.rankings import parse_number, refuse_long_names, row_time
from streams.wire.decoding import quote
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from streams.formats.base import ImportRun

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
    domain: str | None = None


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
                    tags={"domain": shorten_name(row.domain)} if row.domain else None,
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


class _Ratings:
    """Judgments by rating: campaign, judge, segment and system. Names are kept once, because there may be many."""

    def __init__(self, run: ImportRun) -> None:
        self._run = run
        self._names: dict[str, tuple[int, str]] = {}
        self._systems: dict[str, tuple[str]] = {}
        self._tags: dict[str, dict[str, str]] = {}
        self._places: dict[int, int] = {}
        self.lines = array("q")
        self.judgments: list[Judgment] = []

    def add(self, line: int, judgment: Judgment) -> int | None:
        """Add a judgment, unless its rating has one: then return the place of that one."""
        rating, short = self._shorten(judgment)
        place = self._places.setdefault(rating, len(self.judgments))
        if place < len(self.judgments):
            return place
        if place >= MAX_RATINGS:
            raise FormatError(
                f"{self._run.file}: more than {MAX_RATINGS:,} ratings, which must be in memory together; split the file"
            )
        self.lines.append(line)
        self.judgments.append(short)
        return None

    def replace(self, place: int, line: int, judgment: Judgment) -> None:
        """Replace the judgment of a rating."""
        self.lines[place], self.judgments[place] = line, self._shorten(judgment)[1]

    def _shorten(self, judgment: Judgment) -> tuple[int, Judgment]:
        """Return a number for the rating, and the judgment with names that all judgments share."""
        rating, names = 0, []
        for name in (judgment.campaign, judgment.judge, judgment.segment, *judgment.systems):
            number, known = self._names.setdefault(name, (len(self._names), name))
            rating = (rating << 32) + number
            names.append(known)
        campaign, judge, segment, system = names
        systems = self._systems.setdefault(system, (system,))
        tags = judgment.tags and self._tags.setdefault(str(judgment.tags), judgment.tags)
        return rating, msgspec.structs.replace(
            judgment, campaign=campaign, judge=judge, segment=segment, systems=systems, tags=tags
        )


def add_up(batches: Iterable[EntryBatch], run: ImportRun) -> Iterator[EntryBatch]:
    """Yield one judgment per rating, whose score is the sum of the scores of all its rows."""
    ratings = _Ratings(run)
    for line, judgment in _entries(batches):
        place = ratings.add(line, judgment)
        if place is not None:
            known = ratings.judgments[place]
            total = (known.score or 0.0) + (judgment.score or 0.0)
            ratings.judgments[place] = msgspec.structs.replace(known, score=total, at=max(known.at, judgment.at))
            run.summary.judgments -= 1
    yield from _in_batches(zip(ratings.lines, ratings.judgments, strict=True))


def keep_last(
    batches: Iterable[EntryBatch],
    run: ImportRun,
    *,
    finish: Callable[[int, Judgment], Judgment | str] | None = None,
) -> Iterator[EntryBatch]:
    """Yield the last submission of each rating, by time. The earlier ones are counted as left out.

    After the last row, `finish` gets the line and the judgment, and returns the final judgment or why it is left out.
    """
    ratings = _Ratings(run)
    several: dict[int, int] = {}  # number of judgments, of lines with more than one
    before = 0

    def leave_out(line: int, kind: str) -> None:
        run.summary.judgments -= 1
        left = several[line] = several.get(line, 1) - 1
        if not left:
            run.summary.judged -= 1
            run.leave_out(kind)

    for line, judgment in _entries(batches):
        if line == before:
            several[line] = several.get(line, 1) + 1
        before = line
        place = ratings.add(line, judgment)
        if place is None:
            continue
        if judgment.at < ratings.judgments[place].at:
            leave_out(line, REPLACED)
        else:
            leave_out(ratings.lines[place], REPLACED)
            ratings.replace(place, line, judgment)

    def finished() -> Iterator[tuple[int, Judgment]]:
        for line, judgment in zip(ratings.lines, ratings.judgments, strict=True):
            found = finish(line, judgment) if finish else judgment
            if isinstance(found, str):
                leave_out(line, found)
            else:
                yield line, found

    yield from _in_batches(finished())


def _entries(batches: Iterable[EntryBatch]) -> Iterator[tuple[int, Judgment]]:
    for batch in batches:
        yield from zip(batch.lines, batch.judgments, strict=True)


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
