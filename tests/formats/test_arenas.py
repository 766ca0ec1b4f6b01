"""Layouts of arenas: each sample gives the judgments that a person reads in it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streams import formats
from streams.errors import FormatError
from streams.formats import Reading, RowError
from streams.formats.recent import RecentConversations
from streams.wire.events import Judgment
from tests.data import real_log
from tests.formats.arena_samples import ARENA_SAMPLES, COPILOT, FASTCHAT_LOG, lines
from tests.formats.samples import parquet

Verdict = tuple[tuple[str, ...], tuple[int, ...] | float | None]


def read(data: bytes, **options: Any) -> tuple[Reading, list[Judgment]]:
    reading = formats.read(io.BytesIO(data), campaign="arena", **options)
    return reading, [entry.judgment for entry in reading]


def verdicts(judgments: list[Judgment]) -> list[Verdict]:
    return [(each.systems, each.ranks if each.score is None else each.score) for each in judgments]


EXPECTED: dict[str, list[Verdict]] = {
    "fastchat-log": [(("gpt", "claude"), (1, 2)), (("gpt", "claude"), (1, 1))],
    "fastchat-pairs": [(("gpt", "claude"), (2, 1)), (("gpt", "claude"), (1, 1))],
    "comparia-votes": [(("gpt", "Claude"), (2, 1)), (("gpt", "llama"), (1, 1))],
    "comparia-reactions": [(("gpt",), 1.0), (("claude",), 0.0)],
    "copilot-arena": [(("gpt", "claude"), (1, 2)), (("llama", "gpt"), (2, 1))],
    "alpaca-eval": [(("davinci", "alpaca"), ranks) for ranks in ((2, 1), (1, 2), (1, 1), (1, 1), (1, 2))],
    # In the first game A is the baseline and wins; in the second A is the model and loses.
    "arena-hard": [(("o3-mini", "mine"), (1, 2)), (("mine", "o3-mini"), (2, 1)), (("o3-mini", "mine"), (1, 1))],
    "pick-a-pic": [(("dream", "sdxl"), (1, 2)), (("dream", "sdxl"), (1, 1))],
    "preferences": [(("bark", "xtts"), (2, 1)), (("bark", "xtts"), (1, 2))],
    "summary-comparisons": [(("sup", "rl"), (2, 1)), (("sup", "rl"), (1, 2))],
    "summary-scores": [(("sup",), 6.0)],
    "ultrafeedback": [(("a", "b", "d"), (1, 3, 1))],
    "prism": [(("gpt", "claude", "llama"), (1, 1, 3)), (("gpt", "llama"), (2, 1))],
    "open-webui": [(("gpt", "llama"), (2, 1)), (("llama", "zephyr"), (1, 2)), (("gpt", "llama"), (1, 2))],
    "promptfoo": [(("openai:gpt",), 0.75), (("claude",), 0.25)],
}


@pytest.mark.parametrize("name", ARENA_SAMPLES)
def test_a_layout_gives_the_verdicts_that_a_person_reads_in_it(name: str) -> None:
    reading, found = read(ARENA_SAMPLES[name].data)
    assert reading.format is formats.FORMATS[name]
    assert verdicts(found) == EXPECTED[name]


BATTLE = {"question_id": "q1", "model_a": "x", "model_b": "y", "winner": "tie", "judge": "j", "tstamp": 1682351591.1}


@pytest.mark.parametrize(
    ("battle", "kind"),
    [
        ({"anony": False}, "not anonymous"),
        ({"anony": True, "dedup_tag": {"high_freq": True, "sampled": False}}, "a frequent prompt (dedup_tag)"),
        ({"winner": None}, "no vote"),
        ({"model_b": "x"}, "a system compared with itself"),
    ],
)
def test_a_battle_that_does_not_count_is_left_out_and_counted(battle: dict[str, object], kind: str) -> None:
    counted = BATTLE | {"question_id": "q2", "anony": True, "dedup_tag": {"high_freq": True, "sampled": True}}
    reading, found = read(lines(counted, BATTLE | battle))
    assert [each.segment for each in found] == ["q2"]
    assert reading.summary.left_out == {kind: 1}


def test_a_table_has_texts_for_truth_values() -> None:
    table = b"model_a,model_b,winner,anony\nx,y,tie,False\nx,y,model_a,True\n"
    reading, found = read(table)
    assert verdicts(found) == [(("x", "y"), (1, 2))]
    assert reading.summary.left_out == {"not anonymous": 1}


def test_a_conversation_that_is_there_twice_counts_once_and_is_said() -> None:
    later, other = BATTLE | {"tstamp": 1682351999.0}, BATTLE | {"winner": "model_a"}
    reading, found = read(lines(BATTLE, later, BATTLE, other, BATTLE))
    assert len(found) == 3
    assert reading.summary.left_out == {"a repeated conversation": 2}


def test_the_same_question_without_a_time_may_be_judged_again() -> None:
    battle = {name: value for name, value in BATTLE.items() if name != "tstamp"}
    _, found = read(lines(battle, battle))
    assert len(found) == 2


def test_old_conversations_are_forgotten_first() -> None:
    recent = RecentConversations(remembered=3)
    assert recent.count_new(range(7)) == 7
    assert [recent.count_new([number]) for number in (6, 3, 0)] == [0, 0, 1]


@pytest.mark.parametrize("winner", ["tie (bothbad)", "both_bad", "Both bad"])
def test_both_bad_is_a_tie_that_can_be_left_out(winner: str) -> None:
    log = lines(BATTLE, BATTLE | {"winner": winner, "question_id": "q2", "language": "de", "turn": 2})
    _, (plain, bad) = read(log)
    assert (plain.ranks, plain.tags) == ((1, 1), None)
    assert (bad.ranks, bad.tags) == ((1, 1), {"outcome": "both_bad", "language": "de", "turn": "2"})
    assert read(log, only={"tag.outcome!": "both_bad"})[1] == [plain]


def test_the_files_of_2025_have_sessions_iso_times_and_categories() -> None:
    row = {
        "id": "7b1c",
        "model_a": "x",
        "model_b": "y",
        "winner": "both_bad",
        "evaluation_session_id": "s9",
        "evaluation_order": 2,
        "conversation_a": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "category_tag": {"math_v0.1": {"math": True}, "criteria_v0.1": {"clarity": True}, "if_v0.1": {"if": False}},
        "language": "en",
        "is_code": False,
        "timestamp": "2025-05-29T14:48:41.602925",
    }
    _, (found,) = read(lines(row))
    assert (found.segment, found.judge, found.at.isoformat()) == ("7b1c", "s9", "2025-05-29T14:48:41.602925+00:00")
    expected = {"outcome": "both_bad", "language": "en", "is_code": "false", "evaluation_order": "2"}
    assert found.tags == expected | {"if": "false", "math": "true"}


def test_a_table_that_pandas_saved_has_objects_as_python_writes_them() -> None:
    tag = "\"{'math_v0.1': {'math': True}, 'if_v0.1': {'if': False, 'score': None}}\""
    _, (found,) = read(f"model_a,model_b,winner,category_tag,is_code\ngpt,claude,model_a,{tag},True\n".encode())
    assert found.tags == {"is_code": "true", "if": "false", "math": "true"}
    with pytest.raises(RowError, match="is not an object"):
        read(f"model_a,model_b,winner,category_tag\ngpt,claude,model_a,{tag.replace('True', 'exit()')}\n".encode())


def test_open_webui_leaves_out_a_thumb_without_other_models() -> None:
    reading, (found,) = read(
        b"id,user_id,chat_id,model_id,sibling_model_ids,rating,reason,comment,created_at,updated_at\n"
        b"f1,u,c,llama,gpt,-1,,,1730000000,1730000000\nf2,u,c,llama,,1,,,1730000000,1730000000\n"
    )
    assert (found.systems, found.ranks) == (("gpt", "llama"), (1, 2))
    assert reading.summary.left_out == {"no other model": 1}


def test_the_winner_may_be_in_three_columns() -> None:
    header = "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
    rows = "".join(f'{n},x,y,"[""Hi""]","[null]",b,{hot}\n' for n, hot in enumerate(("1,0,0", "0,1,0", "0,0,1")))
    _, found = read((header + rows).encode())
    assert [each.ranks for each in found] == [(1, 2), (2, 1), (1, 1)]
    with pytest.raises(RowError, match="exactly one must be 1"):
        read((header + "7,x,y,p,a,b,1,0,1\n").encode())


def test_a_program_that_judges_has_a_name_of_several_parts() -> None:
    _, (found,) = read(lines(BATTLE | {"judge": ["gpt-4", "pair-v2"], "winner": "tie (inconsistent)"}))
    assert (found.judge, found.ranks) == ("gpt-4/pair-v2", (1, 1))


def test_a_winner_may_be_the_name_of_a_model() -> None:
    _, (found,) = read(lines(BATTLE | {"winner": "Y"}))
    assert found.ranks == (2, 1)


def test_every_layout_without_long_texts_is_read_from_parquet_too(tmp_path: Path) -> None:
    for name, sample in ARENA_SAMPLES.items():
        if name in ("open-webui", "promptfoo", "fastchat-log", "arena-hard"):  # not published so, or of mixed types
            continue
        file = tmp_path / f"{name}.parquet"
        file.write_bytes(parquet(rows_of(sample.data)))
        reading = formats.read(file, campaign="arena")
        assert verdicts([entry.judgment for entry in reading]) == EXPECTED[name], name
        assert reading.summary.left_out.total() == sample.left_out


def rows_of(data: bytes) -> list[dict[str, object]]:
    """Return the rows of a sample."""
    text = data.decode()
    if text.startswith("["):
        return list(json.loads(text))
    if text.startswith("{"):
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in text else ","))


def test_a_stray_record_is_reported_and_does_not_spoil_its_neighbours() -> None:
    # A carriage return outside of quotes ends a record.
    reading, found = read(COPILOT.replace(b"x = ,,llama", b"from x import *\r,,llama", 1), on_error="skip")
    assert verdicts(found) == EXPECTED["copilot-arena"]
    assert reading.summary.skipped == {"length_mismatch": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (lines({"chosen": f"Human: {'a ' * 50}", "rejected": f"Human: {'b ' * 50}"}), "not the systems that made them"),
        (b'[{"instruction": "Why?", "input": "", "output_1": "a", "output_2": "b"}]', "not the systems that made them"),
        (b"Submission id,Participant id,Status\n1,2,APPROVED\n", "list of participants"),
    ],
)
def test_a_file_that_can_not_rank_systems_is_refused_with_the_reason(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read(data)


@pytest.mark.data
def test_alpaca_eval_has_the_published_wins() -> None:
    found = [entry.judgment for entry in formats.read(real_log("raw/alpaca_eval.alpaca-7b.annotations.json.gz"))]
    ranks = Counter(dict(zip(each.systems, each.ranks or (), strict=True))["alpaca-7b"] for each in found)
    draws = sum(each.ranks == (1, 1) for each in found)
    assert (len(found), ranks[1] - draws, ranks[2], draws) == (805, 205, 584, 16)


@pytest.mark.data
def test_copilot_arena_has_112_votes_and_one_stray_record() -> None:
    errors: list[RowError] = []
    reading = formats.read(real_log("raw/copilot_arena_examples.csv.gz"), on_error=errors.append)
    first = sum(judgment.ranks == (1, 2) for _, judgment in reading)
    assert (reading.summary.rows, reading.summary.judgments, first) == (113, 112, 92)
    assert [(error.line, error.reason) for error in errors] == [(2484, "length_mismatch")]


def test_a_raw_log_may_begin_with_a_chat() -> None:
    chat = {"tstamp": 1682351590.5, "type": "chat", "model": "gpt", "state": {"conv_id": "c0"}, "ip": "1.2.3.4"}
    reading = formats.read(io.BytesIO(lines(chat) + FASTCHAT_LOG), campaign="c")
    assert len(list(reading)) == 2
    assert reading.summary.left_out["not a vote between two models"] == 2


def test_a_time_may_be_in_milliseconds() -> None:
    vote = {
        "pairId": "p1",
        "userId": "u1",
        "acceptedIndex": 1,
        "completionItems": [{"completionId": "c1", "model": "x"}, {"completionId": "c2", "model": "y"}],
        "timestamp": 1700000000000,
    }
    (entry,) = formats.read(io.BytesIO(lines(vote)), campaign="c")
    assert entry.judgment.at.isoformat() == "2023-11-14T22:13:20+00:00"


def test_short_conversations_are_not_proposed_as_systems() -> None:
    pair = {"chosen": [{"content": "yes"}], "rejected": [], "score_chosen": 8, "score_rejected": 5}
    with pytest.raises(FormatError, match="it has outputs, but not the systems"):
        list(formats.read(io.BytesIO(lines(pair)), campaign="c"))
