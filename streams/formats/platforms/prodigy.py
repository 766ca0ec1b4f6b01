"""Read Prodigy: tasks with options, of which the annotator accepts one. The id of an option is the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, compare, list_in, required_text, text_in
from streams.wire.decoding import quote
from streams.wire.limits import MAX_RANKED

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment


def _judge_task(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return a comparison of the accepted option with each other one."""
    answer = required_text(row, "answer")
    given, accepted = list_in(row, "options"), list_in(row, "accept")
    if answer != "accept" or not accepted:
        run.leave_out("skipped by the judge" if answer == "ignore" else "nothing was accepted")
        return []
    if not 2 <= len(given) <= MAX_RANKED:
        message = f"{len(given):,} options; 2 to {MAX_RANKED} are accepted"
        raise RecordError("invalid_value", message, field="options")
    options = [required_text(each if isinstance(each, dict) else {}, "id") for each in given]
    if len(set(options)) != len(options):
        raise RecordError("duplicate_system", f"an id is listed twice in {quote(options)}", field="options")
    chosen = str(accepted[0])
    if len(accepted) != 1 or chosen not in options:
        raise RecordError("invalid_value", f"{quote(accepted)} is not the id of one option", field="accept")
    at = text_in(row, "_timestamp")
    task = text_in(row, "_task_hash")
    found: list[Judgment] = []
    for other in options:
        if other == chosen:
            continue
        systems = [option for option in options if option in (chosen, other)]
        found += compare(
            run,
            number,
            systems,
            [1 if system == chosen else 2 for system in systems],
            segment=text_in(row, "_input_hash") or task,
            judge=text_in(row, "_annotator_id", "_session_id"),
            at=parse_time(at, field="_timestamp") if at else None,
            id=f"{number}-{task}.{len(found) + 1}",
        )
    return found


LAYOUT = RecordLayout(
    name="prodigy",
    about="annotations of Prodigy: options and the accepted one",
    needs=(("options", "accept", "answer", "_task_hash"),),
    columns=(),
    judge=_judge_task,
)
