"""The boards of a log over time: the log is rated once more, and ranked at moments on the way."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct

from streams.core.campaign.campaign import Campaign
from streams.errors import ParameterError
from streams.formats.window import FIRST_TIME
from streams.offline.keeping import ExaminedCampaign
from streams.offline.rating import make_leaderboard, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from streams.offline.planning import RankingPlan
    from streams.wire.events import Judgment, Leaderboard

MOMENTS = 100  # per campaign


class HistoryRow(Struct, frozen=True, kw_only=True):
    """One system on the board of one moment: after this number of `judgments` of the campaign that count.

    `at` is the latest time of a judgment so far, or null if none has a time.
    """

    campaign: str
    system: str
    judgments: int
    at: datetime | None
    rank: int
    rank_low: int
    rank_high: int
    cluster: int
    island: int
    score: float
    deviation: float


def moment_step(records: int) -> int:
    """Return the number of records between two moments of a campaign, for about MOMENTS moments.

    >>> moment_step(3000), moment_step(7)
    (30, 1)
    """
    return max(1, ceil(records / MOMENTS))


class BoardHistory:
    """Collects the boards of campaigns after each `step` of their records, and after the last one.

    The step of a campaign may depend on its name. A moment is left out if its board can't be made yet, for example
    because the baseline has not been judged. `left_out` counts these, and `first_error` is the first reason.
    """

    def __init__(
        self,
        plan: RankingPlan,
        step: Callable[[str], int],
        *,
        finish: Callable[[Leaderboard], Leaderboard] = lambda board: board,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        self.rows: list[HistoryRow] = []
        self.left_out = 0
        self.first_error = ""
        self._plan, self._step, self._finish = plan, step, finish
        self._seed, self._threads = seed, threads
        self._records: dict[str, int] = {}
        self._latest: dict[str, datetime] = {}  # times
        self._due: set[str] = set()  # campaigns that are at a moment now

    def rate(self, batches: Iterable[Sequence[Judgment]], *, only: Collection[str] = (), judge_key: str = "") -> None:
        """Rate a log and collect its boards."""
        kind = self._plan.campaign_type
        rated = rate(
            self._cut(batches),
            self._plan.settings,
            only=only,
            observe=self._observe,
            # The tests of judges only add cautions, which the history does not have.
            campaign_type=Campaign if kind is ExaminedCampaign else kind,
            judge_key=judge_key,
            remember=True,
        )
        for name in sorted(rated.campaigns):
            if name not in self._due:
                self._add(rated.campaigns[name])

    def _cut(self, batches: Iterable[Sequence[Judgment]]) -> Iterator[Sequence[Judgment]]:
        """Cut the batches so that every moment is at the end of one."""
        for batch in batches:
            start = 0
            for place, judgment in enumerate(batch, 1):
                name, at = judgment.campaign, judgment.at
                self._due.discard(name)
                self._latest[name] = max(at, self._latest.get(name, at))
                count = self._records[name] = self._records.get(name, 0) + 1
                if count % self._step(name) == 0:
                    self._due.add(name)
                    yield batch[start:place]
                    start = place
            if start < len(batch):
                yield batch[start:]

    def _observe(self, campaign: Campaign) -> None:
        if campaign.name in self._due:
            self._add(campaign)

    def _add(self, campaign: Campaign) -> None:
        try:
            board = self._finish(make_leaderboard(campaign, self._plan, seed=self._seed, threads=self._threads))
        except ParameterError as error:
            self.left_out += 1
            self.first_error = self.first_error or str(error)
            return
        at = self._latest[campaign.name]
        self.rows += (
            HistoryRow(
                campaign=board.campaign,
                system=row.system,
                judgments=board.judgments,
                at=at if at >= FIRST_TIME else None,
                rank=row.rank,
                rank_low=row.rank_low,
                rank_high=row.rank_high,
                cluster=row.cluster,
                island=row.island,
                score=row.score,
                deviation=row.deviation,
            )
            for row in board.rows
        )
