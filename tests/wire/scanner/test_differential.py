"""Mutated lines: what the scanner takes is what the decoder gives, and what the decoder refuses it never takes."""

from __future__ import annotations

import json
import random
import re
from collections import Counter

import pytest

from streams.errors import RecordError
from streams.wire.decoding import decode
from streams.wire.events import Judgment
from streams.wire.scanner import Scanner
from tests.builders import crowd_log
from tests.wire.scanner.columns import GOOD, block_of, meant, told

PART = re.compile(rb'"[^"]*"|\d+|.', re.DOTALL)
FULL = GOOD | {"duration_ms": 17, "request": "r", "source": "a phone", "version": "1"}
SEEDS = [
    *block_of(crowd_log(5, ways=4)).splitlines(),
    *(json.dumps(line, separators=form).encode() for line in (GOOD, FULL) for form in (None, (",", ":"))),
]
PIECES = [
    *(
        b"",
        b" ",
        b"  ",
        b"\n",
        b"\t",
        b'"',
        b'""',
        b"\\",
        b"\\u0041",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\x00",
        b"\xff",
    ),
    *(b"0", b"1", b"01", b"-1", b"1.0", b"1e3", b"1000000", b"1000001", b"9" * 16, b"9" * 17, b"9007199254740993"),
    *(
        b'"a"',
        b'"b"',
        b'"id"',
        b'"at"',
        b'"ranks"',
        b'"systems"',
        b'"duration_ms"',
        b'"duration_mx"',
        b'"score"',
        b"null",
    ),
    *(b'"\xc3\xa9"', b'"' + b"x" * 200 + b'"', b'"' + b"x" * 201 + b'"', b"1," * 120, b'"a",' * 30, b'"2"', b'"1"'),
    *(
        b'"2024-02-30T00:00:00Z"',
        b'"2024-02-29T23:59:59.999999+00:00"',
        b'"0001-01-01T00:00:00Z"',
        b'"9000-01-01T00:00:00Z"',
    ),
]

NUMBERS = [piece for piece in PIECES if piece[:1].isdigit()]


def mutate(chance: random.Random, line: bytes) -> bytes:
    """Change tokens of a line, or single bytes."""
    if chance.random() < 0.4:
        return line
    parts = PART.findall(line)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place, kind = chance.randrange(len(parts)), chance.randrange(7)
        if kind == 0:
            parts[place] = chance.choice(PIECES)
        elif kind == 6:
            place = chance.choice([place for place, part in enumerate(parts) if part[:1].isdigit()] or [place])
            parts[place] = chance.choice(NUMBERS)
        elif kind == 1:
            parts.insert(place, chance.choice(PIECES))
        elif kind == 2 and len(parts) > 1:
            del parts[place]
        elif kind == 3:
            parts[place:place] = parts[place : place + chance.randrange(12)]
        elif kind == 4:
            other = chance.randrange(len(parts))
            parts[place], parts[other] = parts[other], parts[place]
        elif parts[place]:
            changed = bytearray(parts[place])
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
            parts[place] = bytes(changed)
    return b"".join(parts)


def decoded(data: bytes) -> list[Judgment] | None:
    """Return the judgments of lines, or None if one is refused or is a command."""
    try:
        events = [decode(line, max_bytes=2**20) for line in data.split(b"\n")[:-1]]
    except RecordError:
        return None
    judgments = [event for event in events if isinstance(event, Judgment)]
    return judgments if len(judgments) == len(events) else None


def compare(cases: int, seed: int) -> Counter[str]:
    """Scan and decode mutated lines. Return how often the two took them."""
    chance, scanner = random.Random(seed), Scanner()
    ends: Counter[str] = Counter()
    for case in range(cases):
        if case % 1000 == 0:
            scanner = Scanner()
        lines = [mutate(chance, chance.choice(SEEDS)) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        data = b"\n".join(lines) + b"\n"
        columns, judgments = scanner.scan(data), decoded(data)
        if columns is not None:
            assert judgments is not None, data
            assert told(columns) == [meant(each) for each in judgments], data
            ends["scanned"] += 1
        else:
            ends["refused" if judgments is None else "decoded only"] += 1
    return ends


def check_shares(ends: Counter[str], cases: int) -> None:
    """Check that the mutations are neither too wild nor too tame."""
    assert ends.total() == cases
    assert min(ends["scanned"], ends["refused"]) > cases / 10
    assert ends["decoded only"]


def test_the_scanner_takes_only_what_the_decoder_gives() -> None:
    check_shares(compare(3000, seed=1), 3000)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_the_scanner_takes_only_what_the_decoder_gives_in_100_000_cases(seed: int) -> None:
    check_shares(compare(25_000, seed=seed), 25_000)
