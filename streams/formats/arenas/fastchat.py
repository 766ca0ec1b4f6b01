"""Read what FastChat writes itself: the raw log of an arena, and pairs that a language model judged for MT-bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.arena import BOTH_BAD, parse_winner
from streams.formats.rankings import parse_time
from streams.formats.records import RecordLayout, compare, first_text, list_in, required_text, tag_in, text_in
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_VOTES = {"leftvote": (1, 2), "rightvote": (2, 1), "tievote": (1, 1), "bothbad_vote": (1, 1)}
_HIDDEN = ("", "model a", "model b")


def _judge_vote(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    vote = required_text(row, "type")
    if vote not in _VOTES:
        run.leave_out("not a vote between two models")
        return []
    states = [state for state in list_in(row, "states") if isinstance(state, dict)]
    shown = [str(name) for name in list_in(row, "models")]
    if len(shown) != 2 or len(states) != 2:
        raise RecordError(
            "length_mismatch", f"a vote needs two models and two states, not {len(shown)}", field="models"
        )
    hidden = [_is_hidden(name) for name in shown]
    if hidden[0] != hidden[1]:
        raise RecordError("invalid_value", f"one of two models is hidden: {quote(shown)}", field="models")
    if not hidden[0]:  # the judge chose the models, so the vote is not blind
        run.leave_out("not anonymous")
        return []
    at = first_text(row, ("tstamp",))
    return compare(
        run,
        number,
        [required_text(state, "model_name") for state in states],
        _VOTES[vote],
        segment=text_in(states[0], "conv_id"),
        judge=text_in(row, "ip"),
        at=parse_time(at[1], field=at[0]) if at else None,
        tags={"outcome": BOTH_BAD if vote == "bothbad_vote" else None},
    )


def _texts(row: Record, _: Judgment) -> dict[str, object]:
    """Return what each model said: the messages of the second role in the conversation."""
    found: dict[str, object] = {}
    for state in list_in(row, "states"):
        if isinstance(state, dict):
            messages = [each for each in list_in(state, "messages") if isinstance(each, list) and len(each) == 2]
            asking = messages[0][0] if messages else None
            found[str(state.get("model_name"))] = [text for role, text in messages if role != asking]
    return found


def _is_hidden(name: str) -> bool:
    """Return whether the judge did not see the name of the model: it is empty, or a heading such as "### Model A"."""
    return name.lower().strip("#* \n") in _HIDDEN or name.lstrip().startswith(("<h", "#"))


def _judge_games(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return the verdict of two games in which the models changed places. It is a tie if the games disagree."""
    games = [required_text(row, name) for name in ("g1_winner", "g2_winner")]
    if "error" in games:
        run.leave_out("an error of the judge")
        return []
    sides = {"model_1": "model_a", "model_2": "model_b", "tie": "tie"}
    for name, game in zip(("g1_winner", "g2_winner"), games, strict=True):
        if game not in sides:
            raise RecordError("invalid_value", f"{quote(game)} is not one of {', '.join(sides)}, error", field=name)
    at = first_text(row, ("tstamp",))
    judge = row.get("judge")
    return compare(
        run,
        number,
        [required_text(row, "model_1"), required_text(row, "model_2")],
        parse_winner(sides[games[0]] if games[0] == games[1] else "tie"),
        segment=required_text(row, "question_id"),
        judge="/".join(str(part) for part in judge) if isinstance(judge, list) else text_in(row, "judge"),
        at=parse_time(at[1], field=at[0]) if at else None,
        tags={"turn": tag_in(row, "turn"), "games": None if games[0] == games[1] else "different"},
    )


LOG = RecordLayout(
    name="fastchat-log",
    about="raw log of a FastChat arena: one JSON object per vote",
    needs=(("type", "models", "states"), ("type", "tstamp", "model", "state")),  # the second is a chat with one model
    columns=("tstamp", "ip"),
    judge=_judge_vote,
    texts=_texts,
)
PAIRS = RecordLayout(
    name="fastchat-pairs",
    about="pairs that a language model judged for MT-bench: two games with the models in both orders",
    needs=(("model_1", "model_2", "g1_winner", "g2_winner"),),
    columns=("question_id", "judge", "turn", "tstamp"),
    judge=_judge_games,
)
