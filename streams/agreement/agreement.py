"""Compute how much judges agree with each other and with themselves, beyond chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.pairs import TIE

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Ints


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Counts of agreement, and the measures that follow from them.

    `comparable` counts the pairs of outcomes of the same item. In `agree` of them, both outcomes are the same. Of all
    `total` outcomes, `ties` are ties.
    """

    agree: int
    comparable: int
    ties: int
    total: int

    @property
    def observed(self) -> float:
        """Return P(A), the share that agrees. It is NaN if nothing can be compared."""
        return self.agree / self.comparable if self.comparable else float("nan")

    @property
    def chance(self) -> float:
        """Return P(E) = P(>)² + P(=)² + P(<)². P(>) = P(<), because the order of the two systems has no meaning."""
        tie = self.ties / self.total if self.total else float("nan")
        return tie**2 + 2.0 * ((1.0 - tie) / 2.0) ** 2

    @property
    def kappa(self) -> float:
        """Return Cohen's kappa, (P(A) - P(E)) / (1 - P(E)). It is NaN if chance alone always agrees.

        >>> round(Agreement(agree=10532, comparable=16144, ties=9131, total=58947).kappa, 3)
        0.438
        """
        return (self.observed - self.chance) / (1.0 - self.chance) if self.chance < 1.0 else float("nan")


# Landis and Koch (1977). Each word is for values up to and including the number.
STRENGTHS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))


def strength_of(kappa: float) -> str:
    """Return the words of Landis and Koch (1977) for a kappa. Below 0 it is poor.

    >>> strength_of(0.282), strength_of(0.578), strength_of(-0.1)
    ('fair', 'moderate', 'poor')
    """
    return "poor" if kappa < 0.0 else next(word for most, word in STRENGTHS if kappa <= most)


def inter_agreement(pairs: Pairs) -> Agreement:
    """Compare the outcomes of different judges for the same two systems on the same segment (Cohen 1960).

    >>> from streams.core.methods.pairs import Pairs
    >>> inter_agreement(Pairs.parse(">>")).comparable  # by one judge
    0
    """
    items, outcomes = pairs.items()
    own = _couples(_joined(items, pairs.judge), outcomes)
    every = _couples(items, outcomes)
    return _counted(pairs, int(every[0].sum() - own[0].sum()), int(every[1].sum() - own[1].sum()))


def intra_agreement(pairs: Pairs) -> Agreement:
    """Compare the outcomes of one judge for the same two systems on the same segment.

    Ties are counted on segments where the judge compared the same two systems more than once.

    >>> from streams.core.methods.pairs import Pairs
    >>> intra_agreement(Pairs.parse(">>="))
    Agreement(agree=1, comparable=3, ties=1, total=3)
    """
    return _intra(pairs, *pairs.items())


def published_agreement(pairs: Pairs) -> tuple[Agreement, Agreement]:
    """Return inter- and intra-annotator agreement as published in the findings of WMT15.

    Their script treats a pair as another item if it was shown in the other order. This halves the comparable outcomes.
    Their inter-annotator agreement also compares judges with themselves.

    >>> from streams.core.methods.pairs import Pairs
    >>> published_agreement(Pairs.parse(">>="))[0]
    Agreement(agree=1, comparable=3, ties=1, total=3)
    """
    items = pairs.ordered_items()
    agree, comparable = _couples(items, pairs.outcome)
    return _counted(pairs, int(agree.sum()), int(comparable.sum())), _intra(pairs, items, pairs.outcome)


def inter_by_judge(pairs: Pairs) -> tuple[Agreement, ...]:
    """Compare every judge with all other judges. The chance agreement is that of the whole log.

    >>> from streams.core.methods.pairs import Pairs
    >>> inter_by_judge(Pairs.parse(">>"))[0].comparable
    0
    """
    items, outcomes = pairs.items()
    size = len(pairs.judges)
    _, item = np.unique(items, return_inverse=True)
    given = np.bincount(item), np.bincount(3 * item + outcomes, minlength=3 * (int(item.max(initial=-1)) + 1))
    own = _joined(items, pairs.judge)
    by_item, by_outcome = (_multiplicity(key) for key in (own, 3 * own + outcomes))
    comparable = np.bincount(pairs.judge, given[0][item] - by_item, size)
    agree = np.bincount(pairs.judge, given[1][3 * item + outcomes] - by_outcome, size)
    return tuple(_counted(pairs, int(a), int(c)) for a, c in zip(agree, comparable, strict=True))


def intra_by_judge(pairs: Pairs) -> tuple[Agreement, ...]:
    """Compare every judge with the same judge's other outcomes.

    >>> from streams.core.methods.pairs import Pairs
    >>> intra_by_judge(Pairs.parse(">>"))[0].agree
    1
    """
    return tuple(intra_agreement(pairs.select(pairs.judge == judge)) for judge in range(len(pairs.judges)))


def _counted(pairs: Pairs, agree: int, comparable: int) -> Agreement:
    ties = int(np.count_nonzero(pairs.outcome == TIE))
    return Agreement(agree=agree, comparable=comparable, ties=ties, total=len(pairs))


def _intra(pairs: Pairs, items: Ints, outcomes: Ints) -> Agreement:
    own = _joined(items, pairs.judge)
    agree, comparable = _couples(own, outcomes)
    visit = _joined(pairs.segment, pairs.judge)
    again = np.isin(visit, visit[_multiplicity(own) > 1])
    return Agreement(
        agree=int(agree.sum()),
        comparable=int(comparable.sum()),
        ties=int(np.count_nonzero(again & (outcomes == TIE))),
        total=int(np.count_nonzero(again)),
    )


def _joined(first: Ints, second: Ints) -> Ints:
    """Return a number for each distinct combination of two columns."""
    _, lower = np.unique(first, return_inverse=True)
    joined: Ints = np.unique(lower * (int(second.max(initial=0)) + 1) + second, return_inverse=True)[1]
    return joined


def _multiplicity(keys: Ints) -> Ints:
    """Return, for each row, the number of rows with the same key."""
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    many: Ints = counts[place]
    return many


def _couples(keys: Ints, outcomes: Ints) -> tuple[Ints, Ints]:
    """Return, for each key, the pairs of rows that agree, and all pairs of rows."""
    _, all_ = np.unique(keys, return_counts=True)
    _, same = np.unique(3 * keys + outcomes, return_counts=True)
    return same * (same - 1) // 2, all_ * (all_ - 1) // 2
