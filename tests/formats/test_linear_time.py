"""The time to read a file grows with its size, and no faster, whatever it contains."""

from __future__ import annotations

import io
from typing import BinaryIO

import pytest

from streams import formats
from streams.errors import FormatError
from streams.formats.input.head import FileHead
from tests.cpu_time import growth

KB, MB = 2**10, 2**20

HOSTILE = {
    "a key that is not closed": ("label-studio", b'{"', b'\\"'),
    "keys without values": ("label-studio", b"{", b'"" '),
    "an array that is not closed": ("arena", b'[{"x":"', b'\\"'),
    "white space": ("arena", b"[", b" \n"),
    "names of columns": ("arena", b"model_a,model_b,winner,", b"%d,"),
    "empty columns": ("uniform", b"", b","),
    "a row that is not closed": ("arena", b'model_a,model_b,winner\n"', b'""'),
    "commas in a row": ("arena", b"model_a,model_b,winner\n", b","),
    "attributes": ("appraise", b"<a ", b'a%d="" '),
    "a long attribute": ("appraise", b'<a b="', b"&amp;"),
    "a comment": ("appraise", b"<a><!--", b"x"),
    "systems of a translation": ("appraise", b'<a><ranking-result><translation rank="1" system="', b","),
    "a number": ("arena", b'{"winner":', b"9"),
    "white space in a question": ("google-forms", b'Timestamp,"Which? [a', b"\t "),
    "questions": ("google-forms", b"Timestamp,", b"Q [%d],"),
    "lines": ("jsonl", b"", b"\n"),
    "cells of a score": ("appraise-scores", b"u,s,1,TGT,eng,deu,1,", b"1711192199,x,"),
    "errors of a score": ("appraise-scores", b'u,s,1,TGT,eng,deu,0,d,False,"[', b'{""severity"":""minor""},'),
    "marks of a document": ("appraise-scores", b"u,s,1,TGT,eng,deu,1,d", b"#1-2"),
    "tabs of an error": ("mqm", b"system\tdoc\trater\tcategory\tseverity\n", b"\t"),
    "errors of a rating": ("mqm", b"system\tdoc\tseg_id\trater\tcategory\tseverity\n", b"a\tb\t1\tr\tx\tMinor\n"),
    "names of an assessment": ("wmt-assessment", b"HITId ", b"n%d "),
    "ratings of a segment": ("wmt-humeval", b'{"src_text":"","doc_id":"d","scores":{"s":[', b'{"score":1},'),
    "submissions of an item": ("pearmut", b"", b'{"annotation":{"a":{"score":1}},"user_id":"u","item_i":1}\n'),
    "scores of a system": ("mt-metrics-eval", b"", b"a\t1\n"),
}


def fill(start: bytes, again: bytes, size: int) -> bytes:
    count = (size - len(start)) // len(again)
    return start + (b"".join(again % n for n in range(count)) if b"%d" in again else again * count)


def read(name: str, stream: BinaryIO) -> None:
    try:
        for _ in formats.read(stream, format=name, campaign="c", on_error="skip"):
            pass
    except FormatError:
        pass


# Each of these has ten thousands of rows.
MANY_ROWS = ("errors of a rating", "submissions of an item", "scores of a system")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.long] * (kind in MANY_ROWS)) for kind in HOSTILE]
)
def test_a_file_is_read_in_linear_time(kind: str) -> None:
    name, start, again = HOSTILE[kind]
    files = {size: fill(start, again, size) for size in (64 * KB, MB)}
    assert growth(lambda size: read(name, io.BytesIO(files[size])), *files, limit=64) < 64


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_format_is_recognised_in_linear_time(kind: str) -> None:
    _, start, again = HOSTILE[kind]
    heads = {size: fill(start, again, size) for size in (4 * KB, 64 * KB)}

    def recognise(size: int) -> None:
        head = FileHead(heads[size])
        for known in formats.FORMATS.values():
            known.recognises(head)

    assert growth(recognise, *heads, limit=64) < 64


class Trickle(io.RawIOBase):
    """A file that gives a few bytes at a time, as a slow sender does."""

    def __init__(self, data: bytes) -> None:
        self._rest = memoryview(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        size = min(len(view), len(self._rest), 64)
        view[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


@pytest.mark.parametrize("kind", ["a key that is not closed", "an array that is not closed", "a comment", "lines"])
def test_a_file_in_small_pieces_is_read_in_linear_time(kind: str) -> None:
    name, start, again = HOSTILE[kind]
    files = {size: fill(start, again, size) for size in (256 * KB, MB)}  # more than the head, which is read at once
    assert growth(lambda size: read(name, io.BufferedReader(Trickle(files[size]), 64)), *files, limit=12) < 12
