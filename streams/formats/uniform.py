"""The uniform ranking CSV: one ranking a row, `|` between systems, `+` between systems that shared one output."""

from __future__ import annotations

import csv
import gzip
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from streams.errors import FormatError
from streams.events import EPOCH, Judgment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COLUMNS = ("campaign", "pair", "seq", "segment", "judge", "systems", "ranks")


class Entry(NamedTuple):
    """A judgment and the line that it stands on."""

    line: int
    judgment: Judgment


def read(path: Path) -> Iterator[Entry]:
    """Read a file, plain or gzip; systems that shared one output both stand in the ranking, tied.

    The campaign is named campaign.pair, e.g. wmt15.de-en; a row without a time gets its place in the file as one.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream)
            if missing := [column for column in COLUMNS if column not in (rows.fieldnames or ())]:
                raise FormatError(f"{path}:1: no column {', '.join(missing)}: this is not a uniform ranking CSV")
            for row in rows:
                yield Entry(rows.line_num, _judgment(row, place=f"{path}:{rows.line_num}"))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path}: can't be read: {error}") from None


def _judgment(row: dict[str, str], *, place: str) -> Judgment:
    outputs, ranks = row["systems"].split("|"), row["ranks"].split("|")
    if len(outputs) != len(ranks):
        raise FormatError(f"{place}: {len(outputs)} systems but {len(ranks)} ranks")
    ranked: dict[str, int] = {}
    for output, rank in zip(outputs, ranks, strict=True):
        if not rank.isdecimal() or int(rank) < 1:
            raise FormatError(f"{place}: ranks: {rank!r} is no rank; 1 is best")
        for system in output.split("+"):
            if system in ranked:
                raise FormatError(f"{place}: systems: {system!r} stands twice")
            ranked[system] = int(rank)
    campaign = f"{row['campaign']}.{row['pair']}" if row["pair"] else row["campaign"]
    if not row["seq"].isdecimal():
        raise FormatError(f"{place}: seq: {row['seq']!r} is no number")
    duration = row.get("duration_s")
    return Judgment(
        id=f"{campaign}.{row['seq']}",
        campaign=campaign,
        segment=row["segment"],
        judge=row["judge"],
        systems=tuple(ranked),
        ranks=tuple(ranked.values()),
        at=EPOCH + timedelta(seconds=int(row["seq"])),
        duration_ms=round(float(duration) * 1000) if duration else None,
    )
