"""Read Pick-a-Pic: two pictures of one caption, and which one the user prefers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, compare, flag_in, number_in, ranks_of, required_text, text_in

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment


def _judge_pictures(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    if flag_in(row, "has_label") is False:
        run.leave_out("no label")
        return []
    labels = [number_in(row, name) for name in ("label_0", "label_1")]
    shares = [label for label in labels if label is not None]
    if len(shares) != 2 or abs(sum(shares) - 1) > 1e-6 or min(shares) < 0:
        raise RecordError("invalid_value", f"the labels are {labels}; they must add up to 1", field="label_0")
    at = text_in(row, "created_at")
    return compare(
        run,
        number,
        [required_text(row, "model_0"), required_text(row, "model_1")],
        ranks_of(shares),
        segment=text_in(row, "caption"),
        judge=text_in(row, "user_id"),
        at=parse_time(at, field="created_at") if at else None,
    )


LAYOUT = RecordLayout(
    name="pick-a-pic",
    about="Pick-a-Pic: two pictures with labels that add up to 1",
    needs=(("model_0", "model_1", "label_0", "label_1"),),
    columns=("caption", "user_id", "created_at", "has_label"),
    judge=_judge_pictures,
)
