"""Read Copilot Arena: two completions of a piece of code, and the one that the programmer accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.names import shorten_name
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, compare, list_in, number_in, required_text, text_in
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_RANKS = {0: (1, 2), 1: (2, 1)}


def _judge_completion(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    accepted = number_in(row, "acceptedindex")
    if accepted is None:
        run.leave_out("nothing was accepted")
        return []
    if accepted not in _RANKS:
        message = f"{quote(row['acceptedindex'])} is not 0 (the first completion) or 1 (the second)"
        raise RecordError("invalid_value", message, field="acceptedindex")
    at = text_in(row, "timestamp")
    return compare(
        run,
        number,
        _models(row),
        _RANKS[int(accepted)],
        segment=text_in(row, "pairid") or _place(row),
        judge=text_in(row, "userid"),
        at=parse_time(at, field="timestamp") if at else None,
    )


def _models(row: Record) -> list[str]:
    if "completionitems" not in row:
        return [required_text(row, side) for side in ("model_a", "model_b")]
    items = list_in(row, "completionitems")
    if len(items) != 2:
        raise RecordError("length_mismatch", f"{len(items)} completions; a vote has two", field="completionitems")
    return [required_text(item if isinstance(item, dict) else {}, "model") for item in items]


def _texts(row: Record, judgment: Judgment) -> dict[str, object]:
    if "completionitems" not in row:
        return dict(zip(judgment.systems, (row.get("completion_a"), row.get("completion_b")), strict=True))
    items = [each for each in list_in(row, "completionitems") if isinstance(each, dict)]
    return {str(item.get("model")): item.get("completion") for item in items}


def _place(row: Record) -> str | None:
    """Return the place in the code as a segment: what stands before it, and after it."""
    text = (text_in(row, "prefix") or "") + "|" + (text_in(row, "suffix") or "")
    return shorten_name(text) if text != "|" else None


LAYOUT = RecordLayout(
    name="copilot-arena",
    about="completions of Copilot Arena, with the index of the accepted one",
    needs=(("model_a", "model_b", "acceptedindex"), ("completionitems", "acceptedindex")),
    columns=("prefix", "suffix", "pairid", "userid", "timestamp", "completion_a", "completion_b"),
    judge=_judge_completion,
    texts=_texts,
)
