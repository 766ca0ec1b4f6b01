"""What is committed under schemas/ is what the types say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from streams.wire import schemas

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = Path(__file__).parents[2] / "schemas"
MEND = "the contracts drifted from the types; run: python -m streams.wire.schemas schemas/"


@pytest.mark.parametrize("name", schemas.files())
def test_a_generated_file_is_committed_byte_for_byte(name: str) -> None:
    path = SCHEMAS / name
    assert path.is_file(), MEND
    assert path.read_bytes() == schemas.files()[name].encode(), MEND


def test_no_generated_file_is_stale() -> None:
    found = {path.name for path in SCHEMAS.iterdir() if path.is_file()}
    stale = sorted(found - schemas.files().keys())
    assert not stale, f"no type generates these any more; remove them: {stale}"


def test_the_command_writes_the_files_and_is_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schemas.main([str(tmp_path / "new")])
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == {
        name: text.encode() for name, text in schemas.files().items()
    }
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("event", schemas.EVENTS)
def test_a_schema_is_valid_and_names_itself(event: str) -> None:
    schema = schemas.schema(event)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["title"] == event
    assert schema["$id"] == f"judgestream:{schemas.file_of(event).removesuffix('.v1.json')}:v1"


def test_no_description_shows_code_of_the_implementation() -> None:
    for name, text in schemas.files().items():
        for described in _descriptions(json.loads(text)):
            assert described == described.strip() != "", name
            assert ">>>" not in described, name


def _descriptions(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(text := node.get("description"), str):
            yield text
        for child in node.values():
            yield from _descriptions(child)
    elif isinstance(node, list):
        for child in node:
            yield from _descriptions(child)
