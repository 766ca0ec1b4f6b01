"""Types of options: a point in time and a replay speed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from math import inf

import click

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Moment(click.ParamType):
    """A point in time, or how long ago."""

    name = "time"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read 90m, 2h, 7d, or an ISO date or time. Without a time zone it is UTC.

        >>> Moment().convert("2026-05-01T12:00+02:00", None, None).isoformat()
        '2026-05-01T10:00:00+00:00'
        """
        try:
            if ago := re.fullmatch(r"(\d{1,6})([smhd])", value):
                return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time; write e.g. 2h, 7d, 2026-05-01 or 2026-05-01T12:00Z", param, ctx)


class Speed(click.ParamType):
    """A multiple of the speed at which the judgments were made, or `max`."""

    name = "SPEED"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read 1x, 10x, 0.5x or max; `max` is infinite.

        >>> Speed().convert("10x", None, None), Speed().convert("max", None, None)
        (10.0, inf)
        """
        found = re.fullmatch(r"(\d+(?:\.\d+)?)x", value)
        if value != "max" and (not found or not float(found[1])):
            self.fail(f"{value!r} is not a speed; write e.g. 1x, 10x, 0.5x or max", param, ctx)
        return float(found[1]) if found else inf
