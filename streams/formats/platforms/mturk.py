"""Read batch results of Mechanical Turk. The inputs of a HIT name the systems, and an answer names the better one.

The answer is a text (`Answer.choice`), one column per option (`Answer.choice.left`), or JSON (`Answer.taskAnswers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.arena import is_both_bad
from streams.formats.platforms.times import parse_platform_time
from streams.formats.platforms.verdicts import find_verdict, have_systems, systems_in, texts_in
from streams.formats.rankings import parse_milliseconds
from streams.formats.records import RecordLayout, compare, list_in, required_text, text_in

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

STATUS, _REJECT = "assignmentstatus", "reject"
REJECTED = "a rejected assignment"  # why a row is left out
_INPUT, _ANSWER, _TASK_ANSWERS = "input.", "answer.", "answer.taskanswers"
_NEEDED = ("hitid", "workerid", STATUS)
_SEGMENT = ("segment", "segment_id", "prompt_id", "item", "id")


def status_columns(columns: Collection[str]) -> tuple[str, ...]:
    """Return the columns that say whether an assignment was rejected, if a table has the columns of such results."""
    return tuple(name for name in (STATUS, _REJECT) if name in columns) if {*columns}.issuperset(_NEEDED) else ()


def is_rejected(row: Mapping[str, object]) -> bool:
    """Return whether the requester has rejected an assignment, or will."""
    return (text_in(row, STATUS) or "").strip().lower() == "rejected" or bool((text_in(row, _REJECT) or "").strip())


def _judge_assignment(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    required_text(row, STATUS)
    if is_rejected(row):
        run.leave_out(REJECTED)
        return []
    inputs = _inputs(row)
    systems = systems_in(inputs, where="Input.")
    said = _answers(row)
    if not said:
        run.leave_out("no answer")
        return []
    ranks = find_verdict(said, systems, field="Answer")
    seconds = text_in(row, "worktimeinseconds")
    at = text_in(row, "submittime")
    return compare(
        run,
        number,
        systems,
        ranks,
        segment=text_in(inputs, *_SEGMENT) or required_text(row, "hitid"),
        judge=required_text(row, "workerid"),
        at=parse_platform_time(at, field="SubmitTime") if at else None,
        id=text_in(row, "assignmentid"),
        duration_ms=parse_milliseconds(seconds, field="WorkTimeInSeconds") if seconds else None,
        tags={"outcome": "both_bad" if any(map(is_both_bad, said)) else None},
    )


def _inputs(row: Record) -> dict[str, object]:
    return {name.removeprefix(_INPUT): value for name, value in row.items() if name.startswith(_INPUT)}


def _answers(row: Record) -> list[str]:
    """Return the texts of all answers, and the names of the options that were chosen."""
    said: list[str] = []
    for name, value in row.items():
        if not name.startswith(_ANSWER) or not isinstance(value, str) or not value.strip():
            continue
        if name == _TASK_ANSWERS:
            for form in list_in(row, name):
                said += _options(form)
        elif value.strip().lower() == "true":
            said.append(name.rpartition(".")[2])
        elif value.strip().lower() != "false":
            said.append(value)
    return said


def _options(form: object) -> list[str]:
    """Return what a form says: texts, and the names of the options that are true."""
    if not isinstance(form, dict):
        raise RecordError("invalid_value", "each element must be an object", field="Answer.taskAnswers")
    said: list[str] = []
    for name, value in form.items():
        if isinstance(value, str) and value.strip():
            said.append(value)
        elif value is True:
            said.append(name)
        elif isinstance(value, dict):
            said += [option for option, chosen in value.items() if chosen is True]
    return said


LAYOUT = RecordLayout(
    name="mturk",
    about="batch results of Mechanical Turk: systems in Input columns, the better one in an Answer column",
    needs=(_NEEDED,),
    columns=(),
    judge=_judge_assignment,
    suits=lambda names: have_systems(name[len(_INPUT) :] for name in names if name.lower().startswith(_INPUT)),
    texts=lambda row, judgment: texts_in(_inputs(row), judgment.systems),
)
