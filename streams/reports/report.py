"""The content of a page or a figure: a leaderboard, the pair counts behind it, and the ratings over time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, pairwise, takewhile
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from streams.reports.notes import describe_board
from streams.reports.thinning import ThinnedSeries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.core.ranking import PairCounts
    from streams.core.ranking.ranges import Floats, Ints
    from streams.reports.effects import ControlledRanking
    from streams.wire.events import Leaderboard

MOST_POINTS = 400


class PairView(Struct, frozen=True, kw_only=True):
    """The results of one system against another. `win_rate` ignores ties."""

    system: str
    opponent: str
    wins: int
    ties: int
    losses: int
    win_rate: float | None

    @classmethod
    def of(cls, system: str, opponent: str, *, wins: int, ties: int, losses: int) -> PairView:
        """Return the view, with its win rate."""
        rate = wins / (wins + losses) if wins + losses else None
        return cls(system=system, opponent=opponent, wins=wins, ties=ties, losses=losses, win_rate=rate)

    def seen_by(self, system: str) -> PairView:
        """Return the same results from the side of `system`."""
        if system == self.system:
            return self
        return PairView.of(self.opponent, self.system, wins=self.losses, ties=self.ties, losses=self.wins)


class History:
    """The ratings of a campaign over time: up to MOST_POINTS points, evenly spread over the log.

    >>> from streams.core.campaign.campaign import Campaign
    >>> history = History()
    >>> history.observe(Campaign("c"))
    >>> history.judgments, history.systems
    ([0], [])
    """

    def __init__(self) -> None:
        self.model = ""
        self.systems: list[str] = []
        self._points: ThinnedSeries[tuple[int, Floats]] = ThinnedSeries(MOST_POINTS)

    @property
    def judgments(self) -> list[int]:
        """Return the number of judgments at each point."""
        return [judgments for judgments, _ in self._points.items]

    def observe(self, campaign: ReadOnlyCampaign) -> None:
        """Record the ratings, unless the point before is too near. If there are too many, drop every other one."""
        judgments = campaign.counts.judgments
        if not self._points.accepts(judgments):
            return
        self.model, self.systems = campaign.model.name, list(campaign.tables.systems.names)
        self._points.add(judgments, (judgments, campaign.model.scores()[0]))

    def of(self, system: str) -> Floats:
        """Return the rating of a system at each point. It is NaN before the system appeared."""
        place = self.systems.index(system)
        return np.array([ratings[place] if place < len(ratings) else np.nan for _, ratings in self._points.items])


@dataclass(frozen=True, kw_only=True)
class Report:
    """The ranking of one campaign, with the data behind it."""

    leaderboard: Leaderboard
    counts: PairCounts
    history: History | None = None
    effects: ControlledRanking | None = None  # of a controlled ranking

    @property
    def about(self) -> str:
        """Return the model and the counts in one line."""
        return describe_board(self.leaderboard)

    @property
    def _order(self) -> list[int]:
        """Return the indices of the ranked systems in the pair counts, in the order of rank."""
        index = {system: i for i, system in enumerate(self.counts.systems)}
        return [index[row.system] for row in self.leaderboard.rows]

    def head_to_head(self) -> tuple[Floats, Ints]:
        """Return the share of wins of each row over each column, without ties, and how often they met."""
        square = np.ix_(self._order, self._order)
        met = self.counts.wins + self.counts.wins.T + self.counts.ties
        return self.counts.head_to_head()[square], met[square]

    def pairs(self) -> list[PairView]:
        """Return the pairs of systems that met, each from the side of the higher ranked system."""
        names, counted, tied = self.counts.systems, self.counts.wins, self.counts.ties
        views = (
            PairView.of(names[i], names[j], wins=int(counted[i, j]), ties=int(tied[i, j]), losses=int(counted[j, i]))
            for i, j in combinations(self._order, 2)
        )
        return [view for view in views if view.wins or view.ties or view.losses]


def short_names(names: Sequence[str]) -> Mapping[str, str]:
    """Return a short name for each name: without the parts that all names begin and end with.

    >>> dict(short_names(["newstest2015.JHU.0.de-en", "newstest2015.KIT.1.de-en"]))
    {'newstest2015.JHU.0.de-en': 'JHU.0', 'newstest2015.KIT.1.de-en': 'KIT.1'}
    >>> dict(short_names(["a.x", "b-x"]))
    {'a.x': 'a.x', 'b-x': 'b-x'}
    """
    if len(names) < 2:
        return {name: name for name in names}
    start = _shared(names)
    end = _shared([name[start:][::-1] for name in names])
    return {name: name[start : len(name) - end] for name in names}


def shorten_names(names: Sequence[str], room: int, *, whole: bool = False) -> Mapping[str, str]:
    """Return the short names, or the whole ones, cut in the middle to this number of characters.

    The part in which a name differs from similar ones stays. Names that would still be equal are cut less.

    >>> dict(shorten_names(["uedin-heafield-unconstrained", "online-B"], 15))
    {'uedin-heafield-unconstrained': 'uedin-h…trained', 'online-B': 'online-B'}
    >>> list(shorten_names(["model-family-07-instruct-preview", "model-family-12-instruct-preview"], 24).values())
    ['model-family-07…-preview', 'model-family-12…-preview']
    >>> names = ["lab/a-family-of-models-7b-instruct-preview", "lab/a-family-of-models-70b-instruct-preview"]
    >>> list(shorten_names(names, 24, whole=True).values())
    ['lab/a-f…7b-inst…-preview', 'lab/a-f…70b-ins…-preview']
    """
    short, taken = {name: name for name in names} if whole else short_names(names), set[str]()
    ordered = sorted(short.values())
    shared = dict.fromkeys(ordered, 0)
    for one, other in pairwise(ordered):
        length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        shared[one], shared[other] = max(shared[one], length), length
    found: dict[str, str] = {}
    for name in names:
        text, size = short[name], room
        while (cut := _cut_middle(text, size, differs=shared[text])) in taken and size < len(text):
            size += 1
        taken.add(cut)
        found[name] = cut
    return found


def _cut_middle(text: str, room: int, *, differs: int) -> str:
    """Cut a text in the middle, so that the word that begins to differ after `differs` characters stays."""
    if len(text) <= room:
        return text
    first, part = room // 2, (room - 2) // 3
    if differs + 2 > first and differs + 2 <= 2 * room // 3:
        first = differs + 2
    start = differs
    while start > max(0, differs - part // 2) and text[start - 1].isalnum():
        start -= 1
    if differs + 2 <= first or start >= len(text) - (room - 1 - first):
        return f"{text[:first]}…{text[len(text) - (room - 1 - first) :]}"
    if len(text) - start <= 2 * room // 3:
        return f"{text[: room - 1 - (len(text) - start)]}…{text[start:]}"
    return f"{text[:part]}…{text[start : start + part]}…{text[len(text) - (room - 2 - 2 * part) :]}"


def _shared(names: Sequence[str]) -> int:
    """Return the length of the parts that all names begin with, including the separators."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(min(names), max(names), strict=False))
    found = re.match(r".*[./:|]", "".join(letter for letter, _ in pairs), re.DOTALL)
    length = len(found[0]) if found else 0
    return length if all(len(name) > length for name in names) else 0
