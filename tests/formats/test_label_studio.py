"""Exports and webhooks of Label Studio give one judgment per annotation, with the same id."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from streams import formats
from streams.formats import RowError
from streams.formats.label_studio import find_revoked
from streams.wire.events import Judgment
from tests.formats.samples import LABEL_STUDIO, WEBHOOK


def read(document: object) -> list[Judgment]:
    return [entry.judgment for entry in formats.read(io.BytesIO(json.dumps(document).encode()))]


def event(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(WEBHOOK)
    document["annotation"] |= changes
    return document


def test_an_export_gives_who_judged_what_and_how_long() -> None:
    first, second = (entry.judgment for entry in formats.read(io.BytesIO(LABEL_STUDIO)))
    assert (first.id, first.campaign, first.segment, first.judge) == ("annotation-501", "label-studio-3", "11", "7")
    assert (first.systems, first.ranks, first.duration_ms) == (("gpt", "claude"), (2, 1), 12_500)
    assert first.at.isoformat() == "2024-05-01T10:00:00.123456+00:00"
    assert (second.judge, second.ranks) == ("8", (1, 1))


def test_a_webhook_and_an_export_of_the_same_annotation_have_the_same_id() -> None:
    (sent,) = read(event())
    exported = next(iter(formats.read(io.BytesIO(LABEL_STUDIO)))).judgment
    assert (sent.id, sent.campaign, sent.segment) == (exported.id, exported.campaign, exported.segment)
    assert (sent.systems, sent.ranks) == (("gpt", "claude"), (1, 2))


def test_an_update_replaces_the_annotation() -> None:
    (updated,) = read(event(updated_at="2024-05-02T10:00:00Z") | {"action": "ANNOTATION_UPDATED"})
    assert (updated.id, updated.replaces) == ("annotation-501-2024-05-02T10:00:00+00:00", "annotation-501")
    assert updated.at.isoformat() == "2024-05-02T10:00:00+00:00"


def test_an_update_without_a_time_has_one_id_for_each_content() -> None:
    one, again, other = (
        read(event(result=[{"type": "pairwise", "value": {"selected": side}}]) | {"action": "ANNOTATION_UPDATED"})[0]
        for side in ("left", "left", "right")
    )
    assert one.id == again.id != other.id
    assert one.replaces == other.replaces == "annotation-501"


@pytest.mark.parametrize(
    ("document", "ids"),
    [
        (
            {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 17}, {"id": 18}]},
            ["annotation-17", "annotation-18"],
        ),
        ({"action": "ANNOTATION_DELETED", "annotation": {"id": 17}}, ["annotation-17"]),
        ({"action": "ANNOTATION_UPDATED", "annotation": {"id": 17, "result": []}}, ["annotation-17"]),
        ({"action": "ANNOTATION_UPDATED", "annotation": {"id": 17, "was_cancelled": True}}, ["annotation-17"]),
        ({"action": "ANNOTATION_CREATED", "annotation": {"id": 17, "result": []}}, []),
        ({"action": "TASKS_CREATED"}, []),
    ],
)
def test_a_deleted_or_emptied_annotation_takes_its_judgment_back(document: dict[str, object], ids: list[str]) -> None:
    assert find_revoked(document) == ids


def test_payloads_may_follow_each_other() -> None:
    payloads = b"".join(json.dumps(event(id=number)).encode() + b"\n" for number in range(3))
    assert [entry.line for entry in formats.read(io.BytesIO(payloads))] == [1, 2, 3]
    pretty = WEBHOOK + b"\n" + WEBHOOK
    assert [entry.line for entry in formats.read(io.BytesIO(pretty))] == [1, WEBHOOK.count(b"\n") + 2]


@pytest.mark.parametrize(
    ("choice", "ranks"), [("Left", (1, 2)), ("model_b", (2, 1)), ("claude", (2, 1)), ("GPT", (1, 2)), ("tie", (1, 1))]
)
def test_a_choice_names_a_side_a_system_or_a_tie(choice: str, ranks: tuple[int, int]) -> None:
    results = [{"type": "textarea", "value": {"text": ["left"]}}, {"type": "choices", "value": {"choices": [choice]}}]
    (judgment,) = read(event(result=results))
    assert judgment.ranks == ranks


@pytest.mark.parametrize(
    ("document", "field", "words"),
    [
        (event(result=[{"type": "choices", "value": {"choices": ["good"]}}]), "result", "no verdict in"),
        (event(result=[{"type": "choices", "value": {"choices": ["left", "right"]}}]), "result", "different verdicts"),
        (event(result=[{"type": "pairwise", "value": {}}]), "result", "no verdict"),
        (event(result="left"), "annotation", "Expected `array`"),
        (event(lead_time=-1), "lead_time", "not a number of seconds"),
        (event() | {"task": {"id": 1, "data": {"text1": "x"}}}, "model_a", "does not name two systems"),
        (event() | {"annotation": None}, "annotation", "Expected `object`"),
    ],
)
def test_an_annotation_without_a_comparison_is_a_bad_row(document: object, field: str, words: str) -> None:
    with pytest.raises(RowError, match=words) as caught:
        read(document)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (event(was_cancelled=True), "skipped by the judge"),
        (event(result=[]), "skipped by the judge"),
        (event() | {"action": "ANNOTATIONS_DELETED"}, "another event"),
        ([{"id": 1, "data": {}, "annotations": []}], "a task without annotations"),
    ],
)
def test_documents_without_a_judgment_are_left_out_and_counted(document: object, kind: str) -> None:
    reading = formats.read(io.BytesIO(json.dumps(document).encode()))
    assert not list(reading)
    assert reading.summary.left_out == {kind: 1}
