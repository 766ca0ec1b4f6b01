"""The judges of a simulated crowd: who looks, who does not, and how long each takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.models import Outcome

if TYPE_CHECKING:
    import numpy as np

WITHOUT_LOOKING = Outcome(1 / 3, 1 / 3, 1 / 3)

# The median seconds of a judgment differ between judges as exp(N(log TYPICAL, SPREAD)); who does not look is faster.
TYPICAL_SECONDS = 22.0
SPREAD_OF_JUDGES = 0.35
SPREAD_OF_JUDGMENTS = 0.5
HASTE = 0.7


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One judge, under a pseudonym; `carelessness` is the share of answers that are drawn without looking.

    >>> import numpy as np
    >>> Judge(id="judge-1").ranks(Outcome(win=1.0, tie=0.0, loss=0.0), random=np.random.default_rng(1))
    (1, 2)
    """

    id: str
    carelessness: float = 0.0
    seconds: float = TYPICAL_SECONDS

    def ranks(self, outcome: Outcome, *, random: np.random.Generator) -> tuple[int, int]:
        """Rank two systems, of which the first wins, ties and loses with these probabilities."""
        looks = random.random() >= self.carelessness
        win, tie, _ = outcome if looks else WITHOUT_LOOKING
        drawn = random.random()
        if drawn < win:
            return 1, 2
        return (1, 1) if drawn < win + tie else (2, 1)

    def duration_ms(self, *, random: np.random.Generator) -> int:
        """Draw how long one judgment takes."""
        return round(1000 * self.seconds * random.lognormal(0.0, SPREAD_OF_JUDGMENTS))


def recruit(count: int, *, careless: float, random: np.random.Generator) -> tuple[Judge, ...]:
    """Make up so many judges, this share of them careless in every answer.

    >>> import numpy as np
    >>> [judge.carelessness for judge in recruit(2, careless=0.5, random=np.random.default_rng(1))]
    [1.0, 0.0]
    """
    chosen = set(random.permutation(count)[: round(careless * count)].tolist())
    paces = TYPICAL_SECONDS * random.lognormal(0.0, SPREAD_OF_JUDGES, size=count)
    return tuple(
        Judge(
            id=f"judge-{number + 1}",
            carelessness=float(number in chosen),
            seconds=float(pace) * (HASTE if number in chosen else 1.0),
        )
        for number, pace in enumerate(paces)
    )
