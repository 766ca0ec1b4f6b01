"""Read the feedback that Open WebUI exports: a thumb for one answer, with the other models that answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, compare, list_in, object_in, required_text, text_in
from streams.wire.limits import MAX_RANKED

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_BETTER = {"1": True, "-1": False}  # the model or its siblings


def _judge_feedback(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return a comparison with each sibling. The file does not have the order on screen: it is that of the names."""
    data = object_in(row, "data") if "data" in row else row
    meta = object_in(row, "meta")
    better = _BETTER.get(text_in(data, "rating") or "")
    model = required_text(data, "model_id")
    siblings = [name for name in dict.fromkeys(_siblings(data)) if name != model]
    if better is None or not siblings:
        run.leave_out("no rating" if better is None else "no other model")
        return []
    if len(siblings) >= MAX_RANKED:
        message = f"{len(siblings)} models; at most {MAX_RANKED} are accepted"
        raise RecordError("too_many_systems", message, field="sibling_model_ids")
    at = text_in(row, "created_at")
    found: list[Judgment] = []
    for place, sibling in enumerate(siblings, start=1):
        systems = sorted((model, sibling))
        found += compare(
            run,
            number,
            systems,
            [1 if (system == model) == better else 2 for system in systems],
            segment=text_in(meta, "chat_id") or text_in(row, "chat_id"),
            judge=text_in(row, "user_id"),
            at=parse_time(at, field="created_at") if at else None,
            id=f"{required_text(row, 'id')}.{place}",
            tags={"reason": text_in(data, "reason")},
        )
    return found


def _siblings(data: Record) -> list[str]:
    """Return the other models: a list, or texts with `;` between them."""
    if isinstance(given := data.get("sibling_model_ids"), str):
        return [name.strip() for name in given.split(";") if name.strip()]
    return [name for name in list_in(data, "sibling_model_ids") if isinstance(name, str) and name]


LAYOUT = RecordLayout(
    name="open-webui",
    about="feedback of Open WebUI: a rating of one model and its siblings",
    needs=(("user_id", "data", "meta", "snapshot"), ("user_id", "model_id", "sibling_model_ids", "rating")),
    columns=(),
    judge=_judge_feedback,
)
