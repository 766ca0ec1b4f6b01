"""Features of outputs: counted in texts, given as columns or tags, and clear words where they are missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streams.errors import FormatError, ParameterError
from streams.formats import read
from streams.formats.features import OutputFeatures, count_features, output_texts, parse_features
from streams.formats.mapping.column_mapping import read_mapping

CODE = "Use this:\n```\n# not a header\n- no item\n**not bold**\n```\n"
TEXT = "# One\n\n## Two\n1. first\n2) second\n* **third** and __fourth__\n#hashtag 2. no\n"


def features_of(path: Path, names: str, **options: object) -> list[list[tuple[float, ...]] | None]:
    reading = read(path, **options)  # type: ignore[arg-type]
    reading.features = OutputFeatures(parse_features(names))
    return [reading.features.of(entry.judgment) for entry in reading]


def test_markdown_is_counted_outside_of_code() -> None:
    assert count_features(TEXT) == {"length": float(len(TEXT.strip())), "headers": 2.0, "lists": 3.0, "bold": 2.0}
    assert count_features(CODE) == {"length": float(len(CODE.strip())), "headers": 0.0, "lists": 0.0, "bold": 0.0}


@pytest.mark.parametrize(
    "value",
    [
        "hello",
        ["hel", "lo"],
        '["hel", "lo"]',
        [{"role": "user", "content": "a long question"}, {"role": "assistant", "content": "hello"}],
        [{"role": "assistant", "content": [{"type": "text", "text": "hello"}]}],
        [{"from": "human", "value": "a question"}, {"from": "gpt", "value": "hello"}],
    ],
)
def test_the_answers_of_a_conversation_are_its_output(value: object) -> None:
    assert "".join(output_texts(value)) == "hello"
    assert "".join(output_texts(json.dumps(value) if isinstance(value, list) else value)) == "hello"


def test_a_text_that_begins_like_json_is_a_text() -> None:
    assert output_texts("[{broken") == ["[{broken"]


def test_features_come_from_columns_then_metadata_then_texts(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"length_a": 10, "length_b": "20", "response_a": "x", "response_b": "y"},
        {"conv_metadata": {"sum_assistant_a_tokens": 7, "sum_assistant_b_tokens": 9}, "response_a": "x"},
        {"conversation_a": [{"role": "assistant", "content": "abc"}], "conversation_b": "[]", "response_b": "yy"},
        {"response_a": "only one"},
    ]
    path = tmp_path / "battles.jsonl"
    path.write_text(
        "".join(json.dumps({"model_a": "a", "model_b": "b", "winner": "model_a"} | row) + "\n" for row in rows)
    )
    found = features_of(path, "length")
    assert found == [[(10.0,), (20.0,)], [(7.0,), (9.0,)], [(3.0,), (2.0,)], None]


def test_markdown_in_metadata_is_added_up(tmp_path: Path) -> None:
    counts = {"header_count": {"h1": 1, "h2": 2}, "list_count": {"ordered": 4, "unordered": 1}, "bold_count": {"**": 3}}
    metadata = {f"{name}_{side}": count for name, count in counts.items() for side in "ab"}
    path = tmp_path / "battles.jsonl"
    path.write_text(json.dumps({"model_a": "a", "model_b": "b", "winner": "tie", "conv_metadata": metadata}))
    assert features_of(path, "markdown") == [[(3.0, 5.0, 3.0)] * 2]


def test_preferences_keep_the_features_with_their_systems(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"chosen_model": "z", "rejected_model": "a", "chosen": "long text", "rejected": "no"}))
    reading = read(path)
    reading.features = OutputFeatures(("length",))
    entry = next(iter(reading))
    assert entry.judgment.systems == ("a", "z")
    assert reading.features.of(entry.judgment) == [(2.0,), (9.0,)]


def _state(model: str, text: str) -> dict[str, object]:
    return {"conv_id": "c", "model_name": model, "messages": [["USER", "a question"], ["ASSISTANT", text]]}


@pytest.mark.parametrize(
    "row",
    [
        {"type": "leftvote", "models": ["", ""], "states": [_state("x", "abc"), _state("y", "ab")]},
        {
            "acceptedIndex": 0,
            "completionItems": [{"model": "x", "completion": "abc"}, {"model": "y", "completion": "ab"}],
        },
        {"model_a": "x", "model_b": "y", "acceptedIndex": 0, "completion_a": "abc", "completion_b": "ab"},
        {
            "info": {"id": "1"},
            "choice": 0,
            "summaries": [{"policy": "x", "text": "abc"}, {"policy": "y", "text": "ab"}],
        },
        {
            "instruction": "Why?",
            "models": ["x", "y"],
            "completions": [
                {"model": "x", "overall_score": 2, "response": "abc"},
                {"model": "y", "overall_score": 1, "response": "ab"},
            ],
        },
        {
            "conversation_id": "1",
            "conversation_history": [
                {"turn": 0, "role": "model", "model_name": "x", "score": 2, "content": "abc"},
                {"turn": 0, "role": "model", "model_name": "y", "score": 1, "content": "ab"},
                {"turn": 1, "role": "model", "model_name": "y", "score": 1, "content": "longer"},
            ],
        },
        {
            "id": 1,
            "data": {"model_a": "x", "model_b": "y", "answer_a": "abc", "answer_b": "ab"},
            "annotations": [{"id": 1, "result": [{"type": "pairwise", "value": {"selected": "left"}}]}],
        },
        {
            "id": "1",
            "fields": {"left_model": "x", "right_model": "y", "Response left": "abc", "Response right": "ab"},
            "responses": {"better": [{"value": "left", "user_id": "u"}]},
            "suggestions": {},
            "status": "completed",
        },
        {
            "annotation_id": 1,
            "annotator": 1,
            "lead_time": 1,
            "model1": "x",
            "model2": "y",
            "text1": "abc",
            "text2": "ab",
        }
        | {"better": "left"},
    ],
)
def test_texts_of_nested_layouts_are_counted(tmp_path: Path, row: dict[str, object]) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps([row]))
    assert features_of(path, "length") == [[(3.0,), (2.0,)]]


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        ("a=left,b=right,winner=vote,length_a=n1,length_b=n2", "left,right,vote,n1,n2"),
        ("winner=left,loser=right,length_winner=n1,length_loser=n2", "left,right,vote,n1,n2"),
        ("a=left,b=right,winner=vote,text_a=n1,text_b=n2", "left,right,vote,n1,n2"),
    ],
)
def test_a_mapping_names_the_columns_of_features(tmp_path: Path, columns: str, header: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\nx,y,left,1234567,12\n")
    expected = [(7.0,), (2.0,)] if "text_a" in columns else [(1234567.0,), (12.0,)]
    assert features_of(path, "length", columns=columns) == [expected]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a=x,b=y,winner=z,length_a=n", "length_a needs length_b"),
        ("a=x,b=y,winner=z,length_winner=n,length_loser=m", "length_winner does not go with"),
        ("system=x,score=y,length_a=n,length_b=m", "length_a does not go with"),
    ],
)
def test_a_mapping_with_half_a_feature_is_refused(columns: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_mapping(columns)


def test_a_feature_that_is_not_a_number_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner,length_a,length_b\na,b,tie,12,many\n")
    with pytest.raises(FormatError, match=r"battles.csv:2: length_b: 'many' is not a number"):
        features_of(path, "length")


def test_tags_of_a_judgment_have_one_number_per_system(tmp_path: Path) -> None:
    line: dict[str, object] = {
        "id": "1",
        "campaign": "c",
        "segment": "s",
        "judge": "j",
        "systems": ["a", "b", "c"],
        "ranks": [1, 2, 3],
    }
    line |= {"version": "1", "at": "2026-01-01T00:00:00Z", "type": "judgment", "tags": {"length": "10|20|30"}}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps(line | {"id": "2", "tags": {"length": "10|20"}}) + "\n")
    assert features_of(path, "length") == [[(10.0,), (20.0,), (30.0,)], None]
    assert features_of(path, "length", only={"system": ["a", "c"]})[0] is None  # whose number is whose is not known


@pytest.mark.parametrize("text", ["", "length,", "a b", "länge", "x" * 50, ",".join(f"f{i}" for i in range(17))])
def test_a_bad_list_of_features_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="control:"):
        parse_features(text)
