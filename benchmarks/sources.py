"""The benchmarks behind docs/performance.md: which script measures which section, and how its output is read.

A script prints with `--json` a list of figures, or one object that has it as `figures`. To add a benchmark, add one
line to SOURCES.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    Source("files", "files.py", ("--growth", "10000000"), ("--rows", "100000", "--repeats", "1")),
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


def read_figures(text: str) -> list[Figure]:
    """Return the figures in the output of a script. Lines before the JSON object or list are ignored."""
    start = min(place for place in (text.find("{"), text.find("[{"), len(text)) if place >= 0)
    found = json.loads(text[start:])
    if isinstance(found, dict) and "sections" in found:
        found = [each for section in found["sections"].values() for each in section["figures"]]
    elif isinstance(found, dict):
        found = found["figures"]
    return msgspec.convert(found, list[Figure])


def merge_repeats(runs: Iterable[list[Figure]]) -> list[Figure]:
    """Return the figures of several runs of a script as one list, with the values of all runs."""
    merged: dict[tuple[str, float | None], Figure] = {}
    for figures in runs:
        for each in figures:
            key = (each.name, each.size)
            before = merged.get(key)
            merged[key] = each if before is None else msgspec.structs.replace(each, values=before.values + each.values)
    return list(merged.values())
