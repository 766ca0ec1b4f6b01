"""Counts the judgments of systems, judges and segments in the arrays of a campaign's tables."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from streams.core.campaign.names import Ints
    from streams.core.campaign.tables import CampaignTables
    from streams.core.models import JudgmentBatch

FEW = 8  # judgments that are counted one by one, which is sooner than with arrays


def count_judgments(tables: CampaignTables, batch: JudgmentBatch, *, offsets: Ints, durations: Ints) -> None:
    """Count the judgments of each system, judge and segment. A duration below 0 means that none was given."""
    if len(batch) < FEW:
        _count_each(tables, batch, offsets, durations)
        return
    np.add.at(tables.system_judgments, batch.systems, 1)
    tables.system_offset[batch.systems] = np.repeat(offsets, batch.sizes)
    np.add.at(tables.judge_judgments, batch.judges, 1)
    np.add.at(tables.segment_judgments, batch.segments, 1)
    timed = np.flatnonzero(durations >= 0)
    np.add.at(tables.judge_timed, batch.judges[timed], 1)
    np.add.at(tables.judge_duration, batch.judges[timed], durations[timed])


def _count_each(tables: CampaignTables, batch: JudgmentBatch, offsets: Ints, durations: Ints) -> None:
    systems, spans = batch.systems.tolist(), pairwise(batch.starts.tolist())
    others = zip(batch.judges.tolist(), batch.segments.tolist(), offsets.tolist(), durations.tolist(), strict=True)
    for (first, last), (judge, segment, offset, duration) in zip(spans, others, strict=True):
        for system in systems[first:last]:
            tables.system_judgments[system] += 1
            tables.system_offset[system] = offset
        tables.judge_judgments[judge] += 1
        tables.segment_judgments[segment] += 1
        if duration >= 0:
            tables.judge_timed[judge] += 1
            tables.judge_duration[judge] += duration
