"""The rated part of a campaign: its model, the bootstrap beside it, the tables of who took part, and their votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.core import models
from streams.core.campaign.bootstrap import Bootstrap
from streams.core.campaign.categories import CategoryCounts
from streams.core.campaign.group_counts import category_cells
from streams.core.campaign.judge_residuals import JudgeResiduals
from streams.core.campaign.stop_rule import StopCheck
from streams.core.campaign.tables import CampaignTables
from streams.core.ranking.grouped_counts import groups_of
from streams.errors import StoreCorrupt, StoreOutdated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.campaign.columns import Admitted
    from streams.core.campaign.gold import GoldTally
    from streams.core.campaign.options import CampaignOptions
    from streams.core.campaign.recent_votes import Vote
    from streams.core.campaign.state import SystemRow, Tables
    from streams.wire.events import CampaignSettings


class RatingState:
    """Everything that a judgment changes when it is rated."""

    def __init__(self, settings: CampaignSettings, options: CampaignOptions) -> None:
        self.tables = CampaignTables(
            max_judges=options.max_judges,
            max_segments=options.max_segments,
            max_group_cells=options.max_group_cells,
            group_names=options.group_names,
        )
        self.residuals = JudgeResiduals()
        self._follows_judges = options.follow_judges
        self._category_cells = category_cells(options.max_group_cells)
        self.stop = StopCheck()
        self.create_model(settings)
        self.enter(settings)

    @classmethod
    def restore(
        cls,
        campaign: str,
        settings: CampaignSettings,
        tables: Tables,
        options: CampaignOptions,
        *,
        shared: tuple[float, ...] = (),
    ) -> RatingState:
        """Return the state that stored tables hold, to the last bit. `shared` is what the model keeps beside them."""
        # The stored rows name the systems and segments in their order.
        state = cls(msgspec.structs.replace(settings, systems=(), segments=(), baseline=None), options)
        try:
            state.tables.restore(tables, state.model)
            state.model.load_shared(shared)
            state.residuals.restore(tables["residuals"], state.tables.systems.index, state.tables.judges.index)
            if state.categories is not None:
                state.categories.restore(tables["categories"], state.tables.systems.index, state.tables.judges.index)
            state.enter(settings)
            if state.bootstrap is not None:
                for system, row in tables["replicas"].items():
                    state.bootstrap.load_row(state.tables.systems.index[system], row)
        except StoreOutdated as error:
            raise StoreOutdated(f"campaign {campaign!r}: {error}; a worker rates it again from its log") from None
        except (KeyError, ValueError, msgspec.DecodeError) as error:
            raise StoreCorrupt(
                f"campaign {campaign!r}: a stored row is missing or can't be read: {error}; "
                f"rebuild it with: judgestream rebuild {campaign}"
            ) from None
        return state

    def create_model(self, settings: CampaignSettings) -> None:
        """Begin with a new model, as the settings that open a campaign choose it."""
        self.categories = CategoryCounts(settings.boards, max_cells=self._category_cells) if settings.boards else None
        self.model = models.create(settings.model, settings.parameters, budget=settings.budget)
        self.model.score_range = settings.score_range
        self.bootstrap = Bootstrap.for_model(self.model, settings.replicas)

    def enter(self, settings: CampaignSettings) -> None:
        """Add the systems and segments that the settings name, and set the baseline."""
        named = (*settings.systems, settings.baseline) if settings.baseline else settings.systems
        self.tables.enter(systems=named, segments=settings.segments)
        self.model.baseline = self.tables.systems.index[settings.baseline] if settings.baseline else None
        self._grow()

    def rate(self, admitted: Admitted) -> None:
        """Count and rate judgments, in order."""
        if self.tables.sizes != self._sizes:
            self._grow()
        self.tables.record(
            admitted.batch,
            self.model,
            offsets=admitted.offsets,
            durations=admitted.durations,
            keys=admitted.keys,
        )
        self.model.apply(admitted.batch)
        if self.categories is not None:
            self.categories.count(
                admitted.batch,
                admitted.categories,
                by_judgment=groups_of(admitted.keys),
                by_judge=self.tables.judge_groups(admitted.batch.judges),
                systems=len(self.tables.systems),
            )
        if self._follows_judges:
            self.residuals.apply(
                admitted.batch, systems=len(self.tables.systems.names), judges=len(self.tables.judges.names)
            )
        if self.bootstrap is not None:
            self.bootstrap.apply(admitted.batch, admitted.keys, self.tables.judges.names)

    def number_categories(self, tags: Mapping[str, str] | None) -> tuple[int, ...]:
        """Return the categories of a judgment, one for each tag of the setting `boards`."""
        return () if self.categories is None else self.categories.number(tags)

    def take_back(self, vote: Vote) -> None:
        """Take a judgment out of the counts. The online ratings keep it."""
        self.tables.take_back(vote)
        self.model.take_back(vote.judge, vote.systems, vote.ranks)
        if self.categories is not None:
            group = self.tables.judge_groups(np.array([vote.judge]))
            self.categories.take_back(vote, by_judge=int(group[0]))

    def count_gold(self, judge: str, *, passed: bool) -> GoldTally:
        """Count an answer to a gold item. Nothing is rated. Return the tally of the judge."""
        index = self.tables.judges.add(judge)
        if self.tables.sizes != self._sizes:
            self._grow()
        return self.tables.count_gold(index, passed=passed)

    def rename_judge(self, old: str, new: str) -> None:
        """Rename a judge. Nothing that was learned of them changes."""
        index = self.tables.rename_judge(old, new, self.model)
        if index is not None:
            self.tables.remove_rows("residuals", self.residuals.rename_judge(index, old))
            if self.categories is not None:
                self.categories.touch_judge(index)

    def drain_changes(self, rows: Sequence[SystemRow]) -> Tables:
        """Return the encoded rows that changed since the last call. `rows` are those of the systems among them."""
        names, bootstrap = self.tables.systems.names, self.bootstrap
        tables = self.tables.drain_changes(rows, self.model)
        judges = self.tables.judges.names
        tables["residuals"] = self.residuals.drain_rows(names, judges)
        tables["categories"] = {} if self.categories is None else self.categories.drain_rows(names, judges)
        tables["replicas"] = {names[row.index]: bootstrap.dump_row(row.index) for row in rows} if bootstrap else {}
        return tables

    def forget_changes(self) -> None:
        """Forget which rows changed."""
        self.tables.forget_changes()
        self.residuals.forget_changes()
        if self.categories is not None:
            self.categories.forget_changes()

    def _grow(self) -> None:
        self._sizes = self.tables.sizes
        self.tables.grow(self.model)
        if self.bootstrap is not None:
            self.bootstrap.grow(len(self.tables.systems))
