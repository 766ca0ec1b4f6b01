"""What an error says about a record can be printed: foreign text is escaped and cut."""

from __future__ import annotations

import json

import pytest

from streams.errors import RecordError, suggestion
from streams.wire.decoding import decode, quote

HOSTILE = "\x1b[31m\x9b\u202e\ufeff\u2028\0"


@pytest.mark.parametrize(
    "record",
    [
        {"action": HOSTILE},
        {"version": HOSTILE},
        {"version": [HOSTILE]},
        {"id": [HOSTILE]},
        {"id": {HOSTILE: HOSTILE}},
        {"id": "1", "campaign": HOSTILE},
        {"id": "1", "campaign": "c", "action": "close", "at": HOSTILE},
        {"version": "9" * 10_000},
        {HOSTILE: HOSTILE},
    ],
)
def test_a_message_about_a_record_can_be_printed(record: dict[str, object]) -> None:
    with pytest.raises(RecordError) as caught:
        decode(json.dumps(record, ensure_ascii=False).encode(), max_bytes=10**6)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 500


def test_every_value_can_be_quoted() -> None:
    for value in (HOSTILE, [HOSTILE], {HOSTILE: 1}, "\ud800", ["\ud800"], 10**5000, object(), float("inf"), b"\xff"):
        assert quote(value).isprintable()
        assert len(quote(value)) < 100


def test_a_hint_can_be_printed() -> None:
    assert suggestion("x", [HOSTILE, "y" * 10_000]).isprintable()
    assert suggestion(HOSTILE, [HOSTILE + "a"]).isprintable()
    assert len(suggestion("x", [f"{n}{'y' * 10_000}" for n in range(100)])) < 5000
