"""What a campaign publishes of its state: its leaderboard, its ratings, and its outlook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np
from msgspec.structs import replace

from streams.core import ranking
from streams.core.ranking.assessment_board import settle_scores
from streams.core.ranking.board_outlook import board_outlook, scores_outlook
from streams.core.ranking.cautions import count_cautions
from streams.core.ranking.differences import Differences
from streams.core.ranking.fragility import fragility
from streams.core.ranking.settled import FEWEST_JUDGES, settle
from streams.wire.events import ENDED, Rating

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.core.campaign.bootstrap import Bootstrap
    from streams.core.campaign.group_counts import CountsCopy
    from streams.core.campaign.state import SystemRow
    from streams.core.campaign.tables import CampaignTables
    from streams.core.judges.live import LiveResiduals
    from streams.core.models import Model
    from streams.core.models.base import BoardScale
    from streams.core.models.judge_outcomes import JudgeOutcomes
    from streams.wire.events import CampaignStatus, Leaderboard
    from streams.wire.leaderboard import Caution


class LastSettled:
    """What was last settled of a campaign, so that the same counts are not settled twice. Any thread may use it."""

    def __init__(self) -> None:
        self._kept: tuple[object, dict[str, object]] | None = None

    def get(self, key: object) -> dict[str, object] | None:
        """Return the fields of a leaderboard that were settled from the counts of this key, or None."""
        kept = self._kept
        return kept[1] if kept is not None and kept[0] == key else None

    def put(self, key: object, fields: dict[str, object]) -> None:
        """Keep the fields of a leaderboard, in place of the last ones."""
        self._kept = key, fields


@dataclass(frozen=True, kw_only=True)
class BoardDraft:
    """A leaderboard at one moment, without what the counts say. The counts are a copy: any thread may settle them."""

    leaderboard: Leaderboard
    status: CampaignStatus
    counts: CountsCopy
    scale: BoardScale
    shown: tuple[str, ...]
    key: object
    last: LastSettled
    judges: LiveResiduals | None = None  # None: the board says nothing about single judges
    answers: JudgeOutcomes | None = None  # of a model that weighs judges

    def settle(self) -> Leaderboard:
        """Return the leaderboard."""
        fields = self.last.get(self.key)
        if fields is None:
            fields = self._settle()
            self.last.put(self.key, fields)
        cautions = (*cast("tuple[Caution, ...]", fields["cautions"]), *self.leaderboard.cautions)
        return replace(self.leaderboard, **fields | {"cautions": cautions})

    def _settle(self) -> dict[str, object]:
        counts = self.counts.grouped()
        index = {name: i for i, name in enumerate(counts.systems)}
        shown = sorted(index[name] for name in self.shown)
        place = np.array([index[name] for name in self.counts.systems], np.int64)
        answers = None if self.answers is None else self.answers.rearrange(place)
        board = settle(counts, beta=self.scale.beta, deviation=self.scale.deviation, answers=answers)
        return {
            "rows": board.rows(shown),
            "judges": counts.judges,
            "margin": board.margin,
            "elo_per_score": board.elo_per_score,
            "fragility": fragility(board, shown),
            "cautions": (*count_cautions(board, shown), *(self.judges.cautions() if self.judges else ())),
            "outlook": board_outlook(
                board, judgments=self.leaderboard.judgments, shown=shown, **outlook_options(self.status)
            ),
        }


class OutlookOptions(TypedDict):
    """What the status of a campaign says about the outlook of its board."""

    state: str
    budget: int | None
    confidence: float | None


def outlook_options(status: CampaignStatus) -> OutlookOptions:
    """Return the options of an outlook."""
    return {
        "state": "closed" if status.state in ENDED else "open",
        "budget": status.settings.budget,
        "confidence": status.settings.stop_confidence,
    }


def rank_without_counts(
    begun: Leaderboard,
    model: Model,
    tables: CampaignTables,
    bootstrap: Bootstrap | None,
    systems: Sequence[int],
    *,
    status: CampaignStatus,
) -> Leaderboard:
    """Return the leaderboard of some systems, of a model without pair counts.

    The ranges of direct assessment come from its cells. Those of another model cover the posterior's and the
    bootstrap's, and its outlook follows the posterior.
    """
    names = [tables.systems.names[i] for i in systems]
    judgments = tables.system_judgments[systems].tolist()
    cells, options = model.score_cells(), outlook_options(status)
    if cells is not None:
        board = settle_scores(cells, judges=tables.judges.names, segments=tables.segments.names).select(systems)
        ahead = scores_outlook(
            names,
            board.score,
            board.by_segment,
            by_judge=board.by_judge,
            judges=tables.active_judges,
            judgments=begun.judgments,
            **options,
        )
        return replace(begun, rows=board.rank().rows(names, judgments), outlook=ahead)
    mean, deviation = (each[systems] for each in model.scores())
    rows = ranking.rows(names, mean, deviation, judgments)
    if bootstrap is not None and rows:
        order = [tables.systems.index[row.system] for row in rows]
        rows = ranking.widen_ranges(rows, *bootstrap.ranges(order))
        if tables.active_judges >= FEWEST_JUDGES:
            rows = ranking.add_judge_ranges(rows, *bootstrap.judge_ranges(order))
    ahead = scores_outlook(names, mean, Differences.independent(deviation), judgments=begun.judgments, **options)
    return replace(begun, rows=rows, outlook=ahead)


def make_ratings(
    rows: Iterable[SystemRow], names: Sequence[str], *, campaign: str, offset: int, origin: str
) -> tuple[Rating, ...]:
    """Return the ratings of some systems as of an offset. `origin` begins their ids."""
    return tuple(
        Rating(
            id=f"{origin}/{offset}/{names[row.index]}",
            campaign=campaign,
            system=names[row.index],
            mean=row.mean,
            deviation=row.deviation,
            wins=row.wins,
            ties=row.ties,
            losses=row.losses,
            judgments=row.judgments,
            offset=offset,
        )
        for row in rows
    )
