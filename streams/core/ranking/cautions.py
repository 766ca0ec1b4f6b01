"""Reasons to read a settled board with care, as far as its counts tell them."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.ranking.differences import fewest_decided
from streams.core.ranking.ranges import Z_95
from streams.core.ranking.settled import FEWEST_JUDGES
from streams.wire.leaderboard import Caution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.ranking.ranges import Floats, Ints
    from streams.core.ranking.settled import SettledBoard
    from streams.wire.leaderboard import CautionCode

PAGE = "docs/ranking.md"
FEW_JUDGMENTS = 20  # of a system
MANY_TIES = 0.5  # share of the comparisons
ENOUGH = 20  # comparisons, to speak of their share of ties
BEYOND_CHANCE = 3.0  # standard deviations by which circles must exceed what is expected
RARE = 0.01  # the probability of so many rare circles must be below it
CIRCLE = 3  # pairs of a circle
MOST_SYSTEMS = 300  # above it circles are not counted, because that takes the cube of the number of systems
MOST_NAMES = 3  # that a sentence lists


def count_cautions(board: SettledBoard, shown: Sequence[int] | Ints | None = None) -> tuple[Caution, ...]:
    """Return the cautions about all systems, or about those `shown` by index. A board without judgments has none.

    >>> from streams.core.ranking.grouped_counts import GroupedCounts
    >>> from streams.core.ranking.settled import settle
    >>> count_cautions(settle(GroupedCounts.of([])))
    ()
    """
    chosen = [i for order in board.members(shown) for i in order]
    if not board.counts.rankings or len(chosen) < 2:
        return ()
    found = {
        "islands": _islands(board, chosen),
        "sweeps": _sweeps(board, chosen),
        "few_judgments": _few_judgments(board, chosen),
        "few_judges": _few_judges(board),
        "ties": _ties(board),
        "intransitive": _intransitive(board),
    }
    return tuple(caution(code, message) for code, message in found.items() if message)


def caution(code: CautionCode | str, message: str) -> Caution:
    """Return a caution with the link to the section that explains it."""
    return Caution(code=code, message=message, link=f"{PAGE}#{code.replace('_', '-')}")  # type: ignore[arg-type]


def _islands(board: SettledBoard, chosen: list[int]) -> str | None:
    met, island = board.met, board.island.tolist()
    islands = len({island[i] for i in chosen if i in met})
    lonely = [board.counts.systems[i] for i in chosen if i not in met]
    parts = []
    if islands > 1:
        parts.append(
            f"The systems are in {islands} islands that were not compared with each other. Each is ranked on its own."
        )
    if lonely:
        parts.append(f"{_listed(lonely)} {'has' if len(lonely) == 1 else 'have'} not been compared with any system.")
    return " ".join(parts) or None


def _sweeps(board: SettledBoard, chosen: list[int]) -> str | None:
    wins, losses = (each.tolist() for each in board.wins_and_losses)
    sentences = []
    for verb, own, other in (("won", wins, losses), ("lost", losses, wins)):
        swept = [i for i in chosen if own[i] > 0 and other[i] == 0]
        if swept:
            names = _listed([board.counts.systems[i] for i in swept])
            fewest = min(int(own[i]) for i in swept)
            each = f"all of {fewest:,} comparisons that were" if len(swept) == 1 else "every comparison that was"
            sentences.append(f"{names} {verb} {each} not a tie, so the distance to the others is not known.")
    return " ".join(sentences) or None


def _few_judgments(board: SettledBoard, chosen: list[int]) -> str | None:
    judgments = board.counts.judgments.tolist()
    few = [i for i in chosen if judgments[i] < FEW_JUDGMENTS]
    if not few:
        return None
    least = min(few, key=lambda i: (judgments[i], board.counts.systems[i]))
    number = judgments[least]
    return (
        f"{len(few)} of {len(chosen)} systems {'has' if len(few) == 1 else 'have'} fewer than {FEW_JUDGMENTS} "
        f"judgments; {board.counts.systems[least]} has {number}. Their ranges are wide."
    )


def _few_judges(board: SettledBoard) -> str | None:
    judges = board.counts.judges
    if judges >= FEWEST_JUDGES:
        return None
    known = f"Only {judges} {'judge' if judges == 1 else 'judges'} took part" if judges else "The judges are not known"
    return f"{known}, so it is not known what other judges would say."


def _ties(board: SettledBoard) -> str | None:
    totals = np.add.reduce(board.pairs.outcomes)
    comparisons = float(totals.sum())
    share = float(totals[1]) / max(comparisons, 1.0)
    if comparisons < ENOUGH or share <= MANY_TIES:
        return None
    return f"{share:.0%} of {comparisons:,.0f} comparisons are ties, so little is known about the order."


def _intransitive(board: SettledBoard) -> str | None:
    if len(board.score) > MOST_SYSTEMS:
        return None
    if not (seen := count_circles(board)):
        return None
    expected, deviation = expected_circles(board)
    if seen - expected <= BEYOND_CHANCE * deviation or _poisson_tail(seen, expected) > RARE:
        return None
    times = "Once" if seen == 1 else f"{seen:,} times"
    return (
        f"{times} three systems beat each other in a circle, each by a significant majority; {expected:,.1f} such "
        "circles are expected by chance. One score per system does not describe all preferences."
    )


def count_circles(board: SettledBoard) -> int:
    """Return how many triples beat each other in a circle.

    Only majorities count that are significant at 95 % in a binomial test.
    """
    pairs, size = board.pairs, len(board.score)
    majority = np.zeros((size, size))
    kernel = kernels.suited("settled", len(pairs.first))
    if kernel.find_majorities(pairs.first, pairs.second, pairs.outcomes, 0.5 * Z_95, majority) < CIRCLE:
        return 0
    return round(float(np.trace(majority @ majority @ majority)) / 3.0)


def expected_circles(board: SettledBoard) -> tuple[float, float]:
    """Return how many circles are expected by chance, and the deviation of their number.

    By chance: the fit is true, and the wins of each pair vary as in so many independent comparisons. The variance is
    the sum over pairs of p (1 - p) times the squared effect of the pair's majority on the expected number of circles,
    plus that number for joint effects.
    """
    pairs, size = board.pairs, len(board.score)
    t, e = board.fit.ability[pairs.first] - board.fit.ability[pairs.second], board.fit.margin
    won, lost = _upper_tails(e - t), _upper_tails(e + t)
    number = pairs.outcomes[:, 0] + pairs.outcomes[:, 2]
    share = np.clip(won / np.maximum(won + lost, 1e-300), 1e-12, 1.0 - 1e-12)
    chance = np.zeros((size, size))
    for a, b, own in ((pairs.first, pairs.second, share), (pairs.second, pairs.first, 1.0 - share)):
        distance = (number * (own - 0.5) - _needed(number)) / np.sqrt(np.maximum(number, 1.0) * own * (1.0 - own))
        chance[a, b] = _upper_tails(-distance) * (number >= fewest_decided())
    through = (chance @ chance).T  # [a, b]: circles a, b, c if a beats b
    expected = float((through * chance).sum()) / 3.0
    first_order = float((chance * (1.0 - chance) * through * through).sum())
    return expected, float(np.sqrt(first_order + expected))


def _needed(number: Floats) -> Floats:
    """Return by how many wins more than half a majority of so many comparisons is significant."""
    found: Floats = 0.5 * Z_95 * np.sqrt(number)
    return found


def _upper_tails(values: Floats) -> Floats:
    """Return 1 - Phi of each value."""
    tails = np.empty(len(values))
    kernels.suited("settled", len(values)).upper_tails(values, tails)
    return tails


def _poisson_tail(seen: int, expected: float) -> float:
    """Return the probability of so many or more rare events."""
    term = below = exp(-expected)
    for k in range(1, seen):
        term *= expected / k
        below += term
    return 1.0 - below if seen else 1.0


def _listed(names: list[str]) -> str:
    """Return the first names, and how many more there are.

    >>> _listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
