"""The results of benchmarks: figures with their goals, by section, with the machine that they were measured on."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from streams.bench.machine import Machine  # noqa: TC001  # msgspec reads the annotations
from streams.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable

LAYOUT = 1  # of the JSON object


class Figure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measured quantity. `values` has one value per repeat.

    >>> figure = Figure(name="worker", unit="µs", values=(4.0, 3.0, 9.0), at_most=5.0)
    >>> figure.median, figure.spread, figure.is_met
    (4.0, (3.0, 9.0), True)
    """

    name: str
    unit: str
    values: tuple[float, ...]
    at_most: float | None = None  # the goal
    at_least: float | None = None
    size: float | None = None  # what is varied: the figures of one name are a curve
    note: str = ""

    @property
    def median(self) -> float:
        """The median of the repeats."""
        return median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest value. With few repeats, quartiles would say less."""
        return min(self.values), max(self.values)

    @property
    def is_met(self) -> bool | None:
        """Whether the median reaches the goal, or None without a goal."""
        if self.at_most is None and self.at_least is None:
            return None
        most, least = self.at_most, self.at_least
        return (most is None or self.median <= most) and (least is None or self.median >= least)


class Section(Struct, frozen=True, kw_only=True):
    """The figures of one benchmark. They were measured in one go."""

    machine: Machine
    measured_at: str  # ISO 8601
    figures: tuple[Figure, ...]
    quick: bool = False  # shorter and less exact than the full benchmark
    seconds: float = 0.0  # that the benchmark took

    def find(self, name: str, *, size: float | None = None) -> Figure:
        """Return the figure of a name and a size. Raise KeyError if there is none."""
        for figure in self.figures:
            if figure.name == name and (size is None or figure.size == size):
                return figure
        raise KeyError(name)

    def curve(self, name: str) -> list[Figure]:
        """Return the figures of a name by size."""
        return sorted((each for each in self.figures if each.name == name), key=lambda each: each.size or 0.0)


class BenchResults(Struct, frozen=True, kw_only=True):
    """The sections of all benchmarks, by name. This is the JSON object that benchmarks write."""

    sections: dict[str, Section]
    layout: int = LAYOUT

    def encode(self) -> bytes:
        """Return the results as JSON with one figure per line, so that a change is readable."""
        sections = []
        for name, section in self.sections.items():
            about = msgspec.json.encode(msgspec.structs.replace(section, figures=())).removesuffix(b"}")
            figures = b",\n".join(b"  " + msgspec.json.encode(figure) for figure in section.figures)
            head = about.replace(b',"figures":[]', b"")
            sections.append(msgspec.json.encode(name) + b":" + head + b',"figures":[\n' + figures + b"\n]}")
        return b'{"layout":%d,"sections":{\n%s\n}}\n' % (self.layout, b",\n".join(sections))

    @classmethod
    def decode(cls, data: bytes, *, place: str) -> BenchResults:
        """Read results. Raise FormatError with the place if they are none."""
        try:
            found = msgspec.json.decode(data, type=cls)
        except msgspec.DecodeError as error:
            raise FormatError(f"{place}: not results of a benchmark: {error}") from None
        if found.layout != LAYOUT:
            raise FormatError(f"{place}: results of layout {found.layout}; this version reads layout {LAYOUT}")
        return found


def missed(figures: Iterable[Figure]) -> list[Figure]:
    """Return the figures that do not reach their goals."""
    return [figure for figure in figures if figure.is_met is False]
