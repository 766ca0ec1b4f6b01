"""Make judgments from a ranking of outputs, and parse the values that files contain."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.names import content_id, judge_name, segment_name, shorten_name
from streams.wire.decoding import quote
from streams.wire.events import EPOCH, LATEST, Judgment
from streams.wire.limits import MAX_NAME, MAX_RANKED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.formats.base import ImportRun

UNRANKED = ("-1", "")

_SECONDS = re.compile(r"\d{1,15}(\.\d{1,9})?")
_LATEST_SECONDS = (LATEST - EPOCH).total_seconds()


def make_judgments(
    run: ImportRun,
    number: int,
    outputs: Sequence[tuple[Sequence[str], int]],
    *,
    campaign: str,
    segment: str,
    judge: str,
    at: datetime | None = None,
    id: str | None = None,  # noqa: A002 - as in Judgment
    duration_ms: int | None = None,
    source: str | None = None,
    tags: dict[str, str] | None = None,
    replaces: str | None = None,
) -> list[Judgment]:
    """Return the judgments of row `number`. Each output has a rank and the systems that produced it.

    Systems that shared an output are tied. Without `run.shared_ties`, they are not compared: the ranking is split into
    pairs of systems with different outputs.
    """
    refuse_long_names(campaign=campaign, segment=segment, judge=judge)
    judge, segment = judge_name(judge), segment_name(segment)
    systems = tuple(system for names, _ in outputs for system in names)
    ranks = tuple(rank for names, rank in outputs for _ in names)
    if len(systems) > MAX_RANKED:
        raise RecordError(
            "too_many_systems", f"{len(systems)} systems; at most {MAX_RANKED} are accepted", field="systems"
        )
    if len(set(systems)) != len(systems):
        twice = next(name for name in systems if systems.count(name) > 1)
        raise RecordError("duplicate_system", f"the system {quote(twice)} is listed twice", field="systems")
    for system in systems:
        refuse_long_names(systems=system)
    id = id or content_id(number, campaign, segment, judge, *systems, *map(str, ranks))  # noqa: A001
    at = at or row_time(number)
    if run.shared is not None and len(systems) != len(outputs):
        run.shared[id] = tuple(tuple(names) for names, _ in outputs)
    if run.shared_ties or len(systems) == len(outputs):
        compared = [(id, systems, ranks)]
    else:
        pairs = [
            ((one, other), (rank, other_rank))
            for (names, rank), (other_names, other_rank) in combinations(outputs, 2)
            for one in names
            for other in other_names
        ]
        compared = [(shorten_name(f"{id}.{place}"), pair, ranks) for place, (pair, ranks) in enumerate(pairs, start=1)]
        if not pairs:
            run.leave_out("all systems share one output")
    return [
        Judgment(
            id=name,
            campaign=campaign,
            segment=segment,
            judge=judge,
            systems=compared_systems,
            ranks=compared_ranks,
            at=at,
            duration_ms=duration_ms,
            source=source,
            tags=tags,
            replaces=replaces,
        )
        for name, compared_systems, compared_ranks in compared
    ]


def refuse_long_names(**names: str) -> None:
    """Raise RecordError for a name that is too long, before anything is made of it for each row that has it."""
    for field, name in names.items():
        if len(name) > MAX_NAME:
            shown = "private" if field == "judge" else quote(name)
            message = f"{len(name):,} characters ({shown}); at most {MAX_NAME} are accepted"
            raise RecordError("invalid_value", message, field=field)


def ranked_outputs(run: ImportRun, outputs: Sequence[tuple[Sequence[str], str]]) -> list[tuple[Sequence[str], int]]:
    """Return the outputs that have a rank. The others were not ranked by the judge; they are counted and left out."""
    found = [(systems, parse_rank(rank)) for systems, rank in outputs if rank not in UNRANKED]
    if found:
        run.summary.unranked += len(outputs) - len(found)
    else:
        run.leave_out("not ranked")
    return found


def parse_rank(text: str) -> int:
    """Parse a rank."""
    if not text.isdecimal() or len(text) > 7 or int(text) < 1:
        raise RecordError(
            "invalid_value", f"{quote(text)} is not a rank; ranks are whole numbers, and 1 is best", field="ranks"
        )
    return int(text)


def parse_number(text: str, *, field: str) -> float:
    """Parse a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RecordError("invalid_value", f"{quote(text)} is not a number", field=field)
    return number


def parse_milliseconds(text: str, *, field: str) -> int:
    """Parse a duration in seconds, and return milliseconds."""
    if not _SECONDS.fullmatch(text):
        raise RecordError("invalid_value", f"{quote(text)} is not a number of seconds", field=field)
    return int((Decimal(text) * 1000).to_integral_value())


def row_time(number: int) -> datetime:
    """Return the time of a row that has none: its number, in seconds since 1970. This keeps the order of the file."""
    return EPOCH + timedelta(seconds=number)


def parse_time(value: str | float, *, field: str) -> datetime:
    """Parse a time: ISO 8601 (UTC if it has no zone), or seconds or milliseconds since 1970.

    >>> parse_time("1700000000000", field="at") == parse_time(1700000000, field="at")
    True
    """
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        if seconds > _LATEST_SECONDS:
            seconds /= 1000
        if not 0 <= seconds <= _LATEST_SECONDS:
            raise RecordError("invalid_value", f"{quote(value)} is not a number of seconds since 1970", field=field)
        return EPOCH + timedelta(seconds=seconds)
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        raise RecordError("invalid_value", f"{quote(value)} is not an ISO 8601 time", field=field) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
