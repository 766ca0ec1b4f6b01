"""The page on the events names all that the types name, and its examples are real."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from streams.wire import decoding, events, schemas, topics
from streams.wire.reasons import REASONS

PAGE = (Path(__file__).parents[2] / "docs" / "events.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


def rows(heading: str) -> list[str]:
    """Give the first cells of the table under a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_every_reason_is_explained_once_and_in_order() -> None:
    assert rows("Why a record was rejected") == ["reason", *REASONS]


def test_every_topic_is_listed_with_its_key() -> None:
    assert rows("Topics") == [topic.name for topic in topics.TOPICS]
    for topic in topics.TOPICS:
        assert f"| `{topic.name}` | {topic.key} |" in PAGE


def test_every_field_of_a_judgment_is_explained() -> None:
    assert sorted(rows("A judgment")) == sorted(events.Judgment.__struct_fields__)


def test_every_action_is_explained() -> None:
    actions = [action.__struct_config__.tag for action in get_args(events.Command)]
    assert rows("Commands") == ["action", *actions]


@pytest.mark.parametrize("event", ["Leaderboard", "MatchRequest", "Campaign", "Rejection"])
def test_every_field_that_comes_out_is_named(event: str) -> None:
    section = PAGE.partition("\n## What comes out\n")[2].partition("\n## ")[0]
    told = section.partition(f"- `{event}`:")[2].partition("\n- ")[0]
    fields = set(schemas.EVENTS[event].__struct_fields__) - {"id", "campaign"}
    fields |= set(events.Row.__struct_fields__) if event == "Leaderboard" else set()
    assert {field for field in fields if f"`{field}`" not in told} == set()


def test_the_examples_decode() -> None:
    decoded = [type(decoding.decode(text.encode(), max_bytes=10_000)) for text in EXAMPLES]
    assert decoded == [events.Judgment, events.Create, events.Pause]
