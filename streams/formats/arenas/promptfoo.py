"""Read results of promptfoo: scores of providers on tests. A grade that a person gave counts before all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.records import (
    MAX_JUDGMENTS,
    RecordLayout,
    assess,
    flag_in,
    list_in,
    number_in,
    object_in,
    required_text,
    text_in,
)

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_HUMAN = "human"


def _judge_file(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return the scores of a whole file, or of one result of JSON Lines."""
    if "results" not in row:
        results: list[object] = [row]
    else:
        results = list_in(object_in(row, "results"), "results")
    if len(results) > MAX_JUDGMENTS:
        raise RecordError(
            "too_large", f"{len(results):,} results; at most {MAX_JUDGMENTS:,} are accepted; use JSON Lines"
        )
    found = [
        judgment
        for place, each in enumerate(results)
        if isinstance(each, dict) and (judgment := _judge_result(each, number + place, run)) is not None
    ]
    if not found:
        run.leave_out("no score")
    return found


def _judge_result(row: Record, number: int, run: ImportRun) -> Judgment | None:
    result = {name.lower(): value for name, value in row.items()}
    grading = object_in(result, "gradingresult")
    human = next((part for part in list_in(grading, "componentResults") if _is_human(part)), None)
    score = number_in(human if isinstance(human, dict) else result, "score")
    if score is None and "success" in result:
        score = float(bool(flag_in(result, "success")))
    if score is None:
        return None
    provider = result.get("provider")
    system = text_in(provider, "label", "id") if isinstance(provider, dict) else text_in(result, "provider")
    if not system:
        raise RecordError("missing_field", "`provider` is missing", field="provider")
    return assess(
        run,
        number,
        system,
        score,
        segment=required_text(result, "testidx"),
        judge=_HUMAN if human else "assertions",
        tags={"prompt": text_in(result, "promptidx")},
    )


def _is_human(part: object) -> bool:
    assertion = part.get("assertion") if isinstance(part, dict) else None
    return isinstance(assertion, dict) and assertion.get("type") == _HUMAN


LAYOUT = RecordLayout(
    name="promptfoo",
    about="results of promptfoo: JSON or JSON Lines",
    needs=(("evalid", "results"), ("testidx", "promptidx", "success")),
    columns=(),
    judge=_judge_file,
)
