"""The interface of all match policies: from the state of a campaign to the next matches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
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

    Flags = NDArray[np.bool_]
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


def no_meetings(size: int) -> Meetings:
    """Return the outcomes of systems that have not met."""
    return Meetings(*np.zeros((2, size, size), np.int64))


class Pick(NamedTuple):
    """The systems of a match, by index, and the reason."""

    systems: Sequence[int]
    why: str


class Candidates:
    """The systems that may be matched, and what is known about them once every outstanding request is answered.

    A match without an answer already narrows the deviations of its systems, as its answer is expected to.
    """

    def __init__(self, model: Model, systems: Sequence[int], meetings: Meetings | None) -> None:
        self.systems = systems
        self.meetings = meetings
        self.place = {system: k for k, system in enumerate(systems)}
        self._pairs: list[tuple[int, int]] = []  # of requests without an answer
        self._narrowed = 0  # number of these pairs that have narrowed the deviations
        self._model = model

    def expect(self, match: Sequence[int]) -> None:
        """Take note of a match that has no answer yet."""
        self._pairs += combinations(match, 2)

    def count_asked(self, size: int) -> Ints:
        """Return how often each two candidates are in requests without an answer, by the indices of all systems."""
        asked: Ints = np.zeros((size, size), np.int64)
        place = self.place
        for a, b in self._pairs:
            if a in place and b in place:
                asked[a, b] += 1
                asked[b, a] += 1
        return asked

    @cached_property
    def mean(self) -> Floats:
        """The means."""
        return self._scores[0]

    @property
    def deviation(self) -> Floats:
        """The deviations. They are narrowed when a policy asks for them, because the default policy does not."""
        deviation, new = self._scores[1], self._pairs[self._narrowed :]
        self._narrowed = len(self._pairs)
        # The bits are about both systems, or all about the one that meets the required system.
        share = 0.5 if self._model.required_system is None else 1.0
        for (a, b), gain in zip(new, self._model.informations(new), strict=True):
            for system in (a, b):
                if system in self.place:
                    deviation[self.place[system]] *= exp2(-gain * share)
        return deviation

    @cached_property
    def _scores(self) -> tuple[Floats, Floats]:
        mean, deviation = self._model.scores()
        return mean[self.systems], deviation[self.systems]


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
            picks = self.picks(field, count=count, ways=ways, random=random)
        else:
            told = _information_about(model, candidates, required)
            picks = self._picks_against(field, told, required, ways, random)
        chosen = []
        for pick in islice(picks, count):
            chosen.append(pick)
            field.expect(pick.systems)
        bits = model.informations([pair for pick in chosen for pair in combinations(pick.systems, 2)])
        pairs = ways * (ways - 1) // 2
        return [
            Match(systems=tuple(systems), why=why, information=sum(bits[pairs * k : pairs * (k + 1)]))
            for k, (systems, why) in enumerate(chosen)
        ]

    @abstractmethod
    def picks(self, field: Candidates, *, count: int, ways: int, random: np.random.Generator) -> Iterator[Pick]:
        """Yield `count` matches or more, one after the other. The field expects each match before the next one."""

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
            best = np.argsort(-worth, kind="stable")[: ways - 1].tolist()
            yield Pick([*(field.systems[k] for k in best), required], self.why)


def _information_about(model: Model, systems: Sequence[int], required: int) -> Floats:
    """Return what a match of each system with the required one is expected to add to its precision 1 / s."""
    _, deviation = model.scores()
    bits = [0.0 if system == required else model.information(system, required) for system in systems]
    told = np.array([1.0 - exp2(-2.0 * gain) for gain in bits])
    return told / np.maximum(deviation[systems] ** 2, order.KNOWN)
