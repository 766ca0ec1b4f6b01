"""The interface of all experiments: options, independent units of work (cells), tables and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.lab.running.log import Log
    from streams.lab.running.tables import ResultTable

Cell = dict[str, Any]  # JSON values only
Repeats = Annotated[int, Meta(ge=1, le=100_000)]
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Size = Annotated[int, Meta(ge=1, le=10**9)]


class Result(Struct, frozen=True):
    """A cell and its measurements."""

    cell: Cell
    measured: dict[str, Any]


class Experiment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An experiment with its options. Each option is a field with bounds and a default.

    An experiment is split into cells, which can be measured in any order, on any core and at any time. Apart from the
    log, a cell holds everything that its measurement depends on. So results stay valid when options change.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    needs: ClassVar[str] = "rankings of two systems or more"

    repeats: Repeats = 10
    seed: Seed = 1

    def cells(self, log: Log) -> list[Cell]:
        """Return the units of work, or raise ParameterError if the log lacks something."""
        raise NotImplementedError

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Measure one cell. The runner calls it on the experiment with defaults, so that only the cell matters."""
        raise NotImplementedError

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return the tables of results, which are in the order of the cells."""
        raise NotImplementedError

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw results on an empty figure."""
        raise NotImplementedError


def options_of(experiment: Experiment) -> dict[str, Any]:
    """Return the options as JSON values."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(experiment))
    return found
