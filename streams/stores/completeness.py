"""Is a stored campaign whole, and as new as its partition knows? Every store asks this when it reads one.

With each batch a store writes the number of rows of each table beside the campaign's progress, and beside the
partition's head the offset of each campaign. Keys that are lost, and a shard that came back older, differ from that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from streams.core.campaign.state import TABLES, StoredCampaign

if TYPE_CHECKING:
    from collections.abc import Mapping

ANNOUNCED = "new"  # in the place of an offset: the campaign is listed, and was not written yet
UNKNOWN = "-1"  # in the place of an offset: the campaign was listed by a version that did not keep it


def find_missing_rows(expected: Mapping[str, int], found: Mapping[str, int]) -> str | None:
    """Return what is wrong with the sizes of a campaign's tables, or None. A size that is not expected is not checked.

    >>> find_missing_rows({"seen": 500, "judges": 3}, {"seen": 0, "judges": 3})
    'its stored state is not complete (seen has 0 rows, not 500)'
    """
    wrong = [
        f"{table} has {found.get(table, 0)} rows, not {number}"
        for table, number in expected.items()
        if found.get(table, 0) != number
    ]
    return f"its stored state is not complete ({', '.join(wrong)})" if wrong else None


def find_problem(*, listed: str | None, offset: int | None, rows: str | None = None) -> str | None:
    """Return why a campaign can't be used, or None.

    `listed` is what its partition knows of it, `offset` is None if it is not stored, and `rows` is what is wrong with
    its tables.

    >>> find_problem(listed="7", offset=5)
    'its stored state is older than its partition knows (it is at offset 5, not at 7)'
    >>> find_problem(listed="7", offset=9), find_problem(listed="new", offset=None), find_problem(listed=None, offset=5)
    (None, None, None)
    """
    if listed is None or listed == ANNOUNCED:
        return rows
    if offset is None:
        return "its stored state is lost, although its partition lists it"
    if offset < int(listed):
        return f"its stored state is older than its partition knows (it is at offset {offset}, not at {listed})"
    return rows


def checked(stored: StoredCampaign | None, listed: str | None) -> StoredCampaign | None:
    """Return a campaign with its problem, if there is one. One that is lost has a problem and nothing else."""
    if stored is not None:
        return replace(stored, problem=find_problem(listed=listed, offset=stored.offset, rows=stored.problem))
    problem = find_problem(listed=listed, offset=None)
    if problem is None:
        return None
    return StoredCampaign(meta=b"", tables={table: {} for table in TABLES}, scores={}, seen=(), problem=problem)


def encode_sizes(sizes: Mapping[str, int]) -> str:
    """Return sizes as one string, as the scripts write it.

    >>> encode_sizes({"systems": 4, "seen": 71})
    'systems=4 seen=71'
    """
    return " ".join(f"{table}={number}" for table, number in sizes.items())


def decode_sizes(text: str) -> dict[str, int]:
    """Return the sizes that a string holds.

    >>> decode_sizes("systems=4 seen=71")
    {'systems': 4, 'seen': 71}
    """
    return {table: int(number) for table, _, number in (part.partition("=") for part in text.split())}
