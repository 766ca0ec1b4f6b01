"""Requests for scores: which system to score next, and on which segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.kernels import order
from streams.core.kernels.elementary import exp2
from streams.core.matching.base import Match

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.core.matching.base import Floats, Ints
    from streams.core.models import Model


class Prospects:
    """What is known of each candidate, once every expected score has arrived."""

    def __init__(self, model: Model, candidates: Sequence[int], pending: Sequence[int]) -> None:
        self._model = model
        self._systems = list(candidates)
        self.mean, self.deviation = (values[self._systems] for values in model.scores())
        # A second score on a segment does not narrow the error over segments. Without this a system with a wide error
        # would get every request once all segments are scored.
        self.deviation /= np.sqrt([model.scores_per_segment(system) for system in self._systems])
        self._expected = [0] * len(self._systems)
        self.gain = np.array([model.score_information(system) for system in self._systems])
        places = {system: place for place, system in enumerate(self._systems)}
        for system in pending:
            if system in places:
                self.expect(places[system])

    def expect(self, place: int) -> float:
        """Narrow a candidate's deviation as its next score is expected to. Return the information in bits."""
        gain = float(self.gain[place])
        self.deviation[place] *= exp2(-gain)
        self._expected[place] += 1
        self.gain[place] = self._model.score_information(self._systems[place], expected=self._expected[place])
        return gain


def _any(prospects: Prospects, random: np.random.Generator) -> Floats:
    return random.random(len(prospects.mean))


def _widest(prospects: Prospects, random: np.random.Generator) -> Floats:  # noqa: ARG001
    return prospects.deviation


def _clearest(prospects: Prospects, random: np.random.Generator) -> Floats:  # noqa: ARG001
    """Return by how much the next score of each system clarifies the order.

    A score of g bits reduces the variance s by s (1 - 4^-g). `blur` is s² times the slope of the order's errors.
    """
    variance = prospects.deviation**2
    slope = order.blur(order.distances(prospects.mean, variance), variance) / variance**2
    narrowed = np.array([1.0 - exp2(-2.0 * gain) for gain in prospects.gain.tolist()])
    worth: Floats = variance * narrowed * slope
    return worth


# What each policy maximises, and the reason that a request names.
RULES: Mapping[str, tuple[Callable[[Prospects, np.random.Generator], Floats], str]] = {
    "uniform": (_any, "any system, by chance"),
    "variance": (_widest, "least known system"),
    "information": (_clearest, "its score tells most about the order"),
}


def choose_systems(
    policy: str,
    model: Model,
    *,
    candidates: Sequence[int],
    pending: Sequence[int],
    count: int,
    random: np.random.Generator,
) -> list[Match]:
    """Choose systems to score, one after the other. Among equal ones, the one with the fewest scores comes first.

    `pending` are the systems of outstanding requests, one per request.

    >>> from streams.core.models import create
    >>> model = create("assessment", {})
    >>> model.grow(3, 0, 0)
    >>> matches = choose_systems(
    ...     "variance", model, candidates=[0, 1, 2], pending=[0], count=3, random=np.random.default_rng(1)
    ... )
    >>> [match.systems for match in matches]
    [(1,), (2,), (0,)]
    """
    value, why = RULES[policy]
    prospects = Prospects(model, candidates, pending)
    matches = []
    for _ in range(count):
        # The next score of a system adds less, the more scores it has: the largest gain has the fewest.
        place = int(np.lexsort((-prospects.gain, -value(prospects, random)))[0])
        matches.append(Match(systems=(candidates[place],), why=why, information=prospects.expect(place)))
    return matches


def choose_output(counts: Ints, *, is_listed: bool) -> int | None:
    """Return the segment on which a system has the fewest scores, the first among equals, or None.

    All systems go through the segments in the same order, so that hard segments do not make one system look worse. If
    the campaign lists no segments (`is_listed`) and each known one has a score, the platform may choose a new one.

    >>> choose_output(np.array([1, 0, 0]), is_listed=False), choose_output(np.array([1, 1]), is_listed=False)
    (1, None)
    >>> choose_output(np.array([2, 1]), is_listed=True)
    1
    """
    if not len(counts) or (not is_listed and counts.min() > 0):
        return None
    return int(np.argmin(counts))
