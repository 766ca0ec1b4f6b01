"""Compute how much judges agree with each other and with themselves, beyond chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.pairs import TIE
from streams.core.ranking.ranges import Z_95

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class SegmentSums:
    """Sums over the segments: of squares of `agree`, of products, of squares of `comparable`, and of `comparable`."""

    segments: int = 0
    agree_squared: float = 0.0
    product: float = 0.0
    comparable_squared: float = 0.0
    comparable: float = 0.0

    @classmethod
    def of(cls, agree: Floats, comparable: Floats) -> SegmentSums:
        """Return the sums of these counts by segment."""
        return cls(
            segments=int(np.count_nonzero(comparable)),
            agree_squared=float(agree @ agree),
            product=float(agree @ comparable),
            comparable_squared=float(comparable @ comparable),
            comparable=float(comparable.sum()),
        )

    def __add__(self, other: SegmentSums) -> SegmentSums:
        return SegmentSums(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})

    def error(self, share: float) -> float:
        """Return the standard error of a share of agreement.

        >>> SegmentSums.of(np.array([1.0, 3.0]), np.array([4.0, 4.0])).error(0.5)
        0.25
        """
        if self.segments < 2:
            return float("nan")
        scatter = self.agree_squared - 2.0 * share * self.product + share**2 * self.comparable_squared
        return sqrt(max(0.0, scatter) * self.segments / (self.segments - 1)) / self.comparable


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Counts of agreement, and the measures that follow from them.

    `comparable` counts the pairs of outcomes of the same item. In `agree` of them, both outcomes are the same. Of all
    `total` outcomes, `ties` are ties. `by_segment` says how much segments differ, for the interval.
    """

    agree: int
    comparable: int
    ties: int
    total: int
    by_segment: SegmentSums = field(default=SegmentSums(), repr=False, compare=False)

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

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of kappa for other segments, or NaN if fewer than two segments can be compared.

        Outcomes of one segment depend on each other, so the segments are the sample: this is the variance of a ratio of
        sums over clusters. P(E) is taken as known.
        """
        error = self.by_segment.error(self.observed) / (1.0 - self.chance) if self.chance < 1.0 else float("nan")
        return self.kappa - Z_95 * error, min(self.kappa + Z_95 * error, 1.0)


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
    own = _couples(pairs, _joined(items, pairs.judge), outcomes)
    every = _couples(pairs, items, outcomes)
    return _counted(pairs, every[0] - own[0], every[1] - own[1])


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
    return _counted(pairs, *_couples(pairs, items, pairs.outcome)), _intra(pairs, items, pairs.outcome)


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
    ties = int(np.count_nonzero(pairs.outcome == TIE))
    return tuple(
        Agreement(agree=int(a), comparable=int(c), ties=ties, total=len(pairs))
        for a, c in zip(agree, comparable, strict=True)
    )


def intra_by_judge(pairs: Pairs) -> tuple[Agreement, ...]:
    """Compare every judge with the same judge's other outcomes.

    >>> from streams.core.methods.pairs import Pairs
    >>> intra_by_judge(Pairs.parse(">>"))[0].agree
    1
    """
    return tuple(intra_agreement(pairs.select(pairs.judge == judge)) for judge in range(len(pairs.judges)))


def _counted(pairs: Pairs, agree: Floats, comparable: Floats) -> Agreement:
    """Return the agreement of counts by segment."""
    return Agreement(
        agree=int(agree.sum()),
        comparable=int(comparable.sum()),
        ties=int(np.count_nonzero(pairs.outcome == TIE)),
        total=len(pairs),
        by_segment=SegmentSums.of(agree, comparable),
    )


def _intra(pairs: Pairs, items: Ints, outcomes: Ints) -> Agreement:
    own = _joined(items, pairs.judge)
    agree, comparable = _couples(pairs, own, outcomes)
    visit = _joined(pairs.segment, pairs.judge)
    again = np.isin(visit, visit[_multiplicity(own) > 1])
    return Agreement(
        agree=int(agree.sum()),
        comparable=int(comparable.sum()),
        ties=int(np.count_nonzero(again & (outcomes == TIE))),
        total=int(np.count_nonzero(again)),
        by_segment=SegmentSums.of(agree, comparable),
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


def _couples(pairs: Pairs, keys: Ints, outcomes: Ints) -> tuple[Floats, Floats]:
    """Return, for each segment, the pairs of rows with the same key that agree, and all pairs of rows with it."""

    def couples(groups: Ints) -> Floats:
        _, first, size = np.unique(groups, return_index=True, return_counts=True)
        counted = np.bincount(pairs.segment[first], size * (size - 1) // 2, len(pairs.segments))
        return counted.astype(np.float64)

    return couples(3 * keys + outcomes), couples(keys)
