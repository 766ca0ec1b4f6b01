"""Read Argilla: records with responses of several users, as JSON of its client or flattened as a Hugging Face data set.

The answer is a label that names the better system, or a ranking of the systems. Ratings need a field `system`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streams.errors import RecordError
from streams.formats.platforms.verdicts import (
    SYSTEM_FIELDS,
    find_verdict,
    named_output,
    names_system,
    systems_in,
    texts_in,
)
from streams.formats.rankings import refuse_long_names
from streams.formats.records import (
    MAX_JUDGMENTS,
    RecordLayout,
    assess,
    compare,
    list_in,
    object_in,
    required_text,
    text_in,
)
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_SUBMITTED = "submitted"


class _Response(NamedTuple):
    question: str
    value: object
    user: str | None
    status: str


def _judge_record(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    fields = _fields(row)
    responses = list(_nested(row) if "responses" in row else _flattened(row))
    if len(responses) > MAX_JUDGMENTS:
        raise RecordError("too_large", f"{len(responses):,} responses; at most {MAX_JUDGMENTS:,} are accepted")
    found: list[Judgment] = []
    record = text_in(row, "id") or str(number)
    for response in responses:
        if response.status == _SUBMITTED and response.value is not None:
            found += _judge_response(response, fields, record, number, run)
    if not found:
        run.leave_out("no submitted response")
    return found


def _fields(row: Record) -> dict[str, object]:
    given = {**object_in(row, "metadata"), **object_in(row, "fields"), **row}
    return {name.lower(): value for name, value in given.items()}


def _texts(row: Record, judgment: Judgment) -> dict[str, object]:
    """Return the outputs: of two systems in order, or of options that are the names of fields."""
    fields = _fields(row)
    named = {system: fields.get(system.lower()) for system in judgment.systems}
    return named if all(named.values()) else texts_in(fields, judgment.systems)


def _nested(row: Record) -> Iterator[_Response]:
    for question, given in object_in(row, "responses").items():
        for each in given if isinstance(given, list) else [given]:
            if not isinstance(each, dict):
                raise RecordError("invalid_value", f"{quote(question)} has no list of objects", field="responses")
            yield _Response(
                question, each.get("value"), text_in(each, "user_id"), text_in(each, "status") or _SUBMITTED
            )


def _flattened(row: Record) -> Iterator[_Response]:
    """Yield the responses of three lists per question: values, users and states."""
    for name in row:
        if not name.endswith(_USERS):
            continue
        question = name.removesuffix(_USERS)
        values, users = list_in(row, question + _RESPONSES), list_in(row, name)
        states = list_in(row, question + _STATUS) or [_SUBMITTED] * len(values)
        if not len(values) == len(users) == len(states):
            message = f"{len(values)} responses, {len(users)} users and {len(states)} states of {quote(question)}"
            raise RecordError("length_mismatch", message, field=question + _RESPONSES)
        for value, user, status in zip(values, users, states, strict=True):
            yield _Response(question, value, None if user is None else str(user), str(status))


def _judge_response(response: _Response, fields: Record, record: str, number: int, run: ImportRun) -> list[Judgment]:
    question, value, user, _ = response
    tags = {"question": question}
    refuse_long_names(question=question, judge=user or "")
    run.summary.note_question(question)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        system = required_text(fields, "system" if "system" in fields else "model")
        scored = assess(run, number, system, float(value), segment=record, judge=user, tags=tags, key=question)
        return [scored]
    if isinstance(value, str) and value[:1] in "[{":
        value = list_in({"value": value}, "value")
    systems, ranks = _ranking(value, fields) if isinstance(value, list) else _label(value, fields)
    name = f"{record}.{question}.{user}" if user else None
    return compare(run, number, systems, ranks, segment=record, judge=user, id=name, tags=tags)


def _label(value: object, fields: Record) -> tuple[list[str], list[int]]:
    systems = systems_in(fields)
    return list(systems), list(find_verdict([value], systems, field="responses"))


def _ranking(value: list[object], fields: Record) -> tuple[list[str], list[int]]:
    """Return the options and their ranks: names from best to worst, or objects with `rank` and `value`."""
    options: list[str] = []
    ranks: list[int] = []
    for place, each in enumerate(value, start=1):
        if isinstance(each, dict):
            options.append(required_text(each, "value"))
            rank = each.get("rank")
        else:
            options.append(str(each))
            rank = place
        if not isinstance(rank, int) or not 1 <= rank <= len(value):
            raise RecordError("invalid_value", f"{quote(rank)} is not a rank from 1 to {len(value)}", field="responses")
        ranks.append(rank)
    systems = [_system_of(option, fields) for option in options]
    if len(set(systems)) != len(systems):
        raise RecordError("duplicate_system", f"a system is listed twice in {quote(systems)}", field="responses")
    return systems, ranks


def _system_of(option: str, fields: Record) -> str:
    """Return the system of an option: a field that has the system, such as `model_a`, an output, or its own name."""
    if names_system(option):
        return text_in(fields, option.lower()) or option
    return named_output(option, fields) or option


LAYOUT = RecordLayout(
    name="argilla",
    about="records of Argilla with responses",
    needs=(("fields", "responses", "suggestions"), ("fields", "responses", "status")),
    columns=("id", "system", "model", *SYSTEM_FIELDS),
    suffixes=(_USERS, _RESPONSES, _STATUS),
    judge=_judge_record,
    texts=_texts,
)
