"""Read battles of an arena: two models and the winner. The file is CSV, JSON, JSON Lines or Parquet.

These are the files of LMSYS and LMArena of all years, of arenas that run FastChat, and simple logs of comparisons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.columns.wide import WideColumns
from streams.formats.features import OutputColumns
from streams.formats.rankings import parse_time
from streams.formats.recent import conversation_key
from streams.formats.records import (
    RecordLayout,
    compare,
    first_text,
    flag_in,
    list_in,
    number_in,
    object_in,
    required_text,
    tag_in,
    text_in,
)
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

SIDES = (("model_a", "model_b"), ("left", "right"))
WINNER = "winner"
# Names that files use for the same field. The first one that is present counts.
SEGMENT = ("segment", "prompt_id", "prompt", "question_id", "id")
JUDGE = ("judge", "judge_hash", "worker", "annotator", "user", "evaluation_session_id")
TIME = ("tstamp", "timestamp", "at", "created_at")

BOTH_BAD = "both_bad"
REPEATED = "a repeated conversation"
_FIRST = ("model_a", "left")
_SECOND = ("model_b", "right")
_BOTH_BAD = ("tie (bothbad)", "tie (both bad)", "both bad", "bothbad", BOTH_BAD)
RANKS = dict.fromkeys(_FIRST, (1, 2)) | dict.fromkeys(_SECOND, (2, 1)) | dict.fromkeys(("tie", *_BOTH_BAD), (1, 1))

# The winner in three columns, of which one is 1.
_ONE_HOT = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
_TAGS = ("language", "turn", "is_code", "evaluation_order")
_TEXTS = ("conversation", "messages", "response", "answer", "output", "completion", "text")
_CATEGORIES = ("creative_writing", "if", "math")


def judge_battle(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return the judgment of a battle. Battles that do not count in the arena are left out."""
    sides = next((sides for sides in SIDES if sides[0] in row and sides[1] in row), SIDES[0])
    if "anony" in row and flag_in(row, "anony") is False:
        run.leave_out("not anonymous")
        return []
    if "dedup_tag" in row and object_in(row, "dedup_tag").get("sampled") is False:
        run.leave_out("a frequent prompt (dedup_tag)")
        return []
    winner = _winner(row)
    if winner is None:
        run.leave_out("no vote")
        return []
    systems = [required_text(row, side) for side in sides]
    segment, judge, at = text_in(row, *SEGMENT), _judge(row), first_text(row, TIME)
    tags = {name: tag_in(row, name) for name in _TAGS if name in row}
    found = compare(
        run,
        number,
        systems,
        parse_winner(winner, systems),
        segment=segment,
        judge=judge,
        at=parse_time(at[1], field=at[0]) if at else None,
        tags={"outcome": BOTH_BAD if is_both_bad(winner) else None, **tags, **_categories(row)},
    )
    conversation = text_in(row, "id") or (at and text_in(row, "question_id"))
    if conversation and found and not run.conversations.count_new([conversation_key(conversation, found[0])]):
        run.leave_out(REPEATED)
        return []
    return found


def parse_winner(winner: str, systems: list[str] | None = None) -> tuple[int, int]:
    """Return the ranks of the two models. The winner is a side, a tie, or the name of one of the systems."""
    word = winner.strip().lower()
    if found := RANKS.get(word):
        return found
    if word.startswith("tie"):  # with a reason, for example "tie (inconsistent)"
        return (1, 1)
    for system, ranks in zip(systems or (), ((1, 2), (2, 1)), strict=False):
        if word == system.lower():
            return ranks
    raise RecordError("invalid_value", f"{quote(winner)} is not a winner; use one of {', '.join(RANKS)}", field=WINNER)


def is_both_bad(winner: str) -> bool:
    """Return whether a vote says that both outputs are bad. It is a tie, with a tag."""
    return winner.strip().lower() in _BOTH_BAD


def _winner(row: Record) -> str | None:
    if WINNER in row:
        return text_in(row, WINNER)
    chosen = [name for column, name in _ONE_HOT.items() if number_in(row, column) == 1]
    if len(chosen) != 1:
        text = ", ".join(f"{column}={row.get(column)!r}"[:60] for column in _ONE_HOT)
        raise RecordError("invalid_value", f"exactly one must be 1, but {text}", field="winner_model_a")
    return chosen[0]


def _judge(row: Record) -> str | None:
    """Return the judge. A program has a name of several parts: ["gpt-4", "pair-v2"]."""
    if isinstance(row.get("judge"), list):
        return "/".join(part for part in list_in(row, "judge") if isinstance(part, str)) or None
    return text_in(row, *JUDGE)


def _categories(row: Record) -> dict[str, str | None]:
    """Return what the arena found about the prompt, as tags."""
    if "category_tag" not in row or not (given := object_in(row, "category_tag")):
        return {}
    found = {name: tag_in(group, name) for group in given.values() if isinstance(group, dict) for name in group}
    return {name: found[name] for name in _CATEGORIES if name in found}


LAYOUT = RecordLayout(
    name="arena",
    about="battles of an arena: CSV, JSON or JSON Lines",
    needs=(*((*sides, WINNER) for sides in SIDES), ("model_a", "model_b", *_ONE_HOT)),
    columns=(*SEGMENT, *JUDGE, *TIME, *_TAGS, "anony", "dedup_tag", "category_tag"),
    judge=judge_battle,
    unless=("annotation_id",),
    wide=WideColumns(
        segment=SEGMENT, judge=JUDGE, time=TIME, conversation=("id",), timed_conversation=("question_id",)
    ),
    outputs=OutputColumns(systems=SIDES, texts=tuple((f"{name}_a", f"{name}_b") for name in _TEXTS)),
)
