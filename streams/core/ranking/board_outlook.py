"""The outlook of a board, and the stop rule: whether more judgments would draw one more line."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf, log10
from typing import TYPE_CHECKING, Literal

import numpy as np

from streams.core.ranking.differences import CONFIDENCE, Differences
from streams.core.ranking.line_forecast import line_growth, line_probability, next_line
from streams.errors import ParameterError
from streams.wire.leaderboard import BoardOutlook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.ranking.ranges import Floats, Ints
    from streams.core.ranking.settled import SettledBoard

UNLIKELY = 0.1  # a line with a smaller probability within the remaining budget is given up
FEWEST = 10  # judgments or judges that a forecast names at least: it is no more exact than that
MOST = 30  # a forecast of more than so many times the present number is none
JUDGES_DOMINATE = 2.0  # ratio of the variance by judge to that by judgment from which more judges are needed


@dataclass(frozen=True, kw_only=True)
class Part:
    """An island: its systems by index, in order of score, and the scores and differences of all systems."""

    order: Ints
    names: Sequence[str]  # of all systems
    score: Floats
    by_judgment: Differences
    by_judge: Differences | None = None


@dataclass(frozen=True, kw_only=True)
class LineNeeds:
    """What the next line needs: the missing one that comes first, or one that does not hold for other judges yet."""

    above: str
    below: str
    judgments: int | None  # None: that can't be foreseen
    judges: int | None  # None: judges are not what is missing


def board_outlook(
    board: SettledBoard,
    *,
    judgments: int,
    shown: Sequence[int] | Ints | None = None,
    state: str = "open",
    budget: int | None = None,
    confidence: float | None = None,
) -> BoardOutlook:
    """Return the outlook of a settled board after so many judgments of its campaign.

    `state` is that of the campaign. `confidence` is its stop_confidence, by default that of the board's lines.
    The stop rule is met if the state of the result is `settled`.

    >>> from streams.core.ranking.grouped_counts import GroupedCounts
    >>> from streams.core.ranking.settled import settle
    >>> board_outlook(settle(GroupedCounts.of([])), judgments=0).message
    'There are fewer than two systems to compare.'
    """
    parts = [
        Part(
            order=np.array(order, np.int64),
            names=board.counts.systems,
            score=board.score,
            by_judgment=board.by_judgment,
            by_judge=board.by_judge,
        )
        for order in board.members(shown)
    ]
    return _outlook(
        parts, judgments=judgments, judges=board.counts.judges, state=state, budget=budget, confidence=confidence
    )


def scores_outlook(
    names: Sequence[str],
    score: Floats,
    by_judgment: Differences,
    *,
    judgments: int,
    by_judge: Differences | None = None,
    judges: int = 0,
    state: str = "open",
    budget: int | None = None,
    confidence: float | None = None,
) -> BoardOutlook:
    """Return the outlook of a model without counts, from its scores and their differences.

    >>> scores_outlook(["a"], np.zeros(1), Differences.independent(np.ones(1)), judgments=3).state
    'settled'
    """
    order = np.array(sorted(range(len(names)), key=lambda i: (-score[i], names[i])), np.int64)
    part = Part(order=order, names=names, score=score, by_judgment=by_judgment, by_judge=by_judge)
    return _outlook(
        [part] if len(order) else [],
        judgments=judgments,
        judges=judges,
        state=state,
        budget=budget,
        confidence=confidence,
    )


def _outlook(
    parts: list[Part], *, judgments: int, judges: int, state: str, budget: int | None, confidence: float | None
) -> BoardOutlook:
    level = CONFIDENCE if confidence is None else confidence
    if not 0.5 < level < 1.0:
        raise ParameterError(f"`confidence` is {level}; it must be between 0.5 and 1")
    if state == "closed":
        return BoardOutlook(state="closed", message="The campaign is closed.")
    if budget is not None and judgments >= budget:
        return BoardOutlook(state="budget_spent", message=f"The budget of {budget:,} judgments is spent.")
    systems = sum(len(part.order) for part in parts)
    if systems < 2:
        return BoardOutlook(state="settled", message="There are fewer than two systems to compare.")
    line = _line_needs(parts, judgments=judgments, judges=judges, confidence=level)
    if line is None and len(parts) == 1:
        return _all_drawn(parts[0], judges=judges, confidence=level)
    remaining = inf if budget is None else budget - judgments
    growth = (judgments + remaining) / judgments if judgments else inf
    if len(parts) == 1 and budget is not None and judgments:
        part = parts[0]
        chance = line_probability(part.order, part.score, part.by_judgment, growth=growth, confidence=level)
        if chance < UNLIKELY:
            message = f"The {remaining:,} judgments that remain are unlikely to draw one more line."
            return _named("settled", message, line)
    if line is None:
        message = f"The systems are in {len(parts)} islands. Comparisons between islands are needed to rank them all."
        return BoardOutlook(state="open", message=message)
    return _named("open", _sentence(line), line)


def _line_needs(parts: list[Part], *, judgments: int, judges: int, confidence: float) -> LineNeeds | None:
    """Return what the first missing line needs, or None if no line is missing."""
    lines = [(next_line(part.order, part.score, part.by_judgment, confidence=confidence), part) for part in parts]
    missing = [(line, part) for line, part in lines if line is not None]
    if not missing:
        return None
    line, part = min(missing, key=lambda each: each[0].growth)
    above, below = part.order[line.above], part.order[line.below]
    more_judges = None
    if part.by_judge is not None:
        own, other = (float(by.variance[above, below]) for by in (part.by_judgment, part.by_judge))
        if other > JUDGES_DOMINATE * own:
            growth = line_growth(part.order, part.score, part.by_judge, place=line.place, confidence=confidence)
            more_judges = _rounded(judges, growth)
    return LineNeeds(
        above=part.names[above],
        below=part.names[below],
        judgments=_rounded(judgments, line.growth),
        judges=more_judges,
    )


def _all_drawn(part: Part, *, judges: int, confidence: float) -> BoardOutlook:
    """Return that every line is drawn, and which one would be the next to hold for other judges."""
    message = "Every line between two systems is drawn."
    dashed = None if part.by_judge is None else next_line(part.order, part.score, part.by_judge, confidence=confidence)
    if dashed is None:
        return BoardOutlook(state="settled", message=message)
    line = LineNeeds(
        above=part.names[part.order[dashed.above]],
        below=part.names[part.order[dashed.below]],
        judgments=None,
        judges=_rounded(judges, dashed.growth),
    )
    needed = "More judges" if line.judges is None else f"About {line.judges:,} more judges"
    between = f"between {line.above} and {line.below}"
    return _named("settled", f"{message} {needed} are needed until the one {between} holds for other judges too.", line)


def _sentence(line: LineNeeds) -> str:
    between = f"between {line.above} and {line.below}"
    if line.judges is not None:
        return (
            f"About {line.judges:,} more judges are needed until a line {between} holds for other judges too. "
            "More judgments by the same judges are not enough."
        )
    if line.judgments is None:
        return f"No further line can be foreseen: {line.above} and {line.below}, for example, are too close."
    return f"About {line.judgments:,} more judgments until the next line, {between}."


def _named(state: Literal["open", "settled"], message: str, line: LineNeeds | None) -> BoardOutlook:
    return BoardOutlook(
        state=state,
        message=message,
        above=None if line is None else line.above,
        below=None if line is None else line.below,
        judgments=None if line is None else line.judgments,
        judges=None if line is None else line.judges,
    )


def _rounded(number: int, growth: float) -> int | None:
    """Return how many more are needed until `number` has grown, with two digits, or None if that is too far away."""
    more = number * (growth - 1.0)
    if not more <= MOST * number:
        return None
    more = max(float(FEWEST), more)
    unit: int = 10 ** max(0, floor(log10(more)) - 1)
    return ceil(more / unit) * unit
