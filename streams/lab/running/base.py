"""What every experiment is: options, independent units of work, and the tables and plots made of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.lab.running.log import Log
    from streams.lab.running.tables import ResultTable

Cell = dict[str, Any]  # what can stand in JSON
Repeats = Annotated[int, Meta(ge=1, le=100_000)]
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Size = Annotated[int, Meta(ge=1, le=10**9)]


class Result(Struct, frozen=True):
    """A cell, and what was measured in it."""

    cell: Cell
    measured: dict[str, Any]


class Experiment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An experiment with its options, that its fields declare with bounds and defaults.

    It is taken apart into cells that can be measured in any order, on any core, today or tomorrow: a cell holds all
    that its measurement depends on but the log, so that the results of other cells stay good when options change.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    needs: ClassVar[str] = "rankings of two systems or more"

    repeats: Repeats = 10
    seed: Seed = 1

    def cells(self, log: Log) -> list[Cell]:
        """Give the units of work; ParameterError says what the log lacks."""
        raise NotImplementedError

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Measure one cell; it is asked of the experiment with its defaults, so that only the cell can matter."""
        raise NotImplementedError

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Put results together; they come in the order of the cells."""
        raise NotImplementedError

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw results on an empty figure."""
        raise NotImplementedError


def options_of(experiment: Experiment) -> dict[str, Any]:
    """Give the options as they stand in JSON."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(experiment))
    return found
