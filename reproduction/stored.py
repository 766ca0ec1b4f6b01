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


class Group(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of cells that differ only in `repeat`.

    `repeats` is their number if they are numbered from 0. `constant` has the values that are the same in all of them.
    """

    cell: Cell
    repeats: list[int] | int
    measured: dict[str, list[Any]]
    constant: dict[str, Any] = {}


def store_results(name: str, results: Results) -> None:
    """Write the results of a section, with rounded numbers."""
    groups: dict[bytes, Group] = {}
    numbers: dict[bytes, list[int]] = {}
    for result in results.results:
        cell = {field: value for field, value in result.cell.items() if field != "repeat"}
        place = cell_key(cell) + msgspec.json.encode(sorted(result.measured))
        group = groups.setdefault(place, Group(cell, [], {field: [] for field in result.measured}))
        numbers.setdefault(place, []).append(result.cell.get("repeat", 0))
        for field, value in result.measured.items():
            group.measured[field].append(_round(value))
    RESULTS.mkdir(parents=True, exist_ok=True)
    lines = [
        msgspec.json.encode(results.head),
        *(msgspec.json.encode(_compact(group, numbers[place])) for place, group in groups.items()),
    ]
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
        numbers = range(group.repeats) if isinstance(group.repeats, int) else group.repeats
        for k, repeat in enumerate(numbers):
            measured = {field: values[k] for field, values in group.measured.items()}
            results.append(Result(group.cell | {"repeat": repeat}, group.constant | measured))
    return Results(head=msgspec.json.decode(head, type=ResultsHeader), results=tuple(results))


def _compact(group: Group, numbers: list[int]) -> Group:
    """Store the repeats as one number where possible, and a value once if several repeats have it in common."""
    same = {
        field
        for field, values in group.measured.items()
        if len(values) > 1 and all(value == values[0] for value in values)
    }
    return Group(
        cell=group.cell,
        repeats=len(numbers) if numbers == list(range(len(numbers))) else numbers,
        measured={field: values for field, values in group.measured.items() if field not in same},
        constant={field: group.measured[field][0] for field in group.measured if field in same},
    )


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, list):
        return [_round(each) for each in value]
    if isinstance(value, dict):
        return {name: _round(each) for name, each in value.items()}
    return value
