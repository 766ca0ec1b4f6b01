"""What every model is: state on arrays, updated by batches of judgments in the order of the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import msgspec
import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Axis = Literal["systems", "judges", "segments"]
Kind = Literal["rankings", "scores"]
Cell = tuple[int, int, int]  # a system on a segment by a judge


class Outcome(NamedTuple):
    """The probabilities of a's win, a tie and b's win."""

    win: float
    tie: float
    loss: float


@dataclass(frozen=True, kw_only=True)
class JudgmentBatch:
    """Judgments as arrays: the k-th is of systems[starts[k]:starts[k + 1]], by judges[k] on segments[k].

    Systems, judges and segments are indices that the campaign gave out in the order of its log. A ranking has its
    ranks (1 is best, equal is a tie); a direct assessment, of one system, has its score and no meaning in its rank.
    """

    systems: Ints
    ranks: Ints
    starts: Ints
    judges: Ints
    segments: Ints
    scores: Floats  # one a judgment; NaN in a ranking

    def __len__(self) -> int:
        return len(self.judges)

    @property
    def pairs(self) -> int:
        """Count the pairwise outcomes."""
        sizes = np.diff(self.starts)
        return int((sizes * (sizes - 1) // 2).sum())


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model's parameters: each model declares its own, with bounds and defaults."""


class Model(ABC):
    """An online model of one campaign.

    A row of state is `widths[axis]` floats for each system, judge or segment, and all rows are all of the state:
    `dump_row` and `load_row` keep every bit. A model may keep `cell_width` floats more for each distinct cell, a system
    on a segment by a judge; its state grows with these. `budget` is the number of judgments planned, `baseline` the
    index of the system that all others are compared with, where the campaign names one.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "rankings"
    parameters_type: ClassVar[type[Parameters]]
    widths: ClassVar[Mapping[Axis, int]]
    cell_width: ClassVar[int] = 0
    moves_all: ClassVar[bool] = False  # whether a judgment moves the scores of systems that it does not name

    def __init__(self, parameters: Parameters, *, budget: int | None = None) -> None:
        self.parameters = parameters
        self.budget = budget
        self.baseline: int | None = None

    @abstractmethod
    def grow(self, systems: int, judges: int, segments: int) -> None:
        """Make room for so many systems, judges and segments; new ones start at the prior."""

    @abstractmethod
    def apply(self, batch: JudgmentBatch) -> None:
        """Update with judgments, in order."""

    @abstractmethod
    def predict(self, a: int, b: int) -> Outcome:
        """Give the probabilities of the outcomes of a against b."""

    @abstractmethod
    def information(self, a: int, b: int) -> float:
        """Give the information, in bits, that a judgment of a against b is expected to bring about their ratings."""

    def segment_information(self, a: int, b: int) -> Floats | None:  # noqa: ARG002 - few models know of segments
        """Give what a typical judge's verdict on each segment tells about the gap of a and b, if segments matter."""
        return None

    @abstractmethod
    def scores(self) -> tuple[Floats, Floats]:
        """Give each system's mean and deviation."""

    @abstractmethod
    def dump_row(self, axis: Axis, index: int) -> tuple[float, ...]:
        """Give one row of state, exactly."""

    @abstractmethod
    def load_row(self, axis: Axis, index: int, row: tuple[float, ...]) -> None:
        """Put one row of state back, exactly."""

    def dump_cell(self, cell: Cell) -> tuple[float, ...]:
        """Give the state of a cell that was judged, exactly."""
        raise NotImplementedError(f"{self.name} keeps no cells, not even {cell}")

    def load_cell(self, cell: Cell, row: tuple[float, ...]) -> None:
        """Put the state of a cell back, exactly."""
        raise NotImplementedError(f"{self.name} keeps no cells, not even {cell}: {row}")


def grown(array: Floats, size: int, fill: float) -> Floats:
    """Give the array with room for at least `size`, doubling so that growing stays cheap.

    >>> grown(np.zeros(1), 2, 0.5).tolist()[:3]
    [0.0, 0.5, 0.5]
    """
    if size <= len(array):
        return array
    return np.append(array, np.full(max(size, 2 * len(array), 16) - len(array), fill))


def parameters_of(model: type[Model], values: Mapping[str, object]) -> Parameters:
    """Check parameters against what the model declares."""
    try:
        return msgspec.convert(values, model.parameters_type, strict=True)
    except msgspec.ValidationError as error:
        known = ", ".join(model.parameters_type.__struct_fields__)
        raise ParameterError(f"model {model.name!r}: {error}; its parameters: {known}") from None
