"""Small logs of our own making, one per layout of an arena or of a data set of preferences."""

from __future__ import annotations

import json
from typing import NamedTuple


class LayoutSample(NamedTuple):
    """A log, its numbers of rows, judgments and rows that are left out, and one way to break its first row."""

    data: bytes
    rows: int
    judgments: int
    left_out: int
    broken: tuple[bytes, bytes, int, str | None, str]  # old text, new text, line, field, reason


def lines(*rows: object) -> bytes:
    """Write JSON Lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _vote(kind: str, names: list[str], **more: object) -> dict[str, object]:
    states = [{"conv_id": "c1", "model_name": name, "messages": [["USER", "Hi"]]} for name in ("gpt", "claude")]
    return {"tstamp": 1682351591.1307, "type": kind, "models": names, "states": states, "ip": "10.0.0.7"} | more


FASTCHAT_LOG = lines(
    _vote("leftvote", ["", ""]),
    _vote("bothbad_vote", ["### Model A", "### Model B"]),
    _vote("rightvote", ["gpt", "claude"]),
    {"tstamp": 1682351592.0, "type": "chat", "model": "gpt", "state": {}, "ip": "10.0.0.7"},
)


def _game(first: str, second: str) -> dict[str, object]:
    return {
        "question_id": 81,
        "model_1": "gpt",
        "model_2": "claude",
        "g1_winner": first,
        "g2_winner": second,
        "judge": ["gpt-4", "pair-v2"],
        "turn": 1,
        "tstamp": 1687000000.5,
    }


FASTCHAT_PAIRS = lines(_game("model_2", "model_2"), _game("model_1", "model_2"), _game("error", "model_1"))
COMPARIA_VOTES = b"""\
id\ttimestamp\tmodel_a_name\tmodel_b_name\tchosen_model_name\tboth_equal\tconversation_pair_id\tvisitor_id\tconv_turns
1\t2024-10-01 10:00:00\tgpt\tClaude\tclaude\tFalse\tp1\tv1\t2
2\t2024-10-01 10:05:00\tgpt\tllama\t\tTrue\tp2\tv1\t1
3\t2024-10-01 10:06:00\tgpt\tllama\t\tFalse\tp3\tv2\t1
"""
COMPARIA_REACTIONS = lines(
    {"refers_to_model": "gpt", "liked": True, "disliked": False, "conversation_pair_id": "p1", "msg_rank": 0},
    {"refers_to_model": "claude", "liked": False, "disliked": True, "conversation_pair_id": "p1", "msg_rank": 0},
    {"refers_to_model": "claude", "liked": False, "disliked": False, "conversation_pair_id": "p2", "msg_rank": 1},
)
COPILOT = b"""\
prefix,suffix,model_a,model_b,acceptedIndex,completion_a,completion_b
"def f():
    return ","
",gpt,claude,0.0,"1
# one","2"
x = ,,llama,gpt,1.0,1,2
x = ,,llama,gpt,,1,2
"""


def _annotation(preference: float | None, **more: object) -> dict[str, object]:
    return {
        "instruction": "Why?",
        "output_1": "x",
        "generator_1": "davinci",
        "dataset": "koala",
        "output_2": "y",
        "generator_2": "alpaca",
        "annotator": "gpt-4",
        "preference": preference,
    } | more


ALPACA_EVAL = json.dumps(
    [_annotation(2.0), _annotation(1), _annotation(0), _annotation(1.5), _annotation(1.3), _annotation(None)], indent=1
).encode()
ARENA_HARD = lines(
    {
        "uid": "q1",
        "category": "hard_prompt",
        "judge": "gpt-4.1",
        "model": "mine",
        "baseline": "o3-mini",
        "games": [{"score": "A>>B", "judgment": {"answer": "x"}}, {"score": "B>A", "judgment": {"answer": "x"}}],
    },
    {"uid": "q2", "judge": "gpt-4.1", "model": "mine", "baseline": "o3-mini", "games": [{"score": "A=B"}, {}]},
    {"uid": "q3", "judge": "gpt-4.1", "model": "mine", "baseline": "o3-mini", "games": [{"score": None}, {}]},
)
PICK_A_PIC = b"""\
caption,model_0,model_1,label_0,label_1,has_label,user_id,created_at
a cat,dream,sdxl,1,0,True,7,2023-01-01 00:00:00
a dog,dream,sdxl,0.5,0.5,True,7,2023-01-01 00:00:01
a cow,dream,sdxl,0,0,False,7,2023-01-01 00:00:02
"""
PREFERENCES = b"""\
id,user_id,text,vote_date,model_chosen,model_rejected,model_type
1,7,Hello,2025-02-01 10:00:00,xtts,bark,tts
2,,Bye,2025-02-01 10:01:00,bark,xtts,tts
3,,Bye,2025-02-01 10:02:00,bark,bark,tts
"""


def _comparison(choice: int, policies: tuple[str, str] = ("sup", "rl")) -> dict[str, object]:
    summaries = [{"text": "x", "policy": policy, "note": ""} for policy in policies]
    more = {"worker": "w1", "batch": "b1", "split": "train", "extra": {"confidence": 7}}
    return {"info": {"id": "t3", "post": "p"}, "summaries": summaries, "choice": choice, **more}


SUMMARY_COMPARISONS = lines(_comparison(1), _comparison(0), _comparison(0, ("sup", "sup")))


def _scores(axes: dict[str, object]) -> dict[str, object]:
    summary = {"text": "x", "policy": "sup", "note": "", "axes": axes}
    return {"info": {"id": "t3"}, "split": "valid", "summary": summary, "worker": "w1", "batch": "b1"}


SUMMARY_SCORES = lines(_scores({"overall": 6, "accuracy": 7}), _scores({"accuracy": 3}))
_RATINGS = ({"Rating": "5"}, {"Rating": "2"}, {"Rating": "N/A"}, {"Rating": "5"})
ULTRAFEEDBACK = lines(
    {
        "source": "evol",
        "instruction": "Why?",
        "models": ["a", "b", "c", "d"],
        "completions": [
            {"model": model, "response": "x", "annotations": {"helpfulness": rating}}
            for model, rating in zip("abcd", _RATINGS, strict=True)
        ],
    },
    {"source": "evol", "instruction": "Who?", "models": ["a"], "completions": [{"model": "a", "overall_score": 3}]},
)
PRISM = lines(
    {
        "conversation_id": "c7",
        "user_id": "u1",
        "conversation_type": "values",
        "conversation_history": [
            {"turn": 0, "role": "user", "content": "Hi"},
            {"turn": 0, "role": "model", "model_name": "gpt", "score": 80},
            {"turn": 0, "role": "model", "model_name": "claude", "score": 80},
            {"turn": 0, "role": "model", "model_name": "llama", "score": 5},
            {"turn": 1, "role": "model", "model_name": "gpt", "score": 10},
            {"turn": 1, "role": "model", "model_name": "llama", "score": 20},
        ],
    },
    {"conversation_id": "c8", "user_id": "u1", "conversation_history": [{"turn": 0, "role": "user"}]},
)


def _feedback(rating: object, siblings: list[str]) -> dict[str, object]:
    return {
        "id": f"f{rating}{len(siblings)}",
        "user_id": "u1",
        "type": "rating",
        "data": {"rating": rating, "model_id": "llama", "sibling_model_ids": siblings},
        "meta": {"chat_id": "chat-1"},
        "snapshot": {"chat": {}},
        "created_at": 1730000000,
    }


OPEN_WEBUI = json.dumps(
    [_feedback(1, ["gpt", "zephyr"]), _feedback("-1", ["gpt"]), _feedback(1, [])], indent=1
).encode()
PROMPTFOO = json.dumps(
    {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "results": [
                {"testIdx": 0, "promptIdx": 0, "success": True, "score": 0.75, "provider": {"id": "openai:gpt"}},
                {
                    "testIdx": 0,
                    "promptIdx": 0,
                    "success": True,
                    "score": 0.5,
                    "provider": {"id": "x", "label": "claude"},
                    "gradingResult": {"componentResults": [{"assertion": {"type": "human"}, "score": 0.25}]},
                },
            ],
        },
    },
    indent=1,
).encode()

ARENA_SAMPLES = {
    "fastchat-log": LayoutSample(
        FASTCHAT_LOG, 4, 2, 2, (b'"models": ["", ""]', b'"models": ["", "x"]', 1, "models", "invalid_value")
    ),
    "fastchat-pairs": LayoutSample(
        FASTCHAT_PAIRS, 3, 2, 1, (b'"model_2", "g2', b'"model_3", "g2', 1, "g1_winner", "invalid_value")
    ),
    "comparia-votes": LayoutSample(
        COMPARIA_VOTES, 3, 2, 1, (b"\tclaude\t", b"\tllama\t", 2, "chosen_model_name", "invalid_value")
    ),
    "comparia-reactions": LayoutSample(
        COMPARIA_REACTIONS, 3, 2, 1, (b'"liked": true', b'"liked": "up"', 1, "liked", "invalid_value")
    ),
    "copilot-arena": LayoutSample(
        COPILOT, 3, 2, 1, (b"claude,0.0", b"claude,0.5", 2, "acceptedindex", "invalid_value")
    ),
    "alpaca-eval": LayoutSample(
        ALPACA_EVAL, 6, 5, 1, (b'"preference": 2.0', b'"preference": 3', 2, "preference", "invalid_value")
    ),
    "arena-hard": LayoutSample(ARENA_HARD, 3, 3, 1, (b"A>>B", b"A>>A", 1, "games", "invalid_value")),
    "pick-a-pic": LayoutSample(PICK_A_PIC, 3, 2, 1, (b"sdxl,1,0", b"sdxl,1,1", 2, "label_0", "invalid_value")),
    "preferences": LayoutSample(PREFERENCES, 3, 2, 1, (b"xtts,bark", b"xtts,", 2, "model_rejected", "missing_field")),
    "summary-comparisons": LayoutSample(
        SUMMARY_COMPARISONS, 3, 2, 1, (b'"choice": 1', b'"choice": 2', 1, "choice", "invalid_value")
    ),
    "summary-scores": LayoutSample(
        SUMMARY_SCORES, 2, 1, 1, (b'"overall": 6', b'"overall": "x"', 1, "overall", "invalid_value")
    ),
    "ultrafeedback": LayoutSample(
        ULTRAFEEDBACK, 2, 1, 1, (b'"model": "a"', b'"model": "b"', 1, "systems", "duplicate_system")
    ),
    "prism": LayoutSample(PRISM, 2, 2, 1, (b'"score": 80', b'"score": "x"', 1, "score", "invalid_value")),
    "open-webui": LayoutSample(
        OPEN_WEBUI, 3, 3, 1, (b'"model_id": "llama"', b'"model_id": ""', 2, "model_id", "missing_field")
    ),
    "promptfoo": LayoutSample(PROMPTFOO, 1, 2, 0, (b'"score": 0.75', b'"score": "x"', 1, "score", "invalid_value")),
}
