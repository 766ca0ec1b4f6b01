"""Gold items: matches with known answers. They check the judges, and never change a rating."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from streams.errors import RecordError
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.core.models import Model
    from streams.wire.campaign_settings import GoldItem
    from streams.wire.events import Judgment, MatchRequest

    Match = tuple[str | None, frozenset[str]]

Z = 1.959963984540054  # of 95 %


class GoldTally(NamedTuple):
    """How many gold items a judge has passed and failed."""

    passed: int = 0
    failed: int = 0

    def after(self, *, passed: bool) -> GoldTally:
        """Return the tally after one more item."""
        return GoldTally(self.passed + passed, self.failed + (not passed))

    def bounds(self) -> tuple[float, float]:
        """Return the bounds of the pass rate at 95 %."""
        return wilson_interval(self.passed, self.passed + self.failed)


def wilson_interval(passed: int, total: int) -> tuple[float, float]:
    """Return the interval of Wilson (1927) for a share at 95 %.

    >>> wilson_interval(0, 0)
    (0.0, 1.0)
    >>> low, high = wilson_interval(2, 10)
    >>> round(low, 3), round(high, 3)
    (0.057, 0.51)
    """
    if not total:
        return 0.0, 1.0
    share, scale = passed / total, 1.0 + Z * Z / total
    middle = share + Z * Z / (2 * total)
    half = Z * sqrt(share * (1.0 - share) / total + Z * Z / (4 * total * total))
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


class GoldItems:
    """The gold items of a campaign, by segment and set of systems."""

    def __init__(self, items: tuple[GoldItem, ...]) -> None:
        self.items = items
        self._by_match = {_match(item.segment, item.systems): item for item in items}

    def find(self, judgment: Judgment) -> GoldItem | None:
        """Return the item that a judgment answers, if it answers one."""
        return self._by_match.get(_match(judgment.segment, judgment.systems)) if self.items else None

    def includes(self, request: MatchRequest) -> bool:
        """Return whether a match request asks for a gold item."""
        return bool(self.items) and _match(request.segment, request.systems) in self._by_match

    def mix_in(
        self, requests: Iterable[MatchRequest], *, rate: float, outstanding: Iterable[MatchRequest], seed: Sequence[int]
    ) -> list[MatchRequest]:
        """Return requests, a share of which ask for gold items that are not outstanding. Nothing else differs."""
        random = np.random.default_rng(seed)
        asked = {_match(request.segment, request.systems) for request in outstanding}
        free = [item for match, item in self._by_match.items() if match not in asked]
        mixed = []
        for request in requests:
            if free and random.random() < rate:
                item = free.pop(int(random.integers(len(free))))
                systems = tuple(item.systems[i] for i in random.permutation(len(item.systems)))
                mixed.append(replace(request, systems=systems, segment=item.segment))
            else:
                mixed.append(request)
        return mixed


def passes(judgment: Judgment, item: GoldItem) -> bool:
    """Return whether a ranking has all strict preferences of the known answer. Ties of the answer may be broken."""
    ranks = dict(zip(judgment.systems, judgment.ranks or (), strict=True))
    return all(
        (ranks[one] < ranks[other]) if x < y else (ranks[one] > ranks[other])
        for (one, x), (other, y) in combinations(zip(item.systems, item.ranks, strict=True), 2)
        if x != y
    )


def check_gold(items: Sequence[GoldItem], *, model: Model) -> None:
    """Raise RecordError if a gold item has no clear answer, or if two items are about the same match."""
    if items and model.kind == "scores":
        raise _refused(f"the model {model.name!r} rates scores, but `gold` has ranks; omit it")
    known: set[Match] = set()
    for item in items:
        match = _match(item.segment, item.systems)
        place = f"the gold item on segment {quote(item.segment)}"
        if len(item.systems) != len(item.ranks):
            raise _refused(f"{place} has {len(item.systems)} systems and {len(item.ranks)} ranks")
        if len(match[1]) < len(item.systems):
            raise _refused(f"{place} names a system twice")
        if len(set(item.ranks)) == 1:
            raise _refused(f"{place} prefers no system; a judge could not fail it")
        if match in known:
            raise _refused(f"{place} is listed twice for the same systems")
        known.add(match)


def _match(segment: str | None, systems: Iterable[str]) -> Match:
    return segment, frozenset(systems)


def _refused(message: str) -> RecordError:
    return RecordError("refused_command", message, field="settings.gold")
