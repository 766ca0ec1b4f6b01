"""Read judgments of Arena-Hard: a model against a baseline, in two games with the outputs in both orders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.formats.records import RecordLayout, compare, list_in, required_text, tag_in, text_in
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from streams.formats.base import ImportRun
    from streams.formats.records import Record
    from streams.wire.events import Judgment

_FIRST_BASELINE = "gpt-4-0314"  # of version 0.1, whose files do not name it
_VERDICT = re.compile(r"([AB])\s*(>>|>|=|<|<<)\s*([AB])")


def _judge_games(row: Record, number: int, run: ImportRun) -> list[Judgment]:
    model, baseline = required_text(row, "model"), text_in(row, "baseline") or _FIRST_BASELINE
    games = list_in(row, "games")
    if len(games) > 2:
        raise RecordError("length_mismatch", f"{len(games)} games; there are at most two", field="games")
    found: list[Judgment] = []
    question = required_text(row, "uid" if "uid" in row else "question_id")
    # Output A is that of the baseline in the first game, and that of the model in the second.
    for place, (game, shown) in enumerate(zip(games, ((baseline, model), (model, baseline)), strict=False)):
        score = game.get("score") if isinstance(game, dict) else None
        if score is None:
            continue
        ranks, strong = _parse(score)
        found += compare(
            run,
            number,
            shown,
            ranks,
            segment=question,
            judge=text_in(row, "judge"),
            id=f"{number}.{place + 1}-{question}",
            tags={"category": tag_in(row, "category"), "strength": "strong" if strong else None},
        )
        if not found:  # a model against itself is counted once
            return []
    if not found:
        run.leave_out("no verdict")
    return found


def _parse(score: object) -> tuple[tuple[int, int], bool]:
    """Return the ranks of A and B, and whether the verdict is strong."""
    parts = _VERDICT.fullmatch(score.strip()) if isinstance(score, str) else None
    if not parts or parts[1] == parts[3]:
        raise RecordError("invalid_value", f"{quote(score)} is not a verdict such as A>B, A=B or B>>A", field="games")
    left, sign, _ = parts.groups()
    if sign == "=":
        return (1, 1), False
    a_wins = (left == "A") == (">" in sign)
    return ((1, 2) if a_wins else (2, 1)), len(sign) == 2


LAYOUT = RecordLayout(
    name="arena-hard",
    about="judgments of Arena-Hard: a model against a baseline in two games",
    needs=(("uid", "model", "games"), ("question_id", "model", "games")),
    columns=("baseline", "judge", "category"),
    judge=_judge_games,
)
