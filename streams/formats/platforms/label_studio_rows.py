"""Read Label Studio's JSON-MIN and CSV: one row per annotation, with the fields of the task beside the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.formats.arena import BOTH_BAD, is_both_bad
from streams.formats.label_studio import lead_time_ms
from streams.formats.platforms.verdicts import (
    find_verdict,
    have_systems,
    names_system,
    read_verdict,
    systems_in,
    texts_in,
)
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, compare, list_in, number_in, text_in

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_OWN = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
_SEGMENT = ("segment", "prompt_id", "id")


def _judge_annotation(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    systems = systems_in(row)
    selected, texts = _labels(row)
    said = [text for found in (selected or texts).values() for text in found]
    answered = selected or [name for name, found in texts.items() if _has_verdict(found, systems)]
    if run.labels.is_unanswered(texts, answered):
        run.leave_out("skipped by the judge")
        return []
    annotation, at = text_in(row, "annotation_id"), text_in(row, "created_at")
    return compare(
        run,
        number,
        systems,
        find_verdict(said, systems, field="result"),
        segment=text_in(row, *_SEGMENT),
        judge=text_in(row, "annotator"),
        at=parse_time(at, field="created_at") if at else None,
        id=f"annotation-{annotation}" if annotation else None,
        duration_ms=lead_time_ms(number_in(row, "lead_time")),
        tags={"outcome": BOTH_BAD if any(map(is_both_bad, said)) else None},
    )


def _labels(row: Record) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the pairwise selections, and all other texts: without a selection, one of them may be the choice."""
    selected: dict[str, list[str]] = {}
    texts: dict[str, list[str]] = {}
    for name, value in row.items():
        if name in _OWN or names_system(name):
            continue
        if isinstance(value, list) or (isinstance(value, str) and value[:2] in ("[{", '["')):
            for each in list_in(row, name):
                if isinstance(each, dict) and isinstance(each.get("selected"), str):
                    selected.setdefault(name, []).append(each["selected"])
                elif isinstance(each, str):
                    texts.setdefault(name, []).append(each)
        elif isinstance(value, str) and value:
            texts[name] = [value]
    return selected, texts


def _has_verdict(texts: list[str], systems: tuple[str, str]) -> bool:
    return any(read_verdict(text, systems, field="result") for text in texts)


LAYOUT = RecordLayout(
    name="label-studio-rows",
    about="JSON-MIN or CSV export of Label Studio: one row per annotation",
    needs=(("annotation_id", "annotator", "lead_time"),),
    columns=(),
    judge=_judge_annotation,
    suits=have_systems,
    texts=lambda row, judgment: texts_in(row, judgment.systems),
)
