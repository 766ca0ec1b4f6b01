"""JSON files of scores: the human evaluations of WMT24 and WMT25, and Pearmut."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from streams import formats
from streams.errors import FormatError
from streams.formats import Reading
from streams.wire.events import Judgment


def read(known_as: str, *rows: object, references: bool = True) -> tuple[list[Judgment], Reading]:
    data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    reading = formats.read(BytesIO(data), campaign="c", references=references)
    judgments = [judgment for _, judgment in reading]
    assert reading.format is formats.FORMATS[known_as]
    return judgments, reading


def found(judgments: list[Judgment]) -> list[tuple[str, str, str, float | None]]:
    return [(one.judge, one.segment, one.systems[0], one.score) for one in judgments]


def test_a_line_of_wmt24_is_one_score_which_may_be_text() -> None:
    line = {
        "langs": "en-es",
        "line_id": 7,
        "doc_id": "d",
        "esa_score": "66",
        "system": "s",
        "annotator": "a",
        "src": "x",
    }
    judgments, reading = read(
        "wmt-humeval", line | {"times": ["1724876413.906", "1724876414.5"]}, line | {"esa_score": None}
    )
    assert found(judgments) == [("a", "d:7", "s", 66.0)]
    assert (judgments[0].campaign, judgments[0].at.timestamp()) == ("c.en-es", 1724876414.5)
    assert (reading.summary.left_out, reading.summary.scale) == ({"not scored": 1}, "raw")


@pytest.mark.parametrize(
    "scores",
    [
        {"s": [{"score": "80", "annotator": "a"}, {"score": 60.5, "annotator": "b"}]},
        {"s": {"human1": 80, "annotator1": "a", "errors1": [], "human2": 60.5, "annotator2": "b", "times2": [1, 2.0]}},
        {"s": [{"human": 80.0, "annotator": "a", "errors": []}, {"human": 60.5, "annotator": "b"}]},
    ],
)
def test_a_segment_may_have_two_ratings_in_every_version(scores: object) -> None:
    row = {"scores": scores, "src_text": "x", "tgt_text": {"s": "y"}, "doc_id": "en-cs_CZ_#_news_#_d_#_0"}
    judgments, _ = read("wmt-humeval", row)
    assert found(judgments) == [("a", row["doc_id"], "s", 80.0), ("b", row["doc_id"], "s", 60.5)]
    assert {(one.campaign, one.tags["domain"] if one.tags else None) for one in judgments} == {("c.en-cs_cz", "news")}


def test_missing_scores_and_judges_without_names() -> None:
    """Python writes NaN, which is not JSON."""
    scores = {"s": [{"score": 50}, {"score": 50}], "t": [{"score": float("nan")}], "refA": [{"score": 90}]}
    row = {"scores": scores, "src_text": "x", "tgt_text": {}, "doc_id": "test-en-speech_#_0"}
    judgments, reading = read(
        "wmt-humeval", row, row | {"scores": {}}, row | {"doc_id": "en-tutorial1"}, references=False
    )
    assert found(judgments) == [("anonymous-1", row["doc_id"], "s", 50), ("anonymous-2", row["doc_id"], "s", 50)]
    assert {one.campaign for one in judgments} == {"c"}
    assert (reading.summary.unranked, reading.summary.left_out) == (1, {"not scored": 1, "a tutorial": 1})


def line(
    scores: dict[str, object], *, user: str = "u", item: object = 0, at: float = 100.0, **more: object
) -> dict[str, object]:
    return {
        "annotation": [{model: {"score": score, "error_spans": []} for model, score in scores.items()}],
        "actions": [{"time": 1.0, "action": "load"}, {"time": at, "action": "submit"}],
        "item": [{"item_id": f"seg{item}", "src": "x"}],
        "user_id": user,
        "item_i": item,
        **more,
    }


def test_a_document_has_a_score_for_each_model_and_item() -> None:
    row = line({"a": 70, "b": None}) | {
        "annotation": [{"a": {"score": 70}, "b": {"score": None}}, None, {"a": {"score": 5}}]
    }
    row["item"] = [{"item_id": "x"}, {"item_id": "y"}, {"item_id": "z"}]
    judgments, reading = read("pearmut", row)
    assert found(judgments) == [("u", "x", "a", 70.0), ("u", "z", "a", 5.0)]
    assert (reading.summary.unranked, judgments[0].at.timestamp()) == (1, 100.0)


def test_the_first_version_has_one_item_and_no_description() -> None:
    row = {
        "user_id": "eve",
        "item_i": 3,
        "annotation": {"a": {"score": 92}},
        "actions": [{"time": 5, "type": "submit"}],
        "time": 100,
    }
    judgments, _ = read("pearmut", row)
    assert found(judgments) == [("eve", "3:0", "a", 92.0)]


def test_checks_and_tutorials_are_not_rated() -> None:
    judgments, reading = read(
        "pearmut",
        line({"a": 70}),
        line({"a": 1}, item="welcome_0"),
        line({"a": 1}, item="random_2"),
        line({"a": 1}) | {"item": [{"item_id": "attention_check_1"}]},
        line({"a": 1}) | {"item": [{"item_id": "en_#_tutorial_#_1"}]},
        line({"a": 1}) | {"item": [{"item_id": "x", "validation": {}}]},
        line({"a": None}),
    )
    assert found(judgments) == [("u", "seg0", "a", 70.0)]
    assert reading.summary.left_out == {"an attention check or a tutorial": 5, "not scored": 1}


def test_a_later_submission_replaces_and_a_reset_erases() -> None:
    judgments, reading = read(
        "pearmut",
        line({"a": 10}, user="v"),
        line({"a": 1, "b": 2}),
        line({"a": 3, "b": 4}, item=1),
        line({}, annotation="__RESET__"),
        line({"a": 60, "b": 70}, at=300.0),
        line({"a": 80}, at=400.0),
    )
    assert sorted(found(judgments)) == [("u", "seg0", "a", 80.0), ("u", "seg0", "b", 70.0), ("v", "seg0", "a", 10.0)]
    assert reading.summary.left_out == {"a reset": 1, "replaced by a later submission": 1, "erased by a reset": 1}
    assert (reading.summary.rows, reading.summary.judged, reading.summary.judgments) == (6, 3, 3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user_id": None}, "user_id: `user_id` is missing"),
        ({"annotation": 3}, "annotation: 3 is not a list"),
        ({"annotation": [3]}, "annotation: 3 is not an object"),
        ({"annotation": [{"a": 3}]}, "annotation: 3 is not an annotation"),
        ({"annotation": [{"a": {"score": True}}]}, "score: true is not a number|score: True is not a number"),
    ],
)
def test_a_line_that_is_no_annotation_is_an_error(change: dict[str, object], words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read("pearmut", line({"a": 1}) | change)
