"""Campaigns that keep more than a worker does: their rankings, or the votes of their judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.options import CampaignOptions
from streams.core.methods.rankings import Rankings
from streams.offline.vote_arrays import VoteArrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.columns import Admitted
    from streams.core.judges import Votes
    from streams.core.models import JudgmentBatch
    from streams.core.models.base import Ints
    from streams.wire.events import CampaignSettings


class KeepingCampaign(Campaign):
    """A campaign that also keeps what it rated. A ranking of n systems takes 24 + 16 n bytes.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> campaign = KeepingCampaign("c")
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("b", "a"), ranks=(1, 2), at=EPOCH)
    >>> result = campaign.apply([0], [verdict])
    >>> campaign.rankings().systems, campaign.rankings().system.tolist()
    (('a', 'b'), [1, 0])
    """

    def __init__(
        self, name: str, settings: CampaignSettings | None = None, *, options: CampaignOptions | None = None
    ) -> None:
        super().__init__(name, settings, options=options)
        self._batches: list[JudgmentBatch] = []

    def _rate(self, admitted: Admitted) -> None:
        super()._rate(admitted)
        self._batches.append(admitted.batch)

    def rankings(self) -> Rankings:
        """Return all rankings, with systems, judges and segments in order of name."""
        tables, batches = self.tables, self._batches
        systems, system = _sorted(tables.systems.names, _joined([batch.systems for batch in batches]))
        judges, judge = _sorted(tables.judges.names, _joined([batch.judges for batch in batches]))
        segments, segment = _sorted(tables.segments.names, _joined([batch.segments for batch in batches]))
        sizes = _joined([np.diff(batch.starts) for batch in batches])
        return Rankings(
            system=system,
            rank=_joined([batch.ranks for batch in batches]),
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            judge=judge,
            segment=segment,
            systems=systems,
            judges=judges,
            segments=segments,
        )


class ExaminedCampaign(Campaign):
    """A campaign that also counts the votes of each judge, so that its judges can be tested at the end.

    So it does not follow them vote by vote, as a running campaign does.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> campaign = ExaminedCampaign("c")
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("b", "a"), ranks=(1, 2), at=EPOCH)
    >>> result = campaign.apply([0], [verdict])
    >>> campaign.votes().systems, campaign.votes().first.tolist()
    (('a', 'b'), [1])
    """

    def __init__(
        self, name: str, settings: CampaignSettings | None = None, *, options: CampaignOptions | None = None
    ) -> None:
        super().__init__(name, settings, options=replace(options or CampaignOptions(), follow_judges=False))
        self._vote_arrays = VoteArrays()

    def _rate(self, admitted: Admitted) -> None:
        super()._rate(admitted)
        self._vote_arrays.add(admitted)

    def votes(self) -> Votes:
        """Return the votes of all judges."""
        return self._vote_arrays.votes(self.tables.systems.names, self.tables.judges.names)


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.empty(0, np.int64), *parts])


def _sorted(names: Sequence[str], numbers: Ints) -> tuple[tuple[str, ...], Ints]:
    """Return the names in order, and the numbers that they have there."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return tuple(names[i] for i in order), place[numbers]
