"""Style control of a whole log: features of the outputs are kept while it is rated, and regressed out of its boards."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace as replace_fields

from streams.core.kernels.normal import upper_tail
from streams.core.ranking import GROUPS
from streams.core.ranking.controlled import (
    StyledComparisons,
    control,
    outcomes_of,
    relative_differences,
    standardise,
)
from streams.core.ranking.grouped_counts import LOSS, groups_of
from streams.core.ranking.settled import settle
from streams.errors import FormatError, ParameterError
from streams.formats.features import OutputFeatures, explain_missing
from streams.formats.unselected import UnselectedChanges
from streams.offline.keeping import ExaminedCampaign
from streams.reports.effects import ControlledRanking, FeatureEffect, rank_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.columns import Admitted
    from streams.core.campaign.options import CampaignOptions
    from streams.core.ranking.controlled import ControlledBoard
    from streams.core.ranking.ranges import Floats
    from streams.offline.planning import RankingPlan
    from streams.offline.rating import RatedLog
    from streams.reports import Report
    from streams.wire.events import CampaignSettings, Judgment, Leaderboard

    _Scale = Callable[[Leaderboard], Leaderboard]

MODEL = "trueskill"


class StyledCampaign(ExaminedCampaign):
    """A campaign that also keeps what it rated, so that each judgment can be joined with the features of its outputs.

    A ranking of n systems takes 40 + 16 n bytes.
    """

    def __init__(
        self, name: str, settings: CampaignSettings | None = None, *, options: CampaignOptions | None = None
    ) -> None:
        super().__init__(name, settings, options=options)
        self.admitted: list[Admitted] = []

    def _rate(self, admitted: Admitted) -> None:
        super()._rate(admitted)
        self.admitted.append(admitted)


@dataclass
class StyleLog:
    """The features of each judgment of a log, by its place. Judgments without features are left out, and counted."""

    features: OutputFeatures
    read: int = 0
    left_out: int = 0

    def __post_init__(self) -> None:
        self.changes = UnselectedChanges()
        self.clear()

    def clear(self) -> None:
        """Forget all judgments, because the log is read again."""
        self.read = self.left_out = 0
        self.changes.clear()
        self._starts = array("q", [0])
        self._values = array("d")

    def keep(self, batches: Iterable[Sequence[Judgment]], *, log: str) -> Iterator[list[Judgment]]:
        """Yield the judgments that have all features, and keep these. Raise FormatError if no judgment has them.

        `log` is the name of the log, for the message.
        """
        for batch in batches:
            kept = []
            for judgment in batch:
                self.read += 1
                values = self.features.of(judgment)
                self.changes.observe(judgment, selected=values is not None)
                if values is None:
                    self.left_out += 1
                    continue
                kept.append(judgment)
                self._values.extend(chain.from_iterable(values))
                self._starts.append(len(self._values))
            yield kept
        if self.read and self.left_out == self.read:
            raise FormatError(explain_missing(self.features, name=log))

    def _rank(self, campaign: Campaign, report: Report, scale: _Scale | None) -> Report:
        assert isinstance(campaign, StyledCampaign), "style control needs the campaigns that keep what they rated"
        comparisons, deviation = self._comparisons(campaign)
        used, names, plain = np.flatnonzero(deviation > 0.0), self.features.names, report.leaderboard
        model = campaign.model.board_scale()
        assert model is not None, "style control is offered for models with pair counts only"
        settled = settle(campaign.tables.grouped_counts(), beta=model.beta, deviation=model.deviation)
        found = control(settled, comparisons.select(used), deviation=model.deviation)
        board = replace_fields(
            campaign.leaderboard(),
            category=plain.category,
            rows=found.board.rows(),
            cautions=plain.cautions,
            margin=found.board.margin,
            elo_per_score=found.board.elo_per_score,
            fragility=None,
            outlook=None,
        )
        shown, unit = scale(board) if scale else board, found.board.elo_per_score if plain.scale == "elo" else 1.0
        effects = ControlledRanking(
            leaderboard=shown,
            features=_effects(found, [names[k] for k in used], deviation[used], unit),
            unused=tuple(name for k, name in enumerate(names) if k not in used),
            moved=rank_moves(plain, shown),
        )
        return replace(report, leaderboard=shown, effects=effects)

    def _comparisons(self, campaign: StyledCampaign) -> tuple[StyledComparisons, Floats]:
        """Return all comparisons of a campaign in an order that does not depend on the log, and the deviations."""
        names = campaign.tables.systems.names
        place = np.empty(len(names), np.int64)
        place[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        judge_groups = campaign.tables.judge_groups(np.arange(len(campaign.tables.judges)))
        number = len(self.features.names)
        starts, values = np.array(self._starts, np.int64), np.array(self._values).reshape(-1, number)
        parts: list[tuple[Any, ...]] = []
        for admitted in campaign.admitted:
            batch = admitted.batch
            sizes = np.diff(batch.starts)
            for size in np.unique(sizes[sizes > 1]).tolist():
                mine = np.flatnonzero(sizes == size)
                a, b = np.triu_indices(size, 1)
                cells = batch.starts[mine][:, None] + np.arange(size)
                systems, ranks = place[batch.systems[cells]], batch.ranks[cells]
                own = values[starts[admitted.offsets[mine]][:, None] // number + np.arange(size)]
                pairs = len(a)
                parts.append(
                    (
                        systems[:, a].ravel(),
                        systems[:, b].ravel(),
                        outcomes_of(ranks[:, a], ranks[:, b]).ravel(),
                        relative_differences(own[:, a], own[:, b]).reshape(-1, number),
                        np.repeat(groups_of(admitted.keys[mine]), pairs),
                        np.repeat(judge_groups[batch.judges[mine]], pairs),
                    )
                )
        return _arrange(parts, number)

    def rank_all(
        self, rated: RatedLog, reports: Iterable[Report], *, scale: _Scale | None = None
    ) -> tuple[Report, ...]:
        """Return the reports of the controlled rankings. `reports` are those without control."""
        return tuple(self._rank(_campaign_of(each.leaderboard, rated), each, scale) for each in reports)


def _campaign_of(board: Leaderboard, rated: RatedLog) -> Campaign:
    """Return what a leaderboard ranks: a campaign, or the judgments of one category."""
    if board.category is None:
        return rated.campaigns[board.campaign]
    return rated.categories[board.campaign].campaigns[board.category.value]


def check_plan(plan: RankingPlan) -> None:
    """Raise ParameterError if a plan ranks by another model."""
    if plan.model.name != MODEL or plan.ranges != GROUPS:
        raise ParameterError(
            f"control: features are regressed out of comparisons, with the model {MODEL} and the ranges {GROUPS}; "
            f"this ranking has the model {plan.model.name} and the ranges {plan.ranges}"
        )


def _arrange(parts: list[tuple[Any, ...]], number: int) -> tuple[StyledComparisons, Floats]:
    none = np.zeros(0, np.int64)
    empty = (none, none, none, np.zeros((0, number)), none, none)
    columns = [np.concatenate(column) for column in zip(empty, *parts, strict=True)]
    first, second, outcome, differences, by_judgment, by_judge = columns
    turned = first > second
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    outcome = np.where(turned, LOSS - outcome, outcome)
    differences = np.where(turned[:, None], -differences, differences)
    order = np.lexsort((*differences.T, by_judge, by_judgment, outcome, second, first))
    features, deviation = standardise(differences[order])
    return (
        StyledComparisons(
            first=first[order],
            second=second[order],
            outcome=outcome[order],
            features=features,
            by_judgment=by_judgment[order],
            by_judge=by_judge[order],
        ),
        deviation,
    )


def _effects(found: ControlledBoard, names: Sequence[str], deviation: Floats, unit: float) -> tuple[FeatureEffect, ...]:
    c = sqrt(2.0) * found.board.beta

    def bound(value: float) -> float | None:
        return value if isfinite(value) else None

    effects = []
    for k, name in enumerate(names):
        coefficient, limit = float(found.coefficient[k]), float(found.limit[k])
        others = float("inf") if found.judge_limit is None else float(found.judge_limit[k])
        won, lost = (upper_tail((found.board.margin - sign * coefficient) / c) for sign in (1.0, -1.0))
        effects.append(
            FeatureEffect(
                feature=name,
                coefficient=unit * coefficient,
                low=bound(unit * (coefficient - limit)),
                high=bound(unit * (coefficient + limit)),
                judge_low=bound(unit * (coefficient - others)),
                judge_high=bound(unit * (coefficient + others)),
                win_share=won / (won + lost),
                deviation=float(deviation[k]),
            )
        )
    return tuple(effects)
