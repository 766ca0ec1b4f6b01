"""The rows of a campaign's systems and judges, made from the arrays of its tables; and loading all rows into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec.structs import replace

from streams.core.campaign.gold import GoldTally
from streams.core.campaign.pace import Minute
from streams.core.campaign.segment_pages import decode_segments
from streams.core.campaign.state import JudgeRow, SystemRow, decode_row, encode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.campaign.tables import CampaignTables
    from streams.core.models import Model

Indexed = TypeVar("Indexed", SystemRow, JudgeRow)
NO_PACE, NO_GOLD = Minute(), GoldTally()


def make_system_rows(tables: CampaignTables, model: Model, systems: Sequence[int]) -> tuple[SystemRow, ...]:
    """Return the present rows of some systems."""
    if not systems:
        return ()
    (mean, deviation), chosen = model.scores(), np.array(systems)
    columns = (
        mean[chosen],
        deviation[chosen],
        *tables.outcomes[chosen].T,
        tables.system_judgments[chosen],
        tables.system_offset[chosen],
    )
    return tuple(
        SystemRow(
            index=i,
            mean=mean_of,
            deviation=deviation_of,
            wins=wins,
            ties=ties,
            losses=losses,
            judgments=judgments,
            offset=offset,
            state=model.dump_row("systems", i),
        )
        for i, mean_of, deviation_of, wins, ties, losses, judgments, offset in zip(
            systems, *(column.tolist() for column in columns), strict=True
        )
    )


def encode_judges(tables: CampaignTables, model: Model, judges: Sequence[int]) -> dict[str, bytes]:
    """Return the present rows of some judges, encoded, by name."""
    names = [tables.judges.names[i] for i in judges]
    counted = (
        tables.judge_judgments,
        tables.judge_timed,
        tables.judge_duration,
        tables.judge_agreed,
        tables.judge_compared,
    )
    rows = [
        JudgeRow(
            index=i,
            judgments=judgments,
            timed=timed,
            duration_ms=duration,
            agreed=agreed,
            compared=compared,
            state=model.dump_row("judges", i),
        )
        for i, judgments, timed, duration, agreed, compared in zip(
            judges, *(column[judges].tolist() for column in counted), strict=True
        )
    ]
    if tables.paces or tables.gold:
        rows = [_with_checks(row, name, tables) for row, name in zip(rows, names, strict=True)]
    return dict(zip(names, map(encode_row, rows), strict=True))


def _with_checks(row: JudgeRow, name: str, tables: CampaignTables) -> JudgeRow:
    """Return the row of a judge with their pace, and their answers to gold items."""
    pace, gold = tables.paces.get(name, NO_PACE), tables.gold.get(row.index, NO_GOLD)
    return replace(
        row,
        minute=pace.number,
        in_minute=pace.judgments,
        flagged=pace.flagged,
        gold_passed=gold.passed,
        gold_failed=gold.failed,
    )


def load_rows(tables: CampaignTables, stored: Mapping[str, Mapping[str, bytes]], model: Model) -> None:
    """Load stored rows, each at the index that it had."""
    systems = _by_index(stored["systems"], SystemRow)
    judges = _by_index(stored["judges"], JudgeRow)
    found = decode_segments(stored["segments"], stored["segment_pages"])
    segments = sorted(found.items(), key=lambda item: item[1].index)
    for add, rows in (
        (tables.systems.add, systems),
        (tables.judges.add, judges),
        (tables.segments.insert, segments),
    ):
        for name, _ in rows:
            add(name)
    tables.grow(model)
    for i, (_, system) in enumerate(systems):
        tables.system_judgments[i], tables.system_offset[i] = system.judgments, system.offset
        model.load_row("systems", i, system.state)
    for i, (name, judge) in enumerate(judges):
        if judge.minute:
            tables.paces[name] = Minute(judge.minute, judge.in_minute, judge.flagged)
        if judge.gold_passed or judge.gold_failed:
            tables.gold[i] = GoldTally(judge.gold_passed, judge.gold_failed)
        tables.judge_judgments[i], tables.judge_timed[i] = judge.judgments, judge.timed
        tables.judge_duration[i] = judge.duration_ms
        tables.judge_agreed[i], tables.judge_compared[i] = judge.agreed, judge.compared
        model.load_row("judges", i, judge.state)
    for i, (_, segment) in enumerate(segments):
        tables.segment_judgments[i] = segment.judgments
        model.load_row("segments", i, segment.state)


def _by_index(table: Mapping[str, bytes], kind: type[Indexed]) -> list[tuple[str, Indexed]]:
    rows = ((name, decode_row(value, kind)) for name, value in table.items())
    return sorted(rows, key=lambda item: item[1].index)
