"""Read battles of an arena: two models and the winner. The file is CSV, JSON or JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from streams.errors import RecordError
from streams.formats.base import Format
from streams.formats.input.documents import read_documents
from streams.formats.input.tables import Table
from streams.formats.names import ANONYMOUS, UNSPECIFIED, campaign_name, shorten_name
from streams.formats.rankings import make_judgments, parse_time
from streams.formats.validation import row_reader
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from streams.formats.base import ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

    BattleRow: TypeAlias = Mapping[str, object]

SIDES = (("model_a", "model_b"), ("left", "right"))
WINNER = "winner"
# Names that files use for the same field. The first one that is present counts.
SEGMENT = ("segment", "prompt_id", "prompt", "question_id")
JUDGE = ("judge", "judge_hash", "worker", "annotator", "user")
TIME = ("tstamp", "timestamp", "at", "created_at")

_PRIVATE = (*JUDGE, "id", "email")  # of a judge
_FIRST = ("model_a", "left")
_SECOND = ("model_b", "right")
_TIE = ("tie", "tie (bothbad)", "tie (both bad)", "both bad", "bothbad", "both_bad")
RANKS = dict.fromkeys(_FIRST, (1, 2)) | dict.fromkeys(_SECOND, (2, 1)) | dict.fromkeys(_TIE, (1, 1))


def is_battles(names: Collection[str]) -> bool:
    """Return whether these columns or keys are those of battles."""
    return WINNER in names and any(first in names and second in names for first, second in SIDES)


def judge_battle(row: BattleRow, number: int, run: ImportRun) -> list[Judgment]:
    """Return the judgment of a battle."""
    first, second = next((sides for sides in SIDES if sides[0] in row and sides[1] in row), SIDES[0])
    systems = (required_text(row, first), required_text(row, second))
    segment, at = first_text(row, SEGMENT), first_text(row, TIME)
    return make_judgments(
        run,
        number,
        [((system,), rank) for system, rank in zip(systems, parse_winner(required_text(row, WINNER)), strict=True)],
        campaign=campaign_name(run),
        segment=shorten_name(segment[1]) if segment else UNSPECIFIED,
        judge=(first_text(row, JUDGE) or ("", ANONYMOUS))[1],
        at=parse_time(at[1], field=at[0]) if at else None,
    )


def parse_winner(winner: str) -> tuple[int, int]:
    """Return the ranks of the two models."""
    found = RANKS.get(winner.strip().lower())
    if not found:
        raise RecordError(
            "invalid_value", f"{quote(winner)} is not a winner; use one of {', '.join(RANKS)}", field=WINNER
        )
    return found


def required_text(row: BattleRow, name: str) -> str:
    """Return a field that must be present, as text."""
    found = first_text(row, (name,))
    if not found:
        raise RecordError("missing_field", f"`{name}` is missing", field=name)
    return found[1]


def first_text(row: BattleRow, names: Collection[str]) -> tuple[str, str] | None:
    """Return the name and the text of the first of these fields that is present."""
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, str):
            return name, value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            found = "the value, which is private," if name in _PRIVATE else quote(value)
            raise RecordError("invalid_value", f"{found} is not a text or a number", field=name)
        return name, str(value)
    return None


def _read_rows(source: Source, _: ImportRun) -> Iterator[tuple[int, BattleRow | RecordError]]:
    if source.head.lstrip()[:1] in (b"[", b"{"):
        yield from read_documents(source)
        return
    table = Table(source, required=(WINNER,), kind="a log of battles")
    names = tuple(table.columns)
    for line, cells in table.rows():
        yield line, cells if isinstance(cells, RecordError) else dict(zip(names, cells, strict=True))


def _recognise(head: FileHead) -> bool:
    return is_battles(head.columns) or is_battles(head.keys)


FORMAT = Format(
    "arena", "battles of an arena: CSV, JSON or JSON Lines", _recognise, row_reader(_read_rows, judge_battle)
)
