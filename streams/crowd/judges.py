"""The judges of a simulated crowd: how they answer, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING

from streams.core.models import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

RANDOM_ANSWER = Outcome(1 / 3, 1 / 3, 1 / 3)

# The median seconds of a judgment differ between judges as exp(N(log TYPICAL, SPREAD)). Careless judges are faster.
TYPICAL_SECONDS = 22.0
SPREAD_OF_JUDGES = 0.35
SPREAD_OF_JUDGMENTS = 0.5
HASTE = 0.7
SLOWNESS = 5.0
BIAS = 0.5

# Judges use a range of scores differently. Leniency is normal; spread and noise differ as exp(N(0, SPREAD_OF_SCALES)).
SPREAD_OF_LENIENCY = 0.6
SPREAD_OF_SCALES = 0.3
QUALITIES_IN_RANGE = 6.0  # a range of scores holds qualities from -3 to 3


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One judge. `carelessness` is the share of answers that are random.

    With probability `bias`, the `favourite` is ranked first, if it is shown. Without a favourite, the system that is
    shown first is ranked first. A `contrary` judge gives the opposite of every answer.

    Scores differ between judges too: `leniency` shifts them, `spread` stretches them, and `noise` is their deviation
    around the quality of a system. The unit is the deviation of the outputs of one system.

    >>> import numpy as np
    >>> Judge(id="judge-1").ranks(Outcome(win=1.0, tie=0.0, loss=0.0), random=np.random.default_rng(1))
    (1, 2)
    """

    id: str
    carelessness: float = 0.0
    seconds: float = TYPICAL_SECONDS
    bias: float = 0.0
    favourite: str | None = None
    contrary: bool = False
    leniency: float = 0.0
    spread: float = 1.0
    noise: float = 1.0

    def ranks(self, outcome: Outcome, *, random: np.random.Generator) -> tuple[int, int]:
        """Return the ranks of two systems. `outcome` has the probabilities that the first one wins, ties or loses."""
        careful = random.random() >= self.carelessness
        win, tie, _ = outcome if careful else RANDOM_ANSWER
        drawn = random.random()
        if drawn < win:
            return 1, 2
        return (1, 1) if drawn < win + tie else (2, 1)

    def rank(
        self, systems: Sequence[str], outcome: Callable[[str, str], Outcome], *, random: np.random.Generator
    ) -> tuple[int, ...]:
        """Return the ranks of systems by points, from matches of each against each: one for a win, a half for a tie."""
        if len(systems) == 2:
            ranks: Sequence[int] = self.ranks(outcome(*systems), random=random)
        else:
            points = dict.fromkeys(systems, 0)
            for a, b in combinations(systems, 2):
                first, second = self.ranks(outcome(a, b), random=random)
                points[a] += 1 + (first < second) - (first > second)
                points[b] += 1 + (second < first) - (second > first)
            ranks = _places([-points[system] for system in systems])
        if self.bias and random.random() < self.bias:
            best = systems[0] if self.favourite is None else self.favourite
            ranks = _places([0 if system == best else rank for system, rank in zip(systems, ranks, strict=True)])
        return _places([-rank for rank in ranks]) if self.contrary else tuple(ranks)

    def score(self, system: str, quality: float, *, score_range: Sequence[float], random: np.random.Generator) -> float:
        """Return a score for an output of a system. The quality 0 is in the middle of the range."""
        seen = self.leniency + self.spread * (quality + self.noise * random.normal())
        share = min(1.0, max(0.0, 0.5 + seen / QUALITIES_IN_RANGE))
        if random.random() < self.carelessness:
            share = random.random()
        if self.favourite == system and random.random() < self.bias:
            share = 1.0
        low, high = score_range
        return min(high, low + (high - low) * (1.0 - share if self.contrary else share))

    def duration_ms(self, *, random: np.random.Generator) -> int:
        """Return a random duration of one judgment."""
        return round(1000 * self.seconds * random.lognormal(0.0, SPREAD_OF_JUDGMENTS))


def _places(values: Sequence[int]) -> tuple[int, ...]:
    """Return the places of values, from the smallest. Equal values have the same place.

    >>> _places([-4, 0, -4, -2])
    (1, 3, 1, 2)
    """
    places = {value: place for place, value in enumerate(sorted(set(values)), start=1)}
    return tuple(places[value] for value in values)


def recruit(
    count: int,
    *,
    careless: float,
    slow: float = 0.0,
    biased: float = 0.0,
    adversarial: float = 0.0,
    favourite: str | None = None,
    random: np.random.Generator,
) -> tuple[Judge, ...]:
    """Return `count` judges. The shares say how many of them are careless in every answer, slow, biased or contrary.

    >>> import numpy as np
    >>> [judge.carelessness for judge in recruit(2, careless=0.5, random=np.random.default_rng(1))]
    [1.0, 0.0]
    """
    order = iter(random.permutation(count).tolist())
    kinds = {
        number: kind
        for kind, share in (("careless", careless), ("slow", slow), ("biased", biased), ("adversarial", adversarial))
        for number in islice(order, round(share * count))
    }
    paces = TYPICAL_SECONDS * random.lognormal(0.0, SPREAD_OF_JUDGES, size=count)
    (scales,) = random.spawn(1)  # does not advance `random`, so that judges who rank answer as they did without it
    return tuple(
        Judge(
            id=f"judge-{number + 1}",
            carelessness=float(kind == "careless"),
            seconds=float(pace) * {"careless": HASTE, "slow": SLOWNESS}.get(kind, 1.0),
            bias=BIAS if kind == "biased" else 0.0,
            favourite=favourite if kind == "biased" else None,
            contrary=kind == "adversarial",
            leniency=float(scales.normal(0.0, SPREAD_OF_LENIENCY)),
            spread=float(scales.lognormal(0.0, SPREAD_OF_SCALES)),
            noise=float(scales.lognormal(0.0, SPREAD_OF_SCALES)),
        )
        for number, pace in enumerate(paces)
        for kind in (kinds.get(number, ""),)
    )
