"""The interface of all match policies: from the state of a model to the next matches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.kernels import order
from streams.core.kernels.elementary import exp2
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.core.models import Model

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Match:
    """Two or more systems, by index, the reason for the match, and its expected information in bits."""

    systems: tuple[int, ...]
    why: str
    information: float


class Policy(ABC):
    """A way to choose matches. It has no state."""

    name: ClassVar[str]
    why: ClassVar[str]

    def choose(
        self,
        model: Model,
        *,
        candidates: Sequence[int],
        pending: Sequence[tuple[int, ...]],
        count: int,
        random: np.random.Generator,
        ways: int = 2,
        met: Ints | None = None,
    ) -> list[Match]:
        """Choose matches of `ways` systems among at least two candidates, one after the other.

        A match without an answer (pending or just chosen) already narrows the deviations of its systems, as its answer
        is expected to. So parallel judges do not all get the same pair. `met[a, b]` is how often a met b so far; a
        policy may ignore it. If the model requires a system, every match contains it, as the last one. If that system
        is not a candidate, there are no matches.
        """
        if ways < 2 or len(candidates) < 2:
            raise ParameterError(f"a match needs 2 systems or more, not {min(ways, len(candidates))}")
        required = model.required_system
        if required is not None and required not in candidates:
            return []
        systems = np.asarray(candidates, dtype=np.int64)
        place = {int(system): k for k, system in enumerate(systems)}
        mean, deviation = (values[systems] for values in model.scores())
        asked = None if met is None else met[np.ix_(systems, systems)].astype(np.float64)

        def await_answer(match: Sequence[int]) -> float:
            bits = 0.0
            for a, b in combinations(match, 2):
                gain = model.information(a, b)
                bits += gain
                # The bits are about both systems, or all about the one that meets the required system.
                share = 0.5 if required is None else 1.0
                for system in (a, b):
                    if system in place:
                        deviation[place[system]] *= exp2(-gain * share)
                if asked is not None and a in place and b in place:
                    asked[place[a], place[b]] += 1
                    asked[place[b], place[a]] += 1
            return bits

        for match in pending:
            await_answer(match)
        matches = []
        ways = min(ways, len(systems))
        told = np.zeros(len(systems)) if required is None else _information_about(model, systems, required)
        for _ in range(count):
            if required is None:
                picked = self.pick(mean, deviation, asked, ways=ways, random=random)
            else:
                worth = self.score_each(mean, deviation, told, random=random)
                worth[place[required]] = -np.inf
                picked = [*np.argsort(-worth, kind="stable")[: ways - 1].tolist(), place[required]]
            chosen = tuple(int(systems[k]) for k in picked)
            matches.append(Match(systems=chosen, why=self.why, information=await_answer(chosen)))
        return matches

    @abstractmethod
    def pick(
        self, mean: Floats, deviation: Floats, met: Floats | None, *, ways: int, random: np.random.Generator
    ) -> Sequence[int]:
        """Return the positions of one match's systems, from the candidates' means, deviations and meetings."""

    @abstractmethod
    def score_each(self, mean: Floats, deviation: Floats, told: Floats, *, random: np.random.Generator) -> Floats:
        """Return how much a match of each candidate with a required system is worth. The best ones are chosen.

        `told` is what one such match is expected to add to the precision of the candidate. The required system is one
        of the candidates, with deviation 0.
        """


def _information_about(model: Model, systems: Ints, required: int) -> Floats:
    """Return what a match of each system with the required one is expected to add to its precision 1 / s."""
    _, deviation = model.scores()
    bits = [0.0 if system == required else model.information(system, required) for system in systems.tolist()]
    told = np.array([1.0 - exp2(-2.0 * gain) for gain in bits])
    return told / np.maximum(deviation[systems] ** 2, order.KNOWN)
