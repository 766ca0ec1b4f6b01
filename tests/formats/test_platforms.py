"""Exports of annotation platforms: each sample gives the judgments that a person reads in it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from streams import formats
from streams.errors import FormatError, RecordError
from streams.formats import Reading, RowError
from streams.formats.base import UnknownFormat
from streams.formats.platforms.times import parse_platform_time
from streams.formats.platforms.verdicts import find_verdict
from streams.wire.events import Judgment
from tests.formats.arena_samples import lines
from tests.formats.platform_samples import (
    ARGILLA,
    ARGILLA_FLAT,
    GOOGLE_FORMS,
    LABEL_STUDIO_CSV,
    LABEL_STUDIO_ROWS,
    MTURK,
    PRODIGY,
)
from tests.formats.samples import parquet


def read(data: bytes, **options: Any) -> tuple[Reading, list[Judgment]]:
    reading = formats.read(io.BytesIO(data), campaign="c", **options)
    return reading, [entry.judgment for entry in reading]


def test_rows_of_label_studio_have_selections_and_choices() -> None:
    reading, (first, second) = read(LABEL_STUDIO_ROWS)
    assert (first.id, first.segment, first.judge, first.duration_ms) == ("annotation-501", "11", "7", 12_500)
    assert (first.systems, first.ranks, second.ranks) == (("gpt", "claude"), (2, 1), (1, 1))
    assert reading.summary.left_out == {"skipped by the judge": 1}


@pytest.mark.parametrize("delimiter", [b",", b"\t"])
def test_the_csv_of_label_studio_gives_what_its_json_gives(delimiter: bytes) -> None:
    _, (found,) = read(LABEL_STUDIO_CSV.replace(b",", delimiter))
    assert found == read(LABEL_STUDIO_ROWS)[1][0]


def test_an_old_export_of_label_studio_has_completions() -> None:
    task = {
        "id": 1,
        "data": {"model_a": "gpt", "model_b": "claude"},
        "completions": [
            {"id": 5, "created_at": 1588000000, "result": [{"type": "pairwise", "value": {"selected": "left"}}]},
            {"id": 6, "skipped": True, "result": [{"type": "pairwise", "value": {"selected": "left"}}]},
        ],
    }
    reading, (found,) = read(json.dumps([task]).encode())
    assert (found.id, found.ranks, found.at.year) == ("annotation-5", (1, 2), 2020)
    assert reading.summary.left_out == {"skipped by the judge": 1}


def test_a_row_without_an_answer_is_left_out_although_the_task_has_texts() -> None:
    rows = [
        {"prompt": "Why?", "better": ""},
        {"prompt": "Who?", "better": "Response 2"},
        {"prompt": "Who?"},
    ]
    own = {"model_a": "gpt", "model_b": "claude", "annotator": 7, "lead_time": 1.5}
    reading, (found,) = read(lines(*({**own, "annotation_id": k, **row} for k, row in enumerate(rows))))
    assert (found.id, found.ranks) == ("annotation-1", (2, 1))
    assert reading.summary.left_out == {"skipped by the judge": 2}


@pytest.mark.parametrize("answers", [["left", "perhaps"], ["perhaps", "left"]])
def test_an_unknown_word_in_a_column_of_verdicts_is_an_error_wherever_it_stands(answers: list[str]) -> None:
    own = {"model_a": "gpt", "model_b": "claude", "annotation_id": 1, "annotator": 7, "lead_time": 1.5}
    with pytest.raises(RowError, match="no verdict") as caught:
        read(lines(*({**own, "prompt": "Why?", "better": answer} for answer in answers)))
    assert caught.value.line == 2


def test_a_comment_without_a_selection_is_no_answer_but_a_rating_is_an_error() -> None:
    task: dict[str, Any] = {"id": 1, "data": {"model_a": "gpt", "model_b": "claude"}}
    comment, rating = {"type": "textarea", "value": {"text": ["hm"]}}, {"type": "rating", "value": {"rating": 3}}
    reading, found = read(json.dumps([task | {"annotations": [{"id": 5, "result": [comment]}]}]).encode())
    assert (found, reading.summary.left_out) == ([], {"skipped by the judge": 1})
    with pytest.raises(RowError, match="no verdict"):
        read(json.dumps([task | {"annotations": [{"id": 5, "result": [rating]}]}]).encode())


@pytest.mark.parametrize(
    "names",
    [("llm_left", "llm_right"), ("System 1", "System 2"), ("right_engine", "left_engine"), ("modelA", "modelB")],
)
def test_a_task_may_call_its_systems_otherwise(names: tuple[str, str]) -> None:
    data = dict(zip(names, ("gpt", "claude") if "left" not in names[1] else ("claude", "gpt"), strict=True))
    result = [{"type": "pairwise", "value": {"selected": "left"}}]
    _, (found,) = read(json.dumps([{"id": 1, "data": data, "annotations": [{"id": 5, "result": result}]}]).encode())
    assert (found.systems, found.ranks) == (("gpt", "claude"), (1, 2))


@pytest.mark.parametrize(
    ("said", "ranks"), [("Response A", (1, 2)), ("answer-2", (2, 1)), ("Translation_b", (2, 1)), ("MODEL 1", (1, 2))]
)
def test_a_verdict_may_name_an_output(said: str, ranks: tuple[int, int]) -> None:
    assert find_verdict([said, "a comment"], ("gpt", "claude"), field="x") == ranks


def test_yes_and_no_are_not_verdicts_of_a_task() -> None:
    assert find_verdict(["yes", "A is much better"], ("gpt", "claude"), field="x") == (1, 2)


def test_a_name_that_means_the_other_side_is_refused() -> None:
    assert find_verdict(["system b"], ("System A", "System B"), field="x") == (2, 1)
    with pytest.raises(RecordError, match="name of one system and means the other one"):
        find_verdict(["B"], ("b", "a"), field="x")


def test_argilla_has_labels_and_rankings_of_several_users() -> None:
    reading, (label, ranking) = read(ARGILLA)
    assert (label.systems, label.ranks, label.judge, label.tags) == (
        ("gpt", "claude"),
        (2, 1),
        "u1",
        {"question": "better"},
    )
    assert (ranking.systems, ranking.ranks, ranking.segment) == (("x", "y"), (1, 1), "r1")
    assert reading.summary.left_out == {"no submitted response": 1}


def test_several_questions_of_argilla_are_said() -> None:
    answer = [{"value": "A", "user_id": "u1"}]
    record = {
        "id": "r1",
        "fields": {"model_a": "x", "model_b": "y"},
        "responses": {"safe": answer},
        "status": "completed",
    }
    assert read(lines(record))[0].summary.warnings() == []
    record["responses"] = {"helpful": answer, "safe": answer}
    (warning,) = read(lines(record))[0].summary.warnings()
    assert warning == "judges answered 'helpful', 'safe'; --by question or --only tag.question=NAME ranks them apart"


def test_an_option_of_argilla_may_be_an_output_of_a_named_system() -> None:
    record = {
        "id": "r1",
        "fields": {"reply-1": "yes", "reply-2": "no"},
        "metadata": {"model_1": "gpt", "model_2": "claude"},
        "responses": {"order": [{"value": ["reply-2", "reply-1"], "user_id": "u1"}]},
        "status": "completed",
    }
    _, (found,) = read(lines(record))
    assert (found.systems, found.ranks) == (("claude", "gpt"), (1, 2))


def test_a_flattened_record_of_argilla_keeps_submitted_responses(tmp_path: Any) -> None:
    _, (found,) = read(ARGILLA_FLAT)
    assert (found.id, found.ranks, found.judge) == ("r1.better.u1", (2, 1), "u1")
    file = tmp_path / "log.parquet"
    file.write_bytes(parquet([json.loads(ARGILLA_FLAT)]))
    assert [entry.judgment for entry in formats.read(file, campaign="c")] == [found]


def test_a_rating_of_argilla_is_a_score_of_its_system() -> None:
    record = {"id": "r1", "system": "gpt", "fluent.responses": [4, 5], "fluent.responses.users": ["u1", "u2"]}
    _, found = read(lines(record))
    assert [(each.systems, each.score, each.judge) for each in found] == [(("gpt",), 4.0, "u1"), (("gpt",), 5.0, "u2")]


def test_prodigy_compares_the_accepted_option_with_each_other_one_in_the_order_on_screen() -> None:
    reading, found = read(PRODIGY)
    assert [(each.systems, each.ranks) for each in found] == [
        (("gpt", "claude"), (2, 1)),
        (("claude", "llama"), (1, 2)),
    ]
    assert {(each.judge, each.segment) for each in found} == {("news-anna", "17")}
    assert reading.summary.left_out == {"skipped by the judge": 1, "nothing was accepted": 1}


def test_mturk_has_workers_times_and_durations_and_leaves_out_rejected_assignments() -> None:
    reading, (first, second) = read(MTURK)
    assert (first.id, first.judge, first.segment, first.duration_ms) == ("a1", "w1", "h1", 41_000)
    assert (first.ranks, second.ranks) == ((2, 1), (1, 1))
    assert first.at.isoformat() == "2023-12-21T20:32:50-08:00"
    assert reading.summary.left_out == {"a rejected assignment": 1}


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ('"Answer.choice.left","Answer.choice.right"', '"false","true"'),
        ('"Answer.choice.A","Answer.choice.B"', '"False","True"'),
        ('"Answer.taskAnswers","Answer.x"', '"[{""choice"":{""model_a"":false,""model_b"":true}}]",""'),
        ('"Answer.better","Answer.why"', '"claude","It is shorter."'),
        ('"Answer.better","Answer.why"', '"Option B",""'),
    ],
)
def test_an_answer_of_mturk_has_several_forms(columns: str, cells: str) -> None:
    header = f'"HITId","WorkerId","AssignmentStatus","Input.system1","Input.system2","Input.segment",{columns}\n'
    _, (found,) = read(f'{header}"h","w","Submitted","gpt","claude","s7",{cells}\n'.encode())
    assert (found.systems, found.ranks, found.segment) == (("gpt", "claude"), (2, 1), "s7")


@pytest.mark.parametrize("columns", [False, True])
def test_named_columns_of_mturk_leave_out_rejected_assignments_too(tmp_path: Path, *, columns: bool) -> None:
    path = tmp_path / "results.csv"
    rows = [
        ("H1", "w1", "Approved", "x", "y", "left", ""),
        ("H2", "w2", "Rejected", "x", "y", "left", ""),
        ("H3", "w3", "Submitted", "x", "y", "right", "no effort"),
        ("H4", "w4", "Submitted", "x", "y", "right", ""),
    ]
    header = ("HITId", "WorkerId", "AssignmentStatus", "Input.one", "Input.two", "Answer.best", "Reject")
    path.write_text("".join(",".join(cells) + "\n" for cells in (header, *rows)))
    reading = formats.read(path, columns="a=Input.one,b=Input.two,winner=Answer.best,judge=WorkerId")
    judges = [each.judge for batch in reading.batches(columns=columns) for each in batch.judgments]
    assert judges == ["w1", "w4"]
    assert reading.summary.left_out == {"a rejected assignment": 2}


def test_a_task_of_mturk_must_name_its_systems() -> None:
    with pytest.raises(RowError, match=r"needs `Input.model_a` and `Input.model_b`"):
        read(MTURK.replace(b"Input.model_a", b"Input.left"), format="mturk")
    header = b"HITId,WorkerId,AssignmentStatus,Input.text,Answer.comment\n"
    with pytest.raises(RowError, match=r"needs `Input.model_a` and `Input.model_b`"):
        read(header + b"h,w,Approved,some text,nice\n")


@pytest.mark.parametrize(
    ("header", "cells", "columns"),
    [
        ("Input.first mt,Input.second mt,Answer.choice", "x,y,1", "a=Input.first mt,b=Input.second mt"),
        ("Input.system,Answer.score", "x,80", "system=Input.system,score=Answer.score"),
    ],
)
def test_other_tasks_of_mturk_get_a_mapping(header: str, cells: str, columns: str) -> None:
    rows = [
        f"HITId,WorkerId,AssignmentStatus,AutoApprovalTime,ApprovalTime,{header}",
        f"h1,w1,Approved,Fri,Fri,{cells}",
    ]
    with pytest.raises(UnknownFormat) as error:
        read("\n".join([*rows, f"h2,w2,Approved,Fri,Fri,{cells}", ""]).encode())
    assert error.value.mapping is not None
    assert error.value.mapping.options()[1].startswith(columns)
    assert error.value.mapping.columns["judge"] == "WorkerId"


def test_a_selection_of_label_studio_can_be_the_winner_of_a_mapping() -> None:
    rows = [
        {"better": [{"selected": side}], "one": "x", "two": "y", "annotator": 3, "annotation_id": 7, "lead_time": 2}
        for side in ("left", "right")
    ]
    with pytest.raises(UnknownFormat) as error:
        read(json.dumps(rows).encode())
    mapping = error.value.mapping
    assert mapping is not None
    _, found = read(json.dumps(rows).encode(), columns=mapping.columns, values=mapping.values)
    assert [(each.systems, each.ranks, each.judge) for each in found] == [
        (("x", "y"), (1, 2), "3"),
        (("x", "y"), (2, 1), "3"),
    ]


def test_a_form_has_comparisons_rankings_and_scores_of_every_person() -> None:
    reading, found = read(GOOGLE_FORMS)
    assert [(each.systems, each.ranks or each.score, each.judge) for each in found] == [
        (("gpt", "claude"), (2, 1), "response-1"),
        (("gpt", "claude"), (1, 2), "response-1"),
        (("gpt",), 4.0, "response-1"),
        (("gpt", "claude"), (1, 1), "response-2"),
    ]
    assert found[0].segment == "Which one is better?\nRead both."
    assert found[0].at.isoformat() == "2024-03-19T10:56:47+02:00"
    assert reading.summary.left_out == {"no answer": 1}


def test_a_question_that_is_there_twice_is_two_segments() -> None:
    header = "Timestamp,Better? [a vs b],Better? [a vs b],Rank them [a],Rank them [b],Rank them [a],Rank them [b]"
    _, found = read(f"{header}\n3/19/2024 9:05:00,a,b,1,2,2,1\n".encode())
    assert [(each.segment, each.ranks) for each in found] == [
        ("Better?", (1, 2)),
        ("Better? (2)", (2, 1)),
        ("Rank them", (1, 2)),
        ("Rank them (2)", (2, 1)),
    ]


def test_an_unknown_form_gets_the_way_to_name_its_systems() -> None:
    with pytest.raises(FormatError, match=r"If it is from Google Forms, name the systems in each question"):
        read(b"Timestamp,Which translation of sentence 1 is better?\n3/19/2024 9:05:00,Translation A\n")


@pytest.mark.parametrize("question", ["Rangfolge der Antworten", "Classement", "Clasifica las respuestas", "排名"])
def test_a_grid_with_ranks_may_be_in_another_language(question: str) -> None:
    _, (found,) = read(f"Zeitstempel,{question} [a],{question} [b]\n19.03.2024 9:05:00,2,1\n".encode())
    assert (found.systems, found.ranks, found.at.day) == (("a", "b"), (2, 1), 19)


def test_places_are_not_scores() -> None:
    with pytest.raises(RowError, match="'2nd' looks like a rank, but the question asks for scores"):
        read(b"Timestamp,Best to worst [a],Best to worst [b]\n3/19/2024 9:05:00,2nd,1st\n")


def test_days_come_first_in_forms_that_are_not_english() -> None:
    _, (found,) = read(b"Horodateur,Adresse e-mail,Mieux ? [a vs b]\n04/03/2024 9:05:00,j@example.org,Second\n")
    assert (found.at.isoformat(), found.judge, found.ranks) == ("2024-03-04T09:05:00+00:00", "j@example.org", (2, 1))


def test_a_form_may_ask_for_the_person() -> None:
    _, (found,) = read(b"Timestamp,Email Address,Better? [a vs. b]\n3/19/2024 9:05:00,anna@example.org,a\n")
    assert (found.judge, found.ranks, found.at.day) == ("anna@example.org", (1, 2), 19)


def test_a_form_without_systems_is_refused_with_the_way_out() -> None:
    with pytest.raises(FormatError, match=r"as `Which is better\? \[gpt vs claude\]` does"):
        read(b"Timestamp,Better?\n3/19/2024 9:05:00,a\n", format="google-forms")


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024/03/19 12:05:00 am EET", "2024-03-19T00:05:00+02:00"),
        ("2024/03/19 12:05:00 PM GMT+5:30", "2024-03-19T12:05:00+05:30"),
        ("Mon Jan 1 00:00:00 UTC 2024", "2024-01-01T00:00:00+00:00"),
        ("2024-03-19T10:56:47Z", "2024-03-19T10:56:47+00:00"),
        ("3/19/2024, 9:05 PM", "2024-03-19T21:05:00+00:00"),
    ],
)
def test_a_time_of_a_platform(text: str, iso: str) -> None:
    assert parse_platform_time(text, field="t").isoformat() == iso


@pytest.mark.parametrize(
    "text", ["19/3/2024 9:05:00", "2024/03/19 10:00:00 XYZ", "Thu Foo 21 20:32:50 PST 2023", "soon"]
)
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match="not a"):
        parse_platform_time(text, field="t")


def test_a_form_with_too_many_columns_is_refused() -> None:
    header = "Timestamp," + ",".join(f"Fluent? [{k}]" for k in range(3000))
    with pytest.raises(FormatError, match="3,001 columns; a form has at most"):
        read(f"{header}\n".encode())
