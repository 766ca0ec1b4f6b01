"""What every match policy is: from a model's state to the pairs most worth judging next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from streams.models import Model


@dataclass(frozen=True, kw_only=True)
class Match:
    """Two systems, by index, why they should meet, and the information, in bits, that is expected of it."""

    systems: tuple[int, int]
    why: str
    information: float


class Policy(ABC):
    """A way to choose matches; it holds no state of its own."""

    name: ClassVar[str]

    @abstractmethod
    def choose(
        self,
        model: Model,
        *,
        candidates: Sequence[int],
        pending: Sequence[tuple[int, ...]],
        count: int,
        random: np.random.Generator,
    ) -> list[Match]:
        """Choose matches among at least two candidates, knowing the pending ones, whose answers are not in yet."""
