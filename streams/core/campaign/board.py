"""What a campaign publishes of its state: its leaderboard, its ratings, and its outlook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from msgspec.structs import replace

from streams.core import ranking
from streams.core.ranking.assessment_board import settle_scores
from streams.core.ranking.board_outlook import board_outlook
from streams.core.ranking.cautions import count_cautions
from streams.core.ranking.fragility import fragility
from streams.core.ranking.outlook import outlook
from streams.core.ranking.settled import FEWEST_JUDGES, settle
from streams.wire.events import ENDED, Rating
from streams.wire.leaderboard import BoardOutlook

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from streams.core.campaign.bootstrap import Bootstrap
    from streams.core.campaign.group_counts import CountsCopy
    from streams.core.campaign.state import SystemRow
    from streams.core.campaign.tables import CampaignTables
    from streams.core.judges.live import LiveResiduals
    from streams.core.models import Model
    from streams.core.models.base import BoardScale
    from streams.core.models.judge_outcomes import JudgeOutcomes
    from streams.core.ranking.grouped_counts import GroupedCounts
    from streams.core.ranking.outlook import Outlook
    from streams.wire.events import CampaignSettings, CampaignStatus, Leaderboard, Row
    from streams.wire.leaderboard import Caution

DEFAULT_CONFIDENCE = 0.95  # where the settings name none


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
    judges: LiveResiduals
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
        settings = self.status.settings
        place = np.array([index[name] for name in self.counts.systems], np.int64)
        answers = None if self.answers is None else self.answers.rearrange(place)
        board = settle(counts, beta=self.scale.beta, deviation=self.scale.deviation, answers=answers)
        return {
            "rows": board.rows(shown),
            "judges": counts.judges,
            "margin": board.margin,
            "elo_per_score": board.elo_per_score,
            "fragility": fragility(board, shown),
            "cautions": (*count_cautions(board, shown), *self.judges.cautions()),
            "outlook": board_outlook(
                board,
                judgments=self.leaderboard.judgments,
                shown=shown,
                state="closed" if self.status.state in ENDED else "open",
                budget=settings.budget,
                confidence=settings.stop_confidence,
            ),
        }


def is_board_settled(
    counts: GroupedCounts, scale: BoardScale, settings: CampaignSettings, *, shown: Collection[str], judgments: int
) -> bool:
    """Return whether the stop rule is met: no more line of the systems shown can be drawn."""
    board = settle(counts, beta=scale.beta, deviation=scale.deviation)
    found = board_outlook(
        board,
        judgments=judgments,
        shown=[i for i, name in enumerate(counts.systems) if name in shown],
        budget=settings.budget,
        confidence=settings.stop_confidence,
    )
    return found.state == "settled"


def remaining_outlook(model: Model, settings: CampaignSettings, candidates: Sequence[int], judgments: int) -> Outlook:
    """Return whether more judgments would still change the clusters of a model without counts.

    The confidence is the one that the settings name.
    """
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


def describe_outlook(
    ahead: Outlook, model: Model, names: Sequence[str], *, status: CampaignStatus, judgments: int
) -> BoardOutlook:
    """Return the outlook of a model without counts, as leaderboards have it."""
    if status.state in ENDED:
        return BoardOutlook(state="closed", message="The campaign is closed.")
    if (budget := status.settings.budget) is not None and judgments >= budget:
        return BoardOutlook(state="budget_spent", message=f"The budget of {budget:,} judgments is spent.")
    if ahead.boundary is None:
        return BoardOutlook(state="settled", message=f"{ahead.why[0].upper()}{ahead.why[1:]}.")
    above, below = (names[i] for i in ahead.boundary)
    required = model.required_system
    if model.kind == "scores":
        message = f"About {ahead.judgments:,} scores of {above} and {below} until the next line is certain."
    elif required is None or required in ahead.boundary:
        message = f"About {ahead.judgments:,} judgments of {above} against {below} until the next line is certain."
    else:
        of = f"{above} and {below} against {names[required]}"
        message = f"About {ahead.judgments:,} judgments of {of} until the next line is certain."
    if ahead.settled:
        message = f"{ahead.why[0].upper()}{ahead.why[1:]}."
    return BoardOutlook(
        state="settled" if ahead.settled else "open",
        message=message,
        above=above,
        below=below,
        judgments=ahead.judgments,
    )


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
