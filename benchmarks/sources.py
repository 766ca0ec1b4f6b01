"""The benchmarks behind docs/performance.md: which script measures which section, and how its output is read.

A script prints with `--json` one object with a list `figures`. Each figure has `name`, `unit`, and `value` or `values`;
the goal is `at_most` or `at_least` (or `most`, `least`). An object `results` of plain numbers is read, too. LABELS has
titles, units and goals for names that are not meant for readers. To add a benchmark, add one line to SOURCES.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from streams.bench.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Source:
    """A script of this folder, its options, and those for a quick run. `judgestream` runs the command instead."""

    section: str
    script: str
    options: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()
    repeats: int = 1  # for a script that measures once

    def command(self, *, quick: bool) -> list[str]:
        """Return the script with its options."""
        return [self.script, *(self.quick if quick else self.options), "--json"]


SOURCES = (
    Source(
        "stream",
        "stream.py",
        ("--prefix", "50000", "--plain", "5000"),
        quick=("--judgments", "200000", "--prefix", "20000", "--plain", "2000", "--repeats", "1"),
    ),
    Source("backlog", "backlog.py", quick=("--long", "500000", "--judgments", "300000", "--repeats", "1")),
    Source("latency", "latency.py", ("--seconds", "10", "--repeats", "3"), ("--seconds", "5", "--repeats", "1")),
    Source("campaigns", "many_campaigns.py", quick=("--campaigns", "200", "--seconds", "5")),
    Source("systems", "large_campaign.py", ("--seconds", "10"), ("--judgments", "50000", "--seconds", "5")),
    Source("files", "files.py", quick=("--quick",)),
    Source("wmt", "clusters.py", ("--repeats", "3"), ("--runs", "100", "--repeats", "1")),
    Source("growth", "growth.py", quick=("--most", "100000", "--repeats", "1")),
    Source(
        "embedded",
        "judgestream",
        ("bench", "--only", "embedded"),
        ("bench", "--only", "embedded", "--quick", "--repeats", "1"),
    ),
    Source(
        "rank",
        "judgestream",
        ("bench", "--only", "files"),
        ("bench", "--only", "files", "--quick", "--repeats", "1"),
    ),
    Source(
        "peers",
        "judgestream",
        ("bench", "--only", "peers", "--judgments", "200000"),
        ("bench", "--only", "peers", "--judgments", "20000", "--repeats", "1"),
    ),
)

# Plain numbers of benchmarks: title, unit, factor, and the most that they may be.
LABELS: dict[str, tuple[str, str, float, float | None]] = {
    "backlog_cpu_us": ("CPU at backlog", "µs per judgment", 1.0, None),
    "kilobytes_per_campaign": ("memory of a worker", "kB per campaign", 1.0, 150.0),
    "idle_share": ("CPU of an idle worker", "% of a core", 100.0, 1.0),
    "cpu_share": ("CPU at 50 judgments per second", "% of a core", 100.0, 15.0),
    "p50_seconds": ("publish to rating, p50", "ms", 1000.0, None),
    "p99_seconds": ("publish to rating, p99", "ms", 1000.0, None),
    "open_seconds": ("all partitions open after the group has settled", "s", 1.0, 5.0),
    "join_stall_seconds": ("longest wait while a worker joins", "s", 1.0, 3.0),
    "redis_bytes": ("bytes sent to Redis at 50 per second", "bytes per judgment", 1.0, 3000.0),
    "leave_stall_seconds": ("longest wait while a worker leaves", "s", 1.0, 3.0),
}


def read_figures(text: str) -> list[Figure]:
    """Return the figures in the output of a script. Lines before the JSON object or list are ignored."""
    start = min(place for place in (text.find("{"), text.find("[{"), len(text)) if place >= 0)
    found = json.loads(text[start:])
    if isinstance(found, dict):
        if "sections" in found:
            return [each for section in found["sections"].values() for each in map(_figure, section["figures"])]
        found = found.get("figures", found.get("results", []))
    if isinstance(found, dict):
        return [_labelled(name, value) for name, value in found.items()]
    return [_figure(each) for each in found]


def _figure(given: dict[str, Any]) -> Figure:
    name = str(given["name"])
    values = given.get("values", given.get("value", given.get("median")))
    if name in LABELS and isinstance(values, int | float):
        return _labelled(name, values)
    fields = {
        "name": name,
        "unit": str(given.get("unit", "")),
        "values": values if isinstance(values, list) else [values],
        "at_most": given.get("at_most", given.get("most")),
        "at_least": given.get("at_least", given.get("least")),
        "size": given.get("size"),
        "note": given.get("note", ""),
    }
    return msgspec.convert(fields, Figure)


def _labelled(name: str, value: float) -> Figure:
    title, unit, factor, most = LABELS.get(name, (name, "", 1.0, None))
    return Figure(name=title, unit=unit, values=(value * factor,), at_most=most)


def merge_repeats(runs: Iterable[list[Figure]]) -> list[Figure]:
    """Return the figures of several runs of a script as one list, with the values of all runs."""
    merged: dict[tuple[str, float | None], Figure] = {}
    for figures in runs:
        for each in figures:
            key = (each.name, each.size)
            before = merged.get(key)
            merged[key] = each if before is None else msgspec.structs.replace(each, values=before.values + each.values)
    return list(merged.values())
