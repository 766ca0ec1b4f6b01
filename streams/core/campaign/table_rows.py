"""The rows of a campaign's systems, judges and segments: made from the arrays of its tables, and loaded into them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.campaign.gold import GoldTally
from streams.core.campaign.pace import Minute
from streams.core.campaign.state import JudgeRow, Row, SegmentRow, SystemRow, decode_row, encode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.campaign.tables import CampaignTables
    from streams.core.models import Model

NO_PACE, NO_GOLD = Minute(), GoldTally()


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
    rows = []
    for i, name, *counts in zip(judges, names, *(column[judges].tolist() for column in counted), strict=True):
        pace, gold = tables.paces.get(name, NO_PACE), tables.gold.get(i, NO_GOLD)
        judgments, timed, duration, agreed, compared = counts
        rows.append(
            JudgeRow(
                index=i,
                judgments=judgments,
                timed=timed,
                duration_ms=duration,
                agreed=agreed,
                compared=compared,
                minute=pace.number,
                in_minute=pace.judgments,
                flagged=pace.flagged,
                gold_passed=gold.passed,
                gold_failed=gold.failed,
                state=model.dump_row("judges", i),
            )
        )
    return _encode_rows(names, rows)


def encode_segments(tables: CampaignTables, model: Model, segments: Sequence[int]) -> dict[str, bytes]:
    """Return the present rows of some segments, encoded, by name."""
    names = [tables.segments.names[i] for i in segments]
    has_state = model.widths["segments"] > 0  # most models have none, and a batch has many segments
    rows = [
        SegmentRow(index=i, judgments=count, state=model.dump_row("segments", i) if has_state else ())
        for i, count in zip(segments, tables.segment_judgments[segments].tolist(), strict=True)
    ]
    return _encode_rows(names, rows)


def _encode_rows(names: Sequence[str], rows: Sequence[JudgeRow] | Sequence[SegmentRow]) -> dict[str, bytes]:
    return dict(zip(names, map(encode_row, rows), strict=True))


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
    rows = ((name, decode_row(value, kind)) for name, value in table.items())
    return sorted(rows, key=lambda item: item[1].index)
