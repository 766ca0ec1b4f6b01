"""Read preferences as a chosen and a rejected output, with the systems that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.formats.features import OutputColumns
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, compare, required_text, tag_in, text_in

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_SIDES = (("model_chosen", "model_rejected"), ("chosen_model", "rejected_model"))
_TIMES = ("vote_date", "timestamp", "created_at")


def _judge_choice(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return the verdict. The file does not say which output was shown first, so the systems are ordered by name."""
    sides = next((sides for sides in _SIDES if sides[0] in row and sides[1] in row), _SIDES[0])
    chosen, rejected = (required_text(row, side) for side in sides)
    systems = sorted((chosen, rejected))
    time = next((name for name in _TIMES if row.get(name)), None)
    return compare(
        run,
        number,
        systems,
        [1 if system == chosen else 2 for system in systems],
        segment=text_in(row, "prompt_id") or text_in(row, "text") or _prompt(row),
        judge=text_in(row, "user_id"),
        at=parse_time(required_text(row, time), field=time) if time else None,
        tags={"type": tag_in(row, "model_type")},
    )


def _prompt(row: Record) -> str | None:
    return text_in(row, "prompt") if isinstance(row.get("prompt"), str) else None


LAYOUT = RecordLayout(
    name="preferences",
    about="preferences: chosen_model and rejected_model, or model_chosen and model_rejected",
    needs=_SIDES,
    columns=("prompt_id", "text", "prompt", "user_id", "model_type", *_TIMES),
    judge=_judge_choice,
    outputs=OutputColumns(systems=_SIDES, texts=(("chosen", "rejected"),), suffixes=("_chosen", "_rejected")),
)
