"""Differences between two states of a campaign: the stored one, and the one that its log yields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from streams.core.campaign.categories import PAIR
from streams.core.campaign.group_counts import has_same_counts
from streams.core.campaign.judge_residuals import join_pages
from streams.core.campaign.segment_pages import decode_segments
from streams.core.campaign.state import TABLES, JudgeRow, SystemRow, decode_meta, decode_row
from streams.errors import StoreCorrupt, StoreOutdated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.campaign.state import StoredCampaign
    from streams.wire.quarantine import Quarantine

UNREADABLE = "unreadable"
KINDS: dict[str, Any] = {"systems": SystemRow, "judges": JudgeRow}


class TableDifference(Struct, frozen=True, kw_only=True):
    """Numbers of rows that only the log has, that only the store has, and that differ."""

    missing: int
    extra: int
    different: int

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra or self.different)


class ValueDifference(Struct, frozen=True):
    """A stored value, and the one that the log yields."""

    stored: Any
    log: Any


class CampaignDifference(Struct, frozen=True, kw_only=True):
    """The differences in one campaign, with the means of the systems that differ. A missing mean is None."""

    campaign: str
    tables: dict[str, TableDifference]
    fields: dict[str, ValueDifference]
    means: dict[str, ValueDifference]


class PartitionReport(Struct, frozen=True, kw_only=True):
    """The differences on one partition, and whether the state of the log was swapped in."""

    partition: str
    records: int
    campaigns: int
    head: dict[str, ValueDifference]
    differences: tuple[CampaignDifference, ...]
    swapped: bool
    released: tuple[str, ...] = ()  # campaigns whose quarantine ends: everything of their log is rated
    failed: dict[str, str] = {}  # campaigns that can't be rated again, and the errors. Their state stays
    rated_again: tuple[str, ...] = ()  # of a dry run: campaigns that a worker is rating again. They are not compared


class RebuildReport(Struct, frozen=True, kw_only=True):
    """The differences that a rebuild found."""

    dry_run: bool
    partitions: tuple[PartitionReport, ...]

    @property
    def differs(self) -> bool:
        """Whether anything stored differs from what the log yields."""
        return any(partition.head or partition.differences for partition in self.partitions)

    @property
    def failed(self) -> dict[str, str]:
        """The campaigns that can't be rated again because of an unexpected error, and the errors."""
        return {name: error for partition in self.partitions for name, error in partition.failed.items()}

    @property
    def released(self) -> list[str]:
        """The campaigns whose quarantine ends."""
        return [name for partition in self.partitions for name in partition.released]

    @property
    def rated_again(self) -> list[str]:
        """The campaigns that a dry run has not compared, because a worker is rating them again."""
        return [name for partition in self.partitions for name in partition.rated_again]

    @property
    def other_judges(self) -> bool:
        """Whether it looks as if the judges' pseudonyms were made with another key."""
        tables = [found.tables for partition in self.partitions for found in partition.differences]
        return any("judges" in found and found["judges"].missing == found["judges"].extra > 0 for found in tables)


def compare(campaign: str, stored: StoredCampaign | None, log: StoredCampaign | None) -> CampaignDifference | None:
    """Return the differences row by row, or None. Outstanding match requests and outboxes are not compared."""
    old, new = _tables(stored), _tables(log)
    tables = {table: rows for table in new if (rows := _compare_rows(table, old[table], new[table]))}
    before, after = _fields(campaign, stored), _fields(campaign, log)
    fields = {
        name: ValueDifference(before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }
    if not tables and not fields:
        return None
    means = {
        system: ValueDifference(_mean(old["systems"].get(system)), _mean(new["systems"].get(system)))
        for system in sorted(old["systems"].keys() | new["systems"].keys())
        if not _is_same("systems", old["systems"].get(system), new["systems"].get(system))
    }
    return CampaignDifference(campaign=campaign, tables=tables, fields=fields, means=means)


def compare_heads(stored: Mapping[str, str], log: Mapping[str, str]) -> dict[str, ValueDifference]:
    """Return the differences of a partition's offset, of its counts and of its last record's fingerprint."""
    names, added = ("offset", "read", "rejected", "mark"), ("missing", "empty", "forwarded")
    old, new = ({**dict.fromkeys(added, "0"), **head} for head in (stored, log))  # earlier versions did not count them
    found = {
        name: ValueDifference(old.get(name), new.get(name))
        for name in (*names, *added)
        if old.get(name) != new.get(name)
    }
    # Earlier versions rejected what is forwarded now. So does a worker that does not know the campaign yet.
    if _count_elsewhere(old) == _count_elsewhere(new):
        found = {name: difference for name, difference in found.items() if name not in ("rejected", "forwarded")}
    return found


def find_quarantine(campaign: str, stored: StoredCampaign | None) -> Quarantine | None:
    """Return the quarantine of a stored campaign, if it has one and can be read."""
    if stored is None:
        return None
    try:
        return decode_meta(campaign, stored.meta).status.quarantine
    except StoreCorrupt:
        return None


def _count_elsewhere(head: Mapping[str, str]) -> int:
    """Return the number of records that no campaign of the partition has."""
    return int(head.get("rejected", 0)) + int(head.get("forwarded", 0))


def _tables(found: StoredCampaign | None) -> dict[str, Mapping[str, Any]]:
    if found is None:
        return {table: {} for table in (*TABLES, "seen", "leaderboard")}
    seen = {name: place for place, name in enumerate(found.seen)}
    tables: dict[str, Mapping[str, Any]] = {**found.tables, "seen": seen, "leaderboard": found.scores}
    try:  # the two tables of segments as one, and the pages of a judge too, because earlier layouts had no pages
        segments: Mapping[str, Any] = decode_segments(found.tables["segments"], found.tables["segment_pages"])
        residuals = join_pages(found.tables["residuals"])
    except (ValueError, KeyError, IndexError):
        return tables
    return {**tables, "segments": segments, "segment_pages": {}, "residuals": residuals}


def _compare_rows(table: str, stored: Mapping[str, Any], log: Mapping[str, Any]) -> TableDifference:
    both = stored.keys() & log.keys()
    return TableDifference(
        missing=len(log) - len(both),
        extra=len(stored) - len(both),
        different=sum(not _is_same(_table_of(table, name), stored[name], log[name]) for name in both),
    )


def _table_of(table: str, row: str) -> str:
    """Return the table whose form a row has. The pairs of a category are stored like those of all judgments."""
    return "pairs" if table == "categories" and row.startswith(PAIR) else table


def _is_same(table: str, stored: Any, log: Any) -> bool:
    """Return whether two rows hold the same, also if their forms differ: of another layout, or of more groups."""
    if stored == log or table not in (*KINDS, "pairs") or stored is None or log is None:
        return bool(stored == log)
    try:
        if table == "pairs":
            return has_same_counts(stored, log)
        return bool(decode_row(stored, KINDS[table]) == decode_row(log, KINDS[table]))
    except (ValueError, StoreOutdated):  # a DecodeError of msgspec is a ValueError
        return False


def _fields(campaign: str, found: StoredCampaign | None) -> dict[str, Any]:
    """Return the fields of the meta, with each count under its own name.

    A field that an earlier version did not store has its default.
    """
    if found is None:
        return {}
    try:
        meta: dict[str, Any] = msgspec.to_builtins(decode_meta(campaign, found.meta))
    except StoreCorrupt:
        return {"meta": UNREADABLE}
    for name in ("layout", "outstanding", "stop"):
        del meta[name]
    counts: dict[str, Any] = meta.pop("counts")
    return meta | counts | ({"problem": found.problem} if found.problem else {})


def _mean(row: bytes | None) -> float | str | None:
    if row is None:
        return None
    try:
        return decode_row(row, SystemRow).mean
    except msgspec.DecodeError:
        return UNREADABLE
