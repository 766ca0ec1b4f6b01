"""How a benchmark prints its figures: as a table, or as one JSON object that `performance.py` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.bench.figures import Figure
from streams.bench.machine import describe_machine
from streams.bench.tables import rows

if TYPE_CHECKING:
    from collections.abc import Sequence


def measured(
    name: str, value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None
) -> Figure:
    """Return a figure that was measured once."""
    return Figure(name=name, unit=unit, values=(value,), at_most=at_most, at_least=at_least)


def emit(figures: Sequence[Figure], *, as_json: bool) -> None:
    """Print figures with the machine."""
    if as_json:
        print(msgspec.json.encode({"machine": describe_machine(), "figures": figures}).decode())
        return
    print(f"{describe_machine().describe()}; servers and workers share it\n")
    for name, median, spread, goal, verdict in rows(figures):
        print(f"{name:64} {median:>26}  {spread:24} {goal:18} {verdict.strip('*')}".rstrip())
