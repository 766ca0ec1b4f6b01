"""The quick way into a campaign: a batch of ordinary judgments is checked and turned into columns at once.

The functions here change nothing. They return what the campaign takes over, or None if a record needs a check of its
own. The campaign then applies the records one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, chain
from math import nan
from typing import TYPE_CHECKING, cast
from zlib import crc32

import numpy as np

from streams.core.campaign.columns import Admitted
from streams.core.campaign.names import NumberedNames
from streams.core.models import JudgmentBatch
from streams.wire.events import ENDED, LONGEST_JUMP, Judgment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from streams.core.campaign.retractions import Retractions
    from streams.core.campaign.seen import SeenIds
    from streams.core.campaign.tables import CampaignTables
    from streams.core.models import Model
    from streams.wire.events import CampaignStatus, Command
    from streams.wire.scanner import JudgmentColumns

    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class OrdinaryJudgments:
    """Columns of judgments that may all be applied, with the values that the campaign takes over."""

    ids: Sequence[str]
    segments: Sequence[str]
    judges: Sequence[str]  # by pseudonym
    systems: list[int]  # by index, one judgment after the other
    ranks: Sequence[tuple[int, ...]]
    answered: Sequence[str]  # ids of match requests
    durations: Sequence[int | None]
    tags: Sequence[Mapping[str, str] | None]  # empty if the campaign has no boards by category
    latest: datetime

    def admitted(
        self, offsets: Sequence[int], *, judges: list[int], segments: list[int], categories: Ints | None
    ) -> Admitted:
        """Return the columns as arrays."""
        return Admitted(
            batch=JudgmentBatch(
                systems=np.array(self.systems, np.int64),
                ranks=np.array([*chain.from_iterable(self.ranks)], np.int64),
                starts=np.array([0, *accumulate(map(len, self.ranks))], np.int64),
                judges=np.array(judges, np.int64),
                segments=np.array(segments, np.int64),
                scores=np.array([nan] * len(self.ids)),
            ),
            offsets=np.array(offsets, np.int64),
            durations=np.array([-1 if each is None else each for each in self.durations], np.int64),
            keys=np.array([crc32(each.encode()) for each in self.ids], np.int64),
            categories=categories,
        )


def may_admit(first: int, *, model: Model, status: CampaignStatus, retractions: Retractions) -> bool:
    """Return whether a campaign may admit the records from an offset on in bulk. With a defence on it may not."""
    settings = status.settings
    return (
        status.offset >= 0
        and status.state not in ENDED
        and model.kind == "rankings"
        and model.required_system is None
        and settings.judge_per_minute is None
        and settings.judge_share is None
        and settings.repeat_votes == "all"
        and not settings.requests_only
        and not settings.gold
        and first >= max(retractions.judges.values(), default=0)
    )


def check_judgments(
    events: Sequence[Judgment | Command],
    *,
    status: CampaignStatus,
    tables: CampaignTables,
    seen: SeenIds,
    retractions: Retractions,
    left_out: frozenset[str],
    pseudonyms: Mapping[str, str] | None,
    clock: datetime,
) -> OrdinaryJudgments | None:
    """Return the columns of judgments that are all new and of known systems, or None if one of them is not."""
    if set(map(type, events)) != {Judgment}:
        return None
    judgments = cast("Sequence[Judgment]", events)
    latest = max([each.at for each in judgments])
    ranks = [each.ranks for each in judgments if each.ranks is not None]
    if len(ranks) < len(judgments) or latest > clock + LONGEST_JUMP:
        return None
    if any(each.replaces is not None for each in judgments):
        return None
    ids = [each.id for each in judgments]
    distinct = set(ids)
    if len(distinct) < len(ids) or seen.has_any(distinct) or not distinct.isdisjoint(left_out):
        return None
    judges = [each.judge for each in judgments]
    if pseudonyms is not None:
        judges = [pseudonyms[judge] for judge in judges]
    barred = {*status.excluded, *retractions.suspended}
    if (barred and not barred.isdisjoint(judges)) or not tables.judges.has_room_for(judges):
        return None
    try:
        found = list(map(tables.systems.index.__getitem__, chain.from_iterable([each.systems for each in judgments])))
    except KeyError:
        return None
    return OrdinaryJudgments(
        ids=ids,
        segments=[each.segment for each in judgments],
        judges=judges,
        systems=found,
        ranks=ranks,
        answered=[each.request for each in judgments if each.request is not None],
        durations=[each.duration_ms for each in judgments],
        tags=[each.tags for each in judgments] if status.settings.boards else (),
        latest=latest,
    )


@dataclass(frozen=True, kw_only=True)
class OrdinaryColumns:
    """Scanned judgments that may all be applied, unless an id is known."""

    columns: JudgmentColumns
    systems: Ints  # by index, one judgment after the other
    judges: NumberedNames  # by pseudonym
    segments: NumberedNames
    answered: Sequence[str]  # ids of match requests

    def admitted(self, offsets: Sequence[int], *, judges: Ints, segments: Ints) -> Admitted:
        """Return the columns with the campaign's own indices."""
        return Admitted(
            batch=JudgmentBatch(
                systems=self.systems,
                ranks=self.columns.ranks,
                starts=self.columns.starts,
                judges=judges,
                segments=segments,
                scores=np.full(len(self.columns), nan),
            ),
            offsets=_to_array(offsets),
            durations=self.columns.durations,
            keys=self.columns.id_checksums(),
        )


def check_columns(
    columns: JudgmentColumns,
    *,
    status: CampaignStatus,
    tables: CampaignTables,
    retractions: Retractions,
    left_out: frozenset[str],
    pseudonyms: Mapping[str, str] | None,
    clock: datetime,
) -> OrdinaryColumns | None:
    """Return scanned judgments of known systems, or None if a judgment needs a check of its own."""
    if columns.latest_time > clock + LONGEST_JUMP:
        return None
    if left_out and not left_out.isdisjoint(columns.ids()):
        return None
    judges = NumberedNames(columns.judges, columns.names, pseudonyms)
    barred = {*status.excluded, *retractions.suspended}
    if (barred and not barred.isdisjoint(judges)) or not tables.judges.has_room_for(judges):
        return None
    systems = tables.systems.find_numbered(NumberedNames(columns.systems, columns.names))
    if systems.min() < 0:
        return None
    return OrdinaryColumns(
        columns=columns,
        systems=systems,
        judges=judges,
        segments=NumberedNames(columns.segments, columns.names),
        answered=columns.answered_requests(),
    )


def _to_array(offsets: Sequence[int]) -> Ints:
    """Return offsets as an array. Those of a file are a range, and its numbers would be read one by one."""
    if isinstance(offsets, range):
        return np.arange(offsets.start, offsets.stop, offsets.step)
    return np.asarray(offsets, np.int64)
