"""The rows of a campaign's systems, judges and segments: made from the arrays of its tables, and loaded into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from streams.core.campaign.gold import GoldTally
from streams.core.campaign.pace import Minute
from streams.core.campaign.state import JudgeRow, SegmentRow, SystemRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.campaign.tables import CampaignTables
    from streams.core.models import Model

Row = TypeVar("Row", SystemRow, JudgeRow, SegmentRow)


def make_system_rows(tables: CampaignTables, model: Model, systems: Sequence[int]) -> tuple[SystemRow, ...]:
    """Return the present rows of some systems."""
    mean, deviation = model.scores()
    return tuple(
        SystemRow(
            index=i,
            mean=float(mean[i]),
            deviation=float(deviation[i]),
            wins=int(tables.wins[i].sum()),
            ties=int(tables.ties[i].sum()),
            losses=int(tables.wins[:, i].sum()),
            judgments=int(tables.system_judgments[i]),
            offset=int(tables.system_offset[i]),
            state=model.dump_row("systems", i),
        )
        for i in systems
    )


def make_judge_row(tables: CampaignTables, model: Model, judge: int) -> JudgeRow:
    """Return the present row of a judge."""
    pace = tables.paces.get(tables.judges.names[judge], Minute())
    gold = tables.gold.get(judge, GoldTally())
    return JudgeRow(
        index=judge,
        judgments=int(tables.judge_judgments[judge]),
        timed=int(tables.judge_timed[judge]),
        duration_ms=int(tables.judge_duration[judge]),
        agreed=int(tables.judge_agreed[judge]),
        compared=int(tables.judge_compared[judge]),
        minute=pace.number,
        in_minute=pace.judgments,
        flagged=pace.flagged,
        gold_passed=gold.passed,
        gold_failed=gold.failed,
        state=model.dump_row("judges", judge),
    )


def load_rows(tables: CampaignTables, stored: Mapping[str, Mapping[str, bytes]], model: Model) -> None:
    """Load stored rows, each at the index that it had."""
    systems = _by_index(stored["systems"], SystemRow)
    judges = _by_index(stored["judges"], JudgeRow)
    segments = _by_index(stored["segments"], SegmentRow)
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


def _by_index(table: Mapping[str, bytes], kind: type[Row]) -> list[tuple[str, Row]]:
    decoder = msgspec.json.Decoder(kind)
    return sorted(((name, decoder.decode(value)) for name, value in table.items()), key=lambda item: item[1].index)
