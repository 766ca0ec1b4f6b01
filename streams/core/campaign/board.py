"""What a campaign publishes of its state: ranked rows, ratings, and whether more judgments would change the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core import ranking
from streams.core.ranking.outlook import outlook
from streams.wire.events import Rating

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.core.campaign.bootstrap import Bootstrap
    from streams.core.campaign.state import SystemRow
    from streams.core.campaign.tables import CampaignTables
    from streams.core.models import Model
    from streams.core.ranking.outlook import Outlook
    from streams.wire.events import CampaignSettings, Row

DEFAULT_CONFIDENCE = 0.95  # where the settings name none


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
    """Return the leaderboard's rows of some systems. Their rank ranges cover the posterior's and the bootstrap's."""
    mean, deviation = model.scores()
    names, index = tables.systems.names, tables.systems.index
    rows = ranking.rows(
        [names[i] for i in systems],
        mean[systems],
        deviation[systems],
        tables.system_judgments[systems].tolist(),
    )
    if bootstrap is not None and rows:
        rows = ranking.widen_ranges(rows, *bootstrap.ranges([index[row.system] for row in rows]))
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
