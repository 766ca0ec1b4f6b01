"""The interface of all match policies: from the state of a campaign to the next matches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from streams.core.kernels import order
from streams.core.kernels.elementary import exp2
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


class Meetings(NamedTuple):
    """The outcomes of each pair of systems, by index: wins[a, b] of a over b, and ties on both sides."""

    wins: Ints
    ties: Ints


class Pick(NamedTuple):
    """The systems of a match, by their positions among the candidates, and the reason."""

    places: Sequence[int]
    why: str


class Candidates:
    """The systems that may be matched, and what is known about them once every outstanding request is answered.

    A match without an answer already narrows the deviations of its systems, as its answer is expected to.
    """

    def __init__(self, model: Model, systems: Sequence[int], meetings: Meetings | None) -> None:
        self.systems = np.asarray(systems, dtype=np.int64)
        self.mean, self._deviation = (values[self.systems] for values in model.scores())
        if meetings is None:
            nothing = np.zeros((len(model.scores()[0]),) * 2, np.int64)
            meetings = Meetings(nothing, nothing)
        self.meetings = meetings
        self.place = {int(system): k for k, system in enumerate(self.systems)}
        self.asked: Ints = np.zeros((len(self.systems),) * 2, np.int64)  # requests without an answer, by pair
        self._expected: list[tuple[int, int]] = []  # pairs that have not narrowed the deviations yet
        self._model = model

    def expect(self, match: Sequence[int]) -> None:
        """Take note of a match that has no answer yet."""
        for a, b in combinations(match, 2):
            self._expected.append((a, b))
            if a in self.place and b in self.place:
                i, j = self.place[a], self.place[b]
                self.asked[i, j] += 1
                self.asked[j, i] += 1

    def information(self, match: Sequence[int]) -> float:
        """Return the expected information of a match in bits."""
        return sum(self._model.information(a, b) for a, b in combinations(match, 2))

    @property
    def deviation(self) -> Floats:
        """The deviations. They are narrowed when a policy asks for them, because the default policy does not."""
        # The bits are about both systems, or all about the one that meets the required system.
        share = 0.5 if self._model.required_system is None else 1.0
        for a, b in self._expected:
            gain = self._model.information(a, b)
            for system in (a, b):
                if system in self.place:
                    self._deviation[self.place[system]] *= exp2(-gain * share)
        self._expected.clear()
        return self._deviation


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
        meetings: Meetings | None = None,
    ) -> list[Match]:
        """Choose matches of `ways` systems among at least two candidates, one after the other.

        A match without an answer (pending or just chosen) counts as expected, so parallel judges do not all get the
        same pair. A policy may ignore the `meetings` so far. If the model requires a system, every match contains it,
        as the last one. If that system is not a candidate, there are no matches.
        """
        if ways < 2 or len(candidates) < 2:
            raise ParameterError(f"a match needs 2 systems or more, not {min(ways, len(candidates))}")
        required = model.required_system
        if required is not None and required not in candidates:
            return []
        field = Candidates(model, candidates, meetings)
        for match in pending:
            field.expect(match)
        ways = min(ways, len(candidates))
        if required is None:
            picks = self.picks(field, ways=ways, random=random)
        else:
            picks = self._picks_against(
                field, _information_about(model, field.systems, required), required, ways, random
            )
        matches = []
        for places, why in islice(picks, count):
            chosen = tuple(int(field.systems[k]) for k in places)
            matches.append(Match(systems=chosen, why=why, information=field.information(chosen)))
            field.expect(chosen)
        return matches

    @abstractmethod
    def picks(self, field: Candidates, *, ways: int, random: np.random.Generator) -> Iterator[Pick]:
        """Yield one match after the other, without end. The field expects each match before the next one."""

    @abstractmethod
    def score_each(self, mean: Floats, deviation: Floats, told: Floats, *, random: np.random.Generator) -> Floats:
        """Return how much a match of each candidate with a required system is worth. The best ones are chosen.

        `told` is what one such match is expected to add to the precision of the candidate. The required system is one
        of the candidates, with deviation 0.
        """

    def _picks_against(
        self, field: Candidates, told: Floats, required: int, ways: int, random: np.random.Generator
    ) -> Iterator[Pick]:
        """Yield matches with a required system, which is the last one."""
        last = field.place[required]
        while True:
            worth = self.score_each(field.mean, field.deviation, told, random=random)
            worth[last] = -np.inf
            yield Pick([*np.argsort(-worth, kind="stable")[: ways - 1].tolist(), last], self.why)


def _information_about(model: Model, systems: Ints, required: int) -> Floats:
    """Return what a match of each system with the required one is expected to add to its precision 1 / s."""
    _, deviation = model.scores()
    bits = [0.0 if system == required else model.information(system, required) for system in systems.tolist()]
    told = np.array([1.0 - exp2(-2.0 * gain) for gain in bits])
    return told / np.maximum(deviation[systems] ** 2, order.KNOWN)
