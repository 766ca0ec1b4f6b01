"""Results in the repository: one entry for all repeats of a cell, with the numbers in columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from streams.errors import JudgestreamError
from streams.lab.running.base import Cell, Result
from streams.lab.running.results import Results, ResultsHeader, cell_key

RESULTS = Path(__file__).parent / "results"
DIGITS = 5


class Group(msgspec.Struct, frozen=True):
    """The results of cells that differ only in `repeat`."""

    cell: Cell
    repeats: list[int]
    measured: dict[str, list[Any]]


def store_results(name: str, results: Results) -> None:
    """Write the results of a section, with rounded numbers."""
    groups: dict[bytes, Group] = {}
    for result in results.results:
        cell = {field: value for field, value in result.cell.items() if field != "repeat"}
        place = cell_key(cell) + msgspec.json.encode(sorted(result.measured))
        group = groups.setdefault(place, Group(cell, [], {field: [] for field in result.measured}))
        group.repeats.append(result.cell.get("repeat", 0))
        for field, value in result.measured.items():
            group.measured[field].append(_round(value))
    RESULTS.mkdir(parents=True, exist_ok=True)
    lines = [msgspec.json.encode(results.head), *(msgspec.json.encode(group) for group in groups.values())]
    (RESULTS / f"{name}.jsonl").write_bytes(b"\n".join([*lines, b""]))


def read_results(name: str) -> Results:
    """Read the results of a section, in order of repeats within each group."""
    try:
        head, *groups = (RESULTS / f"{name}.jsonl").read_bytes().splitlines()
    except FileNotFoundError:
        raise JudgestreamError(f"{name}: no results in {RESULTS}; run python -m reproduction") from None
    results = []
    for line in groups:
        group = msgspec.json.decode(line, type=Group)
        for k, repeat in enumerate(group.repeats):
            measured = {field: values[k] for field, values in group.measured.items()}
            results.append(Result(group.cell | {"repeat": repeat}, measured))
    return Results(head=msgspec.json.decode(head, type=ResultsHeader), results=tuple(results))


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, list):
        return [_round(each) for each in value]
    if isinstance(value, dict):
        return {name: _round(each) for name, each in value.items()}
    return value
