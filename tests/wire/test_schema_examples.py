"""The examples of schemas/: the decoder and an independent JSON Schema validator agree on every one."""

from __future__ import annotations

import ast
import inspect
import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from streams.errors import RecordError
from streams.settings import Settings
from streams.wire import decoding, events, schemas
from streams.wire.reasons import REASONS

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"
INDEX: dict[str, dict[str, dict[str, Any]]] = json.loads((EXAMPLES / "index.json").read_bytes())
MAX_BYTES = Settings().max_record_bytes
LOG_EVENTS = ("Judgment", "Command")

each_valid = pytest.mark.parametrize(("name", "entry"), INDEX["valid"].items())
each_invalid = pytest.mark.parametrize(("name", "entry"), INDEX["invalid"].items())


@cache
def validator(event: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.schema(event), format_checker=Draft202012Validator.FORMAT_CHECKER)


def parsed(raw: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(raw.decode(), parse_constant=refuse)


@pytest.mark.parametrize("folder", ["valid", "invalid"])
def test_the_index_names_every_file_and_no_other(folder: str) -> None:
    assert {path.name for path in (EXAMPLES / folder).iterdir()} == INDEX[folder].keys()


def test_every_event_and_every_action_has_a_valid_example() -> None:
    assert {entry["event"] for entry in INDEX["valid"].values()} == schemas.EVENTS.keys()
    decoded = {
        type(decoding.decode((EXAMPLES / "valid" / name).read_bytes(), max_bytes=MAX_BYTES))
        for name, entry in INDEX["valid"].items()
        if entry["event"] == "Command"
    }
    assert decoded == set(events.Command.__args__)


@each_valid
def test_a_valid_example_is_taken_by_the_decoder(name: str, entry: dict[str, Any]) -> None:
    raw = (EXAMPLES / "valid" / name).read_bytes()
    kind = schemas.EVENTS[entry["event"]]
    if entry["event"] in LOG_EVENTS:
        event = decoding.decode(raw, max_bytes=MAX_BYTES)
        assert isinstance(event, kind)
        assert decoding.decode(events.encode(event), max_bytes=MAX_BYTES) == event
    else:
        assert parsed(events.encode(msgspec.json.decode(raw, type=kind))) == parsed(raw)


@each_valid
def test_a_valid_example_is_taken_by_the_schema(name: str, entry: dict[str, Any]) -> None:
    validator(entry["event"]).validate(parsed((EXAMPLES / "valid" / name).read_bytes()))


@each_invalid
def test_an_invalid_example_gets_its_reason_and_field(name: str, entry: dict[str, Any]) -> None:
    raw, limit = (EXAMPLES / "invalid" / name).read_bytes(), entry.get("max_bytes", MAX_BYTES)
    with pytest.raises(RecordError) as caught:
        decoding.decode(raw, max_bytes=limit)
    assert (caught.value.reason, caught.value.field) == (entry["reason"], entry["field"])
    if entry["event"] == "Command":
        with pytest.raises(RecordError) as caught:
            decoding.decode_command(raw, max_bytes=limit)
        assert (caught.value.reason, caught.value.field) == (entry["reason"], entry["field"])


@each_invalid
def test_an_invalid_example_is_refused_by_the_schema_where_the_index_says_so(name: str, entry: dict[str, Any]) -> None:
    raw = (EXAMPLES / "invalid" / name).read_bytes()
    if entry["schema_refuses"] is None:
        with pytest.raises((ValueError, RecursionError)):
            parsed(raw)
    else:
        assert validator(entry["event"]).is_valid(parsed(raw)) is not entry["schema_refuses"]


def test_every_reason_of_the_decoder_has_an_example() -> None:
    functions = [node for node in ast.walk(ast.parse(inspect.getsource(decoding))) if isinstance(node, ast.FunctionDef)]
    words = {node.value for function in functions for node in ast.walk(function) if isinstance(node, ast.Constant)}
    given = words.intersection(REASONS)
    assert given, "the decoder's reasons were not found in its source"
    assert given == {entry["reason"] for entry in INDEX["invalid"].values()}


def test_the_leaderboard_has_exactly_the_fields_of_the_contract() -> None:
    board = parsed((EXAMPLES / "valid" / "leaderboard.json").read_bytes())
    assert list(board) == [
        "campaign", "model", "sequence", "offset", "judgments", "rows", "judges", "scale", "elo_per_score", "margin",
        "fragility", "outlook", "cautions", "left_out", "pending", "category",
    ]  # fmt: skip
    assert board["rows"]
    for row in board["rows"]:
        assert list(row) == [
            "system", "rank", "rank_low", "rank_high", "cluster", "score", "deviation", "judgments",
            "judge_rank_low", "judge_rank_high", "line_above", "island",
        ]  # fmt: skip
