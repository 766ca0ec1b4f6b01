"""A rejected or forwarded record never holds the id of a judge, however it is written."""

from __future__ import annotations

import json

import pytest

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.pipeline.originals import without_judge
from streams.wire.decoding import decode
from streams.wire.events import Judgment, encode
from tests.builders import judgment

KEY = Pseudonyms(b"key")
WIRE = f"~{KEY['alice']}"


def test_only_the_judge_is_replaced() -> None:
    value = b'{"id":"1", "judge": "alice", "at" : "x", "ranks": [1, 2.50], "note": "caf\xc3\xa9 \\u00e9"}'
    found = without_judge(value, KEY)
    assert json.loads(found.value) == json.loads(value) | {"judge": WIRE}
    assert b"2.50" in found.value
    assert b"\\u00e9" in found.value
    assert found.id == "1"


def test_what_has_no_judge_keeps_its_bytes() -> None:
    for value in (b'{"id": 7,  "no": "judgment"}', b"[1, 2]", b"", b"avro\xff", b'{"campaign": "c"'):
        assert without_judge(value, KEY) == (value, None)
    assert without_judge(None, KEY) == (b"", None)


@pytest.mark.parametrize(
    "value",
    [
        b'{"judge": "bob", "judge": "alice"}',
        b'{"judge": "alice", "judge": "bob"}',
        b'{"\\u006audge": "alice"}',
        b'{"judge": ["alice"]}',
        b'{"judge": {"name": "alice"}}',
        b'{"judge": "alice"',
        b'{"\\u006audge": "alice"',
        b'{"JUDGE": "alice"',
        b'{"judge": "alice"}\xff{',
        b'{"judge": "\xff alice"}',
        '{"judge": "alice"}'.encode("utf-16"),
        b'[{"judge": "alice"}]',
        b'{"judge": "alice", "deep": ' + b"[" * 100_000 + b"}",
        b'{"judge": "alice\\ud800"}',
        b'{"action": "retract", "taken_back": {"alice": {"id-1": 3}}}',
        b'{"action": "retract", "taken_back": ["alice"]}',
    ],
)
def test_no_spelling_lets_the_id_out(value: bytes) -> None:
    found = without_judge(value, KEY).value
    assert b"alice" not in found.replace(b"\0", b"")
    assert b"bob" not in found
    assert len(found) < 200


def test_a_record_that_is_sent_again_counts_for_the_same_judge() -> None:
    found = decode(without_judge(encode(judgment(1, judge="alice")), KEY).value, max_bytes=1000)
    assert isinstance(found, Judgment)
    assert found.judge == WIRE
    once_more = without_judge(encode(found), KEY)
    assert json.loads(once_more.value)["judge"] == WIRE
