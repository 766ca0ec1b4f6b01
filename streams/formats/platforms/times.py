"""Parse the times that platforms and spreadsheets write, which are not ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from streams.errors import RecordError
from streams.formats.rankings import parse_time
from streams.wire.decoding import quote

# Hours from UTC. Some names have several meanings; these are the ones that MTurk and Google use.
_ZONES = {
    "UTC": 0,
    "GMT": 0,
    "Z": 0,
    "WET": 0,
    "WEST": 1,
    "BST": 1,
    "CET": 1,
    "CEST": 2,
    "EET": 2,
    "EEST": 3,
    "MSK": 3,
    "IST": 5.5,
    "HKT": 8,
    "SGT": 8,
    "KST": 9,
    "JST": 9,
    "AEST": 10,
    "AEDT": 11,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "BRT": -3,
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
_ZONE = r"(?:\s*(?P<zone>[A-Za-z]{1,5}(?:[+-]\d{1,2}(?::?\d\d)?)?))?"
_PATTERNS = (
    # Thu Dec 21 20:32:50 PST 2023
    re.compile(rf"[A-Za-z]{{3}} (?P<name>[A-Za-z]{{3}}) (?P<day>\d{{1,2}}) {_CLOCK}{_ZONE} (?P<year>\d{{4}})"),
    # 2024/03/19 10:56:47 am EET
    re.compile(
        rf"(?P<year>\d{{4}})/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}}),? {_CLOCK}(?: ?(?P<half>[AaPp]\.?[Mm]\.?))?{_ZONE}"
    ),
    # 19.03.2024 10:56:47
    re.compile(rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}),? {_CLOCK}{_ZONE}"),
    # 3/19/2024 10:56:47
    re.compile(
        rf"(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/(?P<year>\d{{4}}),? {_CLOCK}(?: ?(?P<half>[AaPp]\.?[Mm]\.?))?{_ZONE}"
    ),
)
_SLASHES = _PATTERNS[-1]
_LONGEST = 60  # characters of a time
_OFFSET = re.compile(r"[A-Za-z]+([+-])(\d{1,2})(?::?(\d\d))?")


def parse_platform_time(text: str, *, field: str, day_first: bool = False) -> datetime:
    """Parse a time as MTurk and Google Forms write it, or as all other formats do.

    Slashes are month/day/year, or day/month/year with `day_first`.

    >>> parse_platform_time("Thu Dec 21 20:32:50 PST 2023", field="SubmitTime").isoformat()
    '2023-12-21T20:32:50-08:00'
    >>> parse_platform_time("2024/03/19 10:56:47 pm EET", field="Timestamp").isoformat()
    '2024-03-19T22:56:47+02:00'
    >>> parse_platform_time("3/19/2024 9:05:00", field="Timestamp").isoformat()
    '2024-03-19T09:05:00+00:00'
    >>> parse_platform_time("04/03/2024 9:05:00", field="Horodateur", day_first=True).isoformat()
    '2024-03-04T09:05:00+00:00'
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return parse_time(text, field=field)
    found = next((match for pattern in _PATTERNS if (match := pattern.fullmatch(text))), None)
    if not found:
        return parse_time(text, field=field)
    parts = found.groupdict()
    if day_first and found.re is _SLASHES:
        parts["month"], parts["day"] = parts["day"], parts["month"]
    month = (
        _MONTHS.index(parts["name"].lower()) + 1 if (parts.get("name") or "").lower() in _MONTHS else parts.get("month")
    )
    hour = int(parts["hour"])
    if half := (parts.get("half") or "").lower():
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    try:
        return datetime(
            int(parts["year"]),
            int(month or 0),
            int(parts["day"]),
            hour,
            int(parts["minute"]),
            int(parts["second"] or 0),
            tzinfo=_zone(parts["zone"]),
        )
    except (ValueError, OverflowError, KeyError):
        order = "day/month/year" if day_first else "month/day/year"
        message = f"{quote(text)} is not a time; write {order}, or ISO 8601 such as 2024-03-19T10:56:47Z"
        raise RecordError("invalid_value", message, field=field) from None


def _zone(name: str | None) -> timezone:
    if not name:
        return UTC
    if found := _OFFSET.fullmatch(name):
        shift = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        return timezone(-shift if found[1] == "-" else shift)
    return timezone(timedelta(hours=_ZONES[name.upper()]))
