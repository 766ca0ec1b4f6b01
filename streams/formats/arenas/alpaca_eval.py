"""Read annotations of AlpacaEval: the outputs of two generators, and which one the annotator prefers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.features import OutputColumns
from streams.formats.names import shorten_name
from streams.formats.records import RecordLayout, compare, number_in, required_text, tag_in, text_in
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_DRAWS = (0.0, 1.5)  # 0 is the older way to write it


def _judge_pair(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return the verdict. A preference between 1 and 2 is how probable it is that output 2 is better."""
    preference = number_in(row, "preference")
    if preference is None:
        run.leave_out("no preference")
        return []
    if preference not in _DRAWS and not 1 <= preference <= 2:
        message = f"{quote(row['preference'])} is not a preference; use 1, 2, a number between them, or 0 for a draw"
        raise RecordError("invalid_value", message, field="preference")
    return compare(
        run,
        number,
        [required_text(row, "generator_1"), required_text(row, "generator_2")],
        (1, 1) if preference in _DRAWS else (1, 2) if preference < 1.5 else (2, 1),
        segment=shorten_name(text_in(row, "instruction") or ""),
        judge=text_in(row, "annotator"),
        tags={
            "dataset": tag_in(row, "dataset"),
            "preference": None if preference in (*_DRAWS, 1.0, 2.0) else f"{preference:.4f}",
        },
    )


LAYOUT = RecordLayout(
    name="alpaca-eval",
    about="annotations of AlpacaEval: generator_1, generator_2 and preference",
    needs=(("generator_1", "generator_2", "preference"),),
    columns=("instruction", "annotator", "dataset"),
    judge=_judge_pair,
    outputs=OutputColumns(
        systems=(("generator_1", "generator_2"),), texts=(("output_1", "output_2"),), suffixes=("_1", "_2")
    ),
)
