"""Read answers of several models to one prompt, each with a score: UltraFeedback and PRISM."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.records import (
    MAX_JUDGMENTS,
    RecordLayout,
    compare,
    list_in,
    number_in,
    object_in,
    ranks_of,
    required_text,
    text_in,
)

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_ULTRA_JUDGE = "gpt-4"


def _judge_completions(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return the ranking of the completions by score. Those without a score are not ranked."""
    scored = []
    for each in list_in(row, "completions"):
        completion = each if isinstance(each, dict) else {}
        if (score := _score(completion)) is None:
            run.summary.unranked += 1
        else:
            scored.append((required_text(completion, "model"), score))
    if len(scored) < 2:
        run.leave_out("fewer than two scores")
        return []
    return compare(
        run,
        number,
        [model for model, _ in scored],
        ranks_of([score for _, score in scored]),
        segment=text_in(row, "instruction"),
        judge=_ULTRA_JUDGE,
        tags={"source": text_in(row, "source")},
    )


def _score(completion: Record) -> float | None:
    """Return the mean of the ratings. The overall score counts only without them: early files have wrong ones."""
    score = number_in(completion, "fine-grained_score")
    if score is not None:
        return score
    ratings = []
    for aspect in object_in(completion, "annotations").values():
        rating = aspect.get("Rating") if isinstance(aspect, dict) else None
        if rating not in (None, "N/A", ""):
            ratings.append(number_in({"rating": rating}, "rating") or 0.0)
    return sum(ratings) / len(ratings) if ratings else number_in(completion, "overall_score")


def _judge_conversation(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    """Return one ranking per turn in which several models answered."""
    answers = []
    for each in list_in(row, "conversation_history"):
        message = each if isinstance(each, dict) else {}
        score = number_in(message, "score")
        if message.get("role") == "model" and score is not None:
            answers.append((int(number_in(message, "turn") or 0), required_text(message, "model_name"), score))
    if len(answers) > MAX_JUDGMENTS:
        text = f"{len(answers):,} answers; at most {MAX_JUDGMENTS:,} are accepted"
        raise RecordError("too_large", text, field="conversation_history")
    found: list[Judgment] = []
    conversation = required_text(row, "conversation_id")
    for turn, group in groupby(sorted(answers, key=lambda answer: answer[0]), key=lambda answer: answer[0]):
        scores = {name: score for _, name, score in group}  # a model that answers twice counts once
        if len(scores) >= 2:
            found += compare(
                run,
                number,
                list(scores),
                ranks_of(list(scores.values())),
                segment=f"{conversation}.{turn}",
                judge=text_in(row, "user_id"),
                id=f"{conversation}.{turn}",
                tags={"turn": str(turn), "type": text_in(row, "conversation_type")},
            )
    if not found:
        run.leave_out("no turn with two scored models")
    return found


def _completion_texts(row: Record, _: Judgment) -> dict[str, object]:
    completions = [each for each in list_in(row, "completions") if isinstance(each, dict)]
    return {str(each.get("model")): each.get("response") for each in completions}


def _turn_texts(row: Record, judgment: Judgment) -> dict[str, object]:
    messages = [each for each in list_in(row, "conversation_history") if isinstance(each, dict)]
    turn = int((judgment.tags or {})["turn"])
    return {str(each.get("model_name")): each.get("content") for each in messages if number_in(each, "turn") == turn}


ULTRAFEEDBACK = RecordLayout(
    name="ultrafeedback",
    about="UltraFeedback: completions of several models with ratings",
    needs=(("instruction", "models", "completions"),),
    columns=("source",),
    judge=_judge_completions,
    texts=_completion_texts,
)
PRISM = RecordLayout(
    name="prism",
    about="conversations of PRISM: scores of several models per turn",
    needs=(("conversation_id", "conversation_history"),),
    columns=("user_id", "conversation_type"),
    judge=_judge_conversation,
    texts=_turn_texts,
)
