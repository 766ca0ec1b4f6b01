"""What a campaign publishes of its state: its leaderboard, its ratings, and its outlook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from streams.core import ranking
from streams.core.ranking.assessment_board import settle_scores
from streams.core.ranking.outlook import outlook
from streams.core.ranking.settled import FEWEST_JUDGES, settle
from streams.wire.events import Rating

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from streams.core.campaign.bootstrap import Bootstrap
    from streams.core.campaign.group_counts import CountsCopy
    from streams.core.campaign.state import SystemRow
    from streams.core.campaign.tables import CampaignTables
    from streams.core.models import Model
    from streams.core.models.base import BoardScale
    from streams.core.ranking.outlook import Outlook
    from streams.wire.events import CampaignSettings, Leaderboard, Row

DEFAULT_CONFIDENCE = 0.95  # where the settings name none


class LastSettled:
    """What was last settled of a campaign, so that the same counts are not settled twice. Any thread may use it."""

    def __init__(self) -> None:
        self._kept: tuple[Hashable, dict[str, object]] | None = None

    def get(self, key: Hashable) -> dict[str, object] | None:
        """Return the fields of a leaderboard that were settled from the counts of this key, or None."""
        kept = self._kept
        return kept[1] if kept is not None and kept[0] == key else None

    def put(self, key: Hashable, fields: dict[str, object]) -> None:
        """Keep the fields of a leaderboard, in place of the last ones."""
        self._kept = key, fields


@dataclass(frozen=True, kw_only=True)
class BoardDraft:
    """A leaderboard at one moment, without what the counts say. The counts are a copy: any thread may settle them."""

    leaderboard: Leaderboard
    counts: CountsCopy
    scale: BoardScale
    shown: tuple[str, ...]
    key: Hashable
    last: LastSettled

    def settle(self) -> Leaderboard:
        """Return the leaderboard."""
        fields = self.last.get(self.key)
        if fields is None:
            fields = self._settle()
            self.last.put(self.key, fields)
        return replace(self.leaderboard, **fields)

    def _settle(self) -> dict[str, object]:
        counts = self.counts.grouped()
        board = settle(counts, beta=self.scale.beta, deviation=self.scale.deviation)
        index = {name: i for i, name in enumerate(counts.systems)}
        return {
            "rows": board.rows(np.array(sorted(index[name] for name in self.shown), np.int64)),
            "judges": counts.judges,
            "margin": board.margin,
            "elo_per_score": board.elo_per_score,
        }


def remaining_outlook(model: Model, settings: CampaignSettings, candidates: Sequence[int], judgments: int) -> Outlook:
    """Return whether more judgments would still change the clusters, at the confidence that the settings name."""
    return outlook(
        model,
        candidates=candidates,
        confidence=settings.stop_confidence or DEFAULT_CONFIDENCE,
        remaining=None if settings.budget is None else max(0, settings.budget - judgments),
    )


def rank_systems(
    model: Model, tables: CampaignTables, bootstrap: Bootstrap | None, systems: Sequence[int]
) -> tuple[Row, ...]:
    """Return the rows of some systems, of a model without counts.

    Their rank ranges cover the posterior's and the bootstrap's.
    """
    names, index = tables.systems.names, tables.systems.index
    cells = model.score_cells()
    if cells is not None:
        ranked = settle_scores(cells, judges=tables.judges.names, segments=tables.segments.names).rank(systems)
        return ranked.rows([names[i] for i in systems], tables.system_judgments[systems].tolist())
    mean, deviation = model.scores()
    rows = ranking.rows(
        [names[i] for i in systems],
        mean[systems],
        deviation[systems],
        tables.system_judgments[systems].tolist(),
    )
    if bootstrap is not None and rows:
        order = [index[row.system] for row in rows]
        rows = ranking.widen_ranges(rows, *bootstrap.ranges(order))
        if tables.active_judges >= FEWEST_JUDGES:
            rows = ranking.add_judge_ranges(rows, *bootstrap.judge_ranges(order))
    return rows


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
