"""Battles of an arena: two models, or a left and a right one, and which of them won; CSV, JSON or JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from streams.errors import RecordError
from streams.formats.base import Format
from streams.formats.input.documents import documents
from streams.formats.input.tables import Table
from streams.formats.names import ANONYMOUS, UNSPECIFIED, campaign_name, shortened
from streams.formats.rankings import judged, time_of
from streams.formats.sound import by_row
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from streams.formats.base import Run
    from streams.formats.input.head import Head
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

    Row: TypeAlias = Mapping[str, object]

SIDES = (("model_a", "model_b"), ("left", "right"))
WINNER = "winner"
# What a file may call the same thing; the first that it has counts.
SEGMENT = ("segment", "prompt_id", "prompt", "question_id")
JUDGE = ("judge", "judge_hash", "worker", "annotator", "user")
TIME = ("tstamp", "timestamp", "at", "created_at")

_FIRST = ("model_a", "left")
_SECOND = ("model_b", "right")
_TIE = ("tie", "tie (bothbad)", "tie (both bad)", "both bad", "bothbad", "both_bad")
RANKS = dict.fromkeys(_FIRST, (1, 2)) | dict.fromkeys(_SECOND, (2, 1)) | dict.fromkeys(_TIE, (1, 1))


def is_battles(names: Collection[str]) -> bool:
    """Say whether columns or keys are those of battles."""
    return WINNER in names and any(first in names and second in names for first, second in SIDES)


def judge(row: Row, number: int, run: Run) -> list[Judgment]:
    """Make the judgment of a battle."""
    first, second = next((sides for sides in SIDES if sides[0] in row and sides[1] in row), SIDES[0])
    systems = (required(row, first), required(row, second))
    segment, at = text(row, SEGMENT), text(row, TIME)
    return judged(
        run,
        number,
        [((system,), rank) for system, rank in zip(systems, ranks(required(row, WINNER)), strict=True)],
        campaign=campaign_name(run),
        segment=shortened(segment[1]) if segment else UNSPECIFIED,
        judge=(text(row, JUDGE) or ("", ANONYMOUS))[1],
        at=time_of(at[1], field=at[0]) if at else None,
    )


def ranks(winner: str) -> tuple[int, int]:
    """Read who won."""
    found = RANKS.get(winner.strip().lower())
    if not found:
        raise RecordError("invalid_value", f"{quote(winner)} is none of {', '.join(RANKS)}", field=WINNER)
    return found


def required(row: Row, name: str) -> str:
    """Read a field that must be there."""
    found = text(row, (name,))
    if not found:
        raise RecordError("missing_field", f"there is no {name}", field=name)
    return found[1]


def text(row: Row, names: Collection[str]) -> tuple[str, str] | None:
    """Read the first of some fields that is there, as text, with its name."""
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, str):
            return name, value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise RecordError("invalid_value", f"{quote(value)} is no text", field=name)
        return name, str(value)
    return None


def _rows(source: Source, _: Run) -> Iterator[tuple[int, Row | RecordError]]:
    if source.head.lstrip()[:1] in (b"[", b"{"):
        yield from documents(source)
        return
    table = Table(source, required=(WINNER,), kind="a log of battles")
    names = tuple(table.columns)
    for line, cells in table.rows():
        yield line, cells if isinstance(cells, RecordError) else dict(zip(names, cells, strict=True))


def _recognises(head: Head) -> bool:
    return is_battles(head.columns) or is_battles(head.keys)


FORMAT = Format("arena", "battles of an arena: CSV, JSON or JSON Lines", _recognises, by_row(_rows, judge))
