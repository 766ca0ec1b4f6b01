"""The figures of a benchmark: a flat list, each with its unit and its goal."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Figure:
    """A measured value. The goal is the most that it may be, or the least."""

    name: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Return whether the goal is met, or None if there is none."""
        if self.most is None and self.least is None:
            return None
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    def __str__(self) -> str:
        most = "" if self.most is None else f"at most {self.most:g}"
        bound = most if self.least is None else f"at least {self.least:g}"
        result = {None: "", True: "met", False: "MISSED"}[self.is_met]
        return f"{self.name:44} {self.value:>12,.3f} {self.unit:<16} {bound:<18} {result}".rstrip()


def show(machine: str, figures: list[Figure], *, as_json: bool) -> None:
    """Print the figures, one per line or as one JSON object."""
    if as_json:
        print(json.dumps({"machine": machine, "figures": [asdict(each) | {"met": each.is_met} for each in figures]}))
        return
    print(f"{machine}; broker, Redis, platform and workers share it\n")
    for each in figures:
        print(each)
