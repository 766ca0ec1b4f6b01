"""The time to decode a record grows with its size, and no faster, whatever it contains."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from streams.errors import RecordError, suggestion
from streams.monitor.http.bodies import judgments_in
from streams.wire.decoding import decode
from streams.wire.limits import MAX_DEPTH
from tests.cpu_time import growth

KB, MB = 2**10, 2**20
NOW = datetime(2024, 1, 1, tzinfo=UTC)
BRACKETS = b"[" * 101

HOSTILE = {
    "escaped quotes in a string that is not closed": (BRACKETS + b'"', b'\\"'),
    "strings that are not closed": (BRACKETS + b'"', b'\\\\\\"'),
    "empty strings": (BRACKETS, b'""'),
    "backslashes outside of a string": (BRACKETS, b"\\"),
    "brackets": (b"", b"[]"),
    "an unknown field": (b'{"x":"' + BRACKETS, b"\\"),
    "white space": (b'{"x":1' + BRACKETS, b" "),
    "digits": (b'{"version":', b"9"),
    "keys": (b'{"a":1', b',"a":1'),
}


def fill(start: bytes, again: bytes, size: int) -> bytes:
    return start + again * ((size - len(start)) // len(again))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_record_is_decoded_in_linear_time(kind: str) -> None:
    def refuse(size: int) -> None:
        with pytest.raises(RecordError):
            decode(fill(*HOSTILE[kind], size), max_bytes=2 * MB)

    assert growth(refuse, 64 * KB, MB, limit=64) < 64


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("in_lines", [False, True])
def test_the_body_of_a_request_is_decoded_in_linear_time(kind: str, in_lines: bool) -> None:
    def refuse(size: int) -> None:
        with pytest.raises(RecordError):
            judgments_in(fill(*HOSTILE[kind], size), campaign="c", now=NOW, max_bytes=2 * MB, in_lines=in_lines)

    assert growth(refuse, 64 * KB, MB, limit=64) < 64


def test_a_hint_takes_little_time_however_many_and_long_the_names_are() -> None:
    word = "".join(chr(ord("a") + place % 26) for place in range(200))

    def hint(count: int) -> None:
        suggestion(word, [word[place % 200 :] + word[: place % 200] + str(place) for place in range(count)])

    assert growth(hint, 60, 960, limit=12) < 12  # a comparison with each whole name takes 16 times longer


@pytest.mark.parametrize("text", ["", "[", '\\"', "\\\\", '\\\\\\"]', "é{"])
def test_brackets_in_texts_are_not_nested(text: str) -> None:
    line = '{"x":[%s],"y":%s}'
    allowed = line % (",".join([f'"{text}"'] * 200), "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    with pytest.raises(RecordError) as caught:
        decode(allowed.encode(), max_bytes=MB)
    assert caught.value.reason == "missing_field"
    with pytest.raises(RecordError) as caught:
        decode((line % (f'"{text}"', "[" * MAX_DEPTH + "]" * MAX_DEPTH)).encode(), max_bytes=MB)
    assert caught.value.reason == "too_deep"
