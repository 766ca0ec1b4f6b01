"""What differs between two states of a campaign: what is stored, and what its log gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from streams.core.campaign.state import TABLES, SystemRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.campaign.state import StoredCampaign

UNREADABLE = "unreadable"


class TableDifference(Struct, frozen=True, kw_only=True):
    """Rows that the log gives and the store lacks, that only the store has, and that are not the same."""

    missing: int
    extra: int
    different: int

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra or self.different)


class Changed(Struct, frozen=True):
    """A value in the store and the one that the log gives."""

    stored: Any
    log: Any


class CampaignDifference(Struct, frozen=True, kw_only=True):
    """What differs in one campaign, with the means of the systems concerned; None where there is none."""

    campaign: str
    tables: dict[str, TableDifference]
    fields: dict[str, Changed]
    means: dict[str, Changed]


class PartitionReport(Struct, frozen=True, kw_only=True):
    """What a rebuild found on a partition, and whether it swapped the differences away."""

    partition: str
    records: int
    campaigns: int
    head: dict[str, Changed]
    differences: tuple[CampaignDifference, ...]
    swapped: bool


class Report(Struct, frozen=True, kw_only=True):
    """What a rebuild found."""

    dry_run: bool
    partitions: tuple[PartitionReport, ...]

    @property
    def differs(self) -> bool:
        """Say whether anything was not as the log says."""
        return any(partition.head or partition.differences for partition in self.partitions)

    @property
    def other_judges(self) -> bool:
        """Say whether it looks as if only the key of the pseudonyms were another one."""
        tables = [found.tables for partition in self.partitions for found in partition.differences]
        return any("judges" in found and found["judges"].missing == found["judges"].extra > 0 for found in tables)


def compare(campaign: str, stored: StoredCampaign | None, log: StoredCampaign | None) -> CampaignDifference | None:
    """Compare two states row by row; match requests that are out and outboxes do not count."""
    old, new = _tables(stored), _tables(log)
    tables = {table: rows for table in new if (rows := _compared(old[table], new[table]))}
    before, after = _fields(stored), _fields(log)
    fields = {
        name: Changed(before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }
    if not tables and not fields:
        return None
    means = {
        system: Changed(_mean(old["systems"].get(system)), _mean(new["systems"].get(system)))
        for system in sorted(old["systems"].keys() | new["systems"].keys())
        if old["systems"].get(system) != new["systems"].get(system)
    }
    return CampaignDifference(campaign=campaign, tables=tables, fields=fields, means=means)


def compare_heads(stored: Mapping[str, str], log: Mapping[str, str]) -> dict[str, Changed]:
    """Compare the heads of a partition: where it is, and how many records it has read and rejected."""
    names = ("offset", "read", "rejected", "mark")
    return {name: Changed(stored.get(name), log.get(name)) for name in names if stored.get(name) != log.get(name)}


def _tables(found: StoredCampaign | None) -> dict[str, Mapping[str, Any]]:
    if found is None:
        return {table: {} for table in (*TABLES, "seen", "leaderboard")}
    seen = {name: place for place, name in enumerate(found.seen)}
    return {**found.tables, "seen": seen, "leaderboard": found.scores}


def _compared(stored: Mapping[str, Any], log: Mapping[str, Any]) -> TableDifference:
    both = stored.keys() & log.keys()
    return TableDifference(
        missing=len(log) - len(both),
        extra=len(stored) - len(both),
        different=sum(stored[name] != log[name] for name in both),
    )


def _fields(found: StoredCampaign | None) -> dict[str, Any]:
    """Give the fields of the meta; the counts each by its name."""
    if found is None:
        return {}
    try:
        meta: dict[str, Any] = msgspec.json.decode(found.meta, type=dict[str, Any])
    except msgspec.DecodeError:
        return {"meta": UNREADABLE}
    for name in ("layout", "outstanding"):
        meta.pop(name, None)
    counts = meta.pop("counts", None)
    return meta | (counts if isinstance(counts, dict) else {"counts": counts})


def _mean(row: bytes | None) -> float | str | None:
    if row is None:
        return None
    try:
        return msgspec.json.decode(row, type=SystemRow).mean
    except msgspec.DecodeError:
        return UNREADABLE
