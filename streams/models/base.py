"""What every model is: state on arrays, updated by batches of rankings in the order of the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import msgspec
import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Outcome(NamedTuple):
    """The probabilities of a's win, a tie and b's win."""

    win: float
    tie: float
    loss: float


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rankings as arrays: the k-th ranks systems[starts[k]:starts[k + 1]], by judges[k] on segments[k].

    Systems, judges and segments are indices that the campaign gave out in the order of its log.
    """

    systems: Ints
    ranks: Ints
    starts: Ints
    judges: Ints
    segments: Ints

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

    A row of state per system is a fixed number of floats, `width`; `dump_row` and `load_row` keep every bit.
    """

    name: ClassVar[str]
    parameters_type: ClassVar[type[Parameters]]
    width: ClassVar[int]

    @abstractmethod
    def __init__(self, parameters: Parameters) -> None: ...

    @abstractmethod
    def grow(self, systems: int, judges: int, segments: int) -> None:
        """Make room for so many systems, judges and segments; new ones start at the prior."""

    @abstractmethod
    def apply(self, batch: Batch) -> None:
        """Update with rankings, in order."""

    @abstractmethod
    def predict(self, a: int, b: int) -> Outcome:
        """Give the probabilities of the outcomes of a against b."""

    @abstractmethod
    def information(self, a: int, b: int) -> float:
        """Give the information, in bits, that one judgment of a against b is expected to bring about their ratings."""

    @abstractmethod
    def scores(self) -> tuple[Floats, Floats]:
        """Give each system's mean and deviation."""

    @abstractmethod
    def dump_row(self, system: int) -> tuple[float, ...]:
        """Give a system's state, exactly."""

    @abstractmethod
    def load_row(self, system: int, row: tuple[float, ...]) -> None:
        """Put a system's state back, exactly."""


def parameters_of(model: type[Model], values: Mapping[str, object]) -> Parameters:
    """Check parameters against what the model declares."""
    try:
        return msgspec.convert(values, model.parameters_type, strict=True)
    except msgspec.ValidationError as error:
        known = ", ".join(model.parameters_type.__struct_fields__)
        raise ParameterError(f"model {model.name!r}: {error}; its parameters: {known}") from None
