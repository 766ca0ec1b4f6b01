"""Read the data sets of ComparIA: votes between two models, and reactions to single messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.features import OutputColumns
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, assess, compare, flag_in, required_text, tag_in, text_in
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment


def _judge_vote(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    systems = [required_text(row, name) for name in ("model_a_name", "model_b_name")]
    chosen = text_in(row, "chosen_model_name")
    names = [system.lower() for system in systems]
    if chosen is None and not flag_in(row, "both_equal"):
        run.leave_out("no vote")
        return []
    if chosen is not None and chosen.lower() not in names:
        message = f"{quote(chosen)} is not one of the two models {quote(systems)}"
        raise RecordError("invalid_value", message, field="chosen_model_name")
    at = text_in(row, "timestamp")
    return compare(
        run,
        number,
        systems,
        (1, 1) if chosen is None else [1 if name == chosen.lower() else 2 for name in names],
        segment=text_in(row, "conversation_pair_id", "id"),
        judge=text_in(row, "visitor_id", "session_hash"),
        at=parse_time(at, field="timestamp") if at else None,
        tags={"turn": tag_in(row, "conv_turns"), "category": tag_in(row, "selected_category")},
    )


def _judge_reaction(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return a score: 1 for a liked message, 0 for a disliked one."""
    liked, disliked = bool(flag_in(row, "liked")), bool(flag_in(row, "disliked"))
    if liked == disliked:
        run.leave_out("neither liked nor disliked")
        return []
    segment = [text for name in ("conversation_pair_id", "msg_rank") if (text := text_in(row, name))]
    at = text_in(row, "timestamp")
    return [
        assess(
            run,
            number,
            required_text(row, "refers_to_model"),
            1.0 if liked else 0.0,
            segment=".".join(segment),
            judge=text_in(row, "visitor_id", "session_hash"),
            at=parse_time(at, field="timestamp") if at else None,
        )
    ]


VOTES = RecordLayout(
    name="comparia-votes",
    about="votes of ComparIA: two models and the chosen one",
    needs=(("model_a_name", "model_b_name", "chosen_model_name", "both_equal"),),
    columns=(
        *("id", "timestamp", "conversation_pair_id", "session_hash", "visitor_id"),
        *("conv_turns", "selected_category"),
    ),
    judge=_judge_vote,
    outputs=OutputColumns(systems=(("model_a_name", "model_b_name"),), texts=(("conversation_a", "conversation_b"),)),
)
REACTIONS = RecordLayout(
    name="comparia-reactions",
    about="reactions of ComparIA: a message that was liked or disliked",
    needs=(("refers_to_model", "liked", "disliked"),),
    columns=("timestamp", "conversation_pair_id", "msg_rank", "session_hash", "visitor_id"),
    judge=_judge_reaction,
)
