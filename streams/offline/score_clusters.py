"""The official ranking of a log of scores: means by segment, rank-sum tests and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from streams.core.ranking.score_tests import compare_scores, standardise
from streams.wire.events import Leaderboard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Judgment

    Scale = Literal["z", "raw"]

WMT_ASSESSMENT = "wmt-assessment"
_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


class ScoreTest(Struct, frozen=True, kw_only=True):
    """The test of two systems: the difference of their scores, and the one-sided p that the first one is better."""

    campaign: str
    system: str
    opponent: str
    difference: float
    p: float

    @property
    def stars(self) -> str:
        """Return *** for p < 0.001, ** for p < 0.01 and * for p < 0.05, as in the files of WMT."""
        return next((stars for most, stars in _STARS if self.p < most), "")


@dataclass(frozen=True, kw_only=True)
class RankedAssessment:
    """The leaderboard of a campaign, and a test for every two systems in order of rank: the better one is first."""

    leaderboard: Leaderboard
    tests: tuple[ScoreTest, ...]


def rank_assessment(campaign: str, log: Sequence[Judgment], *, scale: Scale) -> RankedAssessment:
    """Rank the systems of one campaign by their scores. Judgments without a score do not count.

    With `z`, the scores of each judge are standardised first. The score of a segment is the mean of its scores, and
    that of a system the mean over its segments. Each p is of the better system of the two, by the rank-sum test.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> log = [Judgment(id=f"{s}{k}", campaign="c", segment=str(k), judge="j", systems=(s,), score=score + k, at=EPOCH)
    ...        for s, score in (("a", 10.0), ("b", 70.0)) for k in range(5)]
    >>> [(row.system, row.score, row.cluster) for row in rank_assessment("c", log, scale="raw").leaderboard.rows]
    [('b', 72.0, 1), ('a', 12.0, 2)]
    """
    scored = [judgment for judgment in log if judgment.score is not None]
    systems, system = _number([judgment.systems[0] for judgment in scored])
    _, segment = _number([judgment.segment for judgment in scored])
    judges, judge = _number([judgment.judge for judgment in scored])
    scores = np.array([judgment.score for judgment in scored], np.float64)
    found = compare_scores(system, segment, standardise(judge, scores) if scale == "z" else scores)
    rows = found.rank(systems).rows(systems, np.bincount(system, minlength=len(systems)).tolist())
    place = {name: number for number, name in enumerate(systems)}
    tests = tuple(
        ScoreTest(
            campaign=campaign,
            system=one.system,
            opponent=other.system,
            difference=one.score - other.score,
            p=float(found.p[place[one.system], place[other.system]]),
        )
        for number, one in enumerate(rows)
        for other in rows[number + 1 :]
    )
    board = Leaderboard(
        campaign=campaign,
        model=WMT_ASSESSMENT,
        sequence=len(scored),
        offset=len(log) - 1,
        judgments=len(scored),
        judges=len(judges),
        rows=rows,
    )
    return RankedAssessment(leaderboard=board, tests=tests)


def _number(names: Sequence[str]) -> tuple[list[str], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the distinct names in order of their first use, and the number of each name."""
    places: dict[str, int] = {}
    numbers = [places.setdefault(name, len(places)) for name in names]
    return list(places), np.array(numbers, np.int64)
