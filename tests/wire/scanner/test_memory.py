"""The compiled loop stays inside its arrays, and nobody can make names that collide in its tables."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streams.wire.scanner import Scanner, kernels, scanner
from streams.wire.scanner.kernels.lines import ROWS
from streams.wire.scanner.kernels.text import PADDING
from streams.wire.scanner.seed import SEED
from tests.builders import crowd_log
from tests.wire.scanner.columns import GOOD, block_of, scanned, told

Ints = NDArray[Any]
MARK = -77
MANY_RANKS = json.dumps(GOOD | {"ranks": [1] * 100}, separators=(",", ":")).encode() + b"\n"


class Guarded:
    """Arrays of an exact size, each in the middle of a larger one whose other values must not change."""

    def __init__(self) -> None:
        self._around: list[tuple[Ints, int]] = []

    def array(self, size: int, fill: int = 0, kind: type[np.generic] = np.int64) -> Ints:
        around = np.full(size + 2000, MARK, kind)
        around[1000 : 1000 + size] = fill
        self._around.append((around, size))
        return around[1000 : 1000 + size]

    def assert_intact(self) -> None:
        for around, size in self._around:
            assert (around[:1000] == MARK).all()
            assert (around[1000 + size :] == MARK).all()


def scan(data: bytes, **sizes: int) -> int:
    """Scan with arrays of the usual sizes, or of given ones. Fail if anything outside of them was changed."""
    guarded = Guarded()
    lines = data.count(b"\n")
    room = {"quotes": len(data) + 2, "rows": lines, "starts": lines + 1, "systems": len(data) // 4}
    room |= {"ranks": len(data) // 4, "padding": PADDING, "names": 64, "words": 512} | sizes
    found: int = kernels.compiled("lines").scan_lines(
        np.frombuffer(data + bytes(room["padding"]), np.uint8),
        len(data),
        np.append(0, np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1),
        guarded.array(room["quotes"]),
        SEED,
        guarded.array(4 * room["names"], -1, np.int32),
        guarded.array(room["names"]),
        guarded.array(room["names"] + 1),
        guarded.array(room["words"]),
        guarded.array(1),
        guarded.array(ROWS * room["rows"]).reshape(ROWS, room["rows"]),
        guarded.array(room["starts"]),
        guarded.array(room["systems"]),
        guarded.array(room["ranks"]),
    )
    guarded.assert_intact()
    return found


def test_more_ranks_than_systems_stay_inside_the_array() -> None:
    assert scan(MANY_RANKS) == 0
    assert scanned(MANY_RANKS) is None


@pytest.mark.parametrize(
    "sizes",
    [
        *({"ranks": 1}, {"systems": 1}, {"systems": 0, "ranks": 0}, {"rows": 1}, {"rows": 0, "starts": 1}),
        *({"starts": 2}, {"quotes": 10}, {"padding": 0}),
    ],
)
def test_data_without_room_is_unusual(sizes: dict[str, int]) -> None:
    data = block_of(crowd_log(2, ways=3))
    assert scan(data) == 2
    assert scan(data, **sizes) < 2


@pytest.mark.parametrize("sizes", [{"names": 1}, {"words": 1}])
def test_a_table_of_names_without_room_must_grow(sizes: dict[str, int]) -> None:
    assert scan(block_of(crowd_log(2, ways=3)), **sizes) == -2


def test_data_that_does_not_end_with_a_line_feed_is_unusual() -> None:
    data = block_of(crowd_log(2))
    assert Scanner().scan(data + data[:-1]) is None


def unseeded_slot(name: bytes) -> int:
    """Return the slot of a name of eight bytes in a hash table as it was before the hash had a seed."""
    word = int.from_bytes(name, "little")
    value = (word ^ (word >> 10)) & (2**54 - 1)
    return (value ^ (value >> 19) ^ (value >> 37)) & (2**13 - 1)


def colliding_names() -> list[bytes]:
    """Return names that all had the same slot. The hash was linear, so its changes of no effect can be solved for."""
    base = int.from_bytes(b"````````", "little")

    def image(change: int) -> int:
        return unseeded_slot((base ^ change).to_bytes(8, "little")) ^ unseeded_slot(base.to_bytes(8, "little"))

    without_effect: list[int] = []
    solved: dict[int, int] = {}  # highest bit of an image -> change
    for bit in (8 * byte + low for byte in range(8) for low in range(4)):
        change = 1 << bit
        while (effect := image(change)) and (other := solved.get(effect.bit_length())):
            change ^= other
        if effect:
            solved[effect.bit_length()] = change
        else:
            without_effect.append(change)
    changes = [0]
    for each in without_effect[:12]:
        changes += [change ^ each for change in changes]
    return [(base ^ change).to_bytes(8, "little") for change in changes]


def test_names_that_collided_without_a_seed_spread_over_the_table() -> None:
    names = colliding_names()
    assert len(set(names)) == 4096
    assert len({unseeded_slot(name) for name in names}) == 1
    hashes = np.zeros(len(names), np.int64)
    data = np.frombuffer(b"".join(names) + bytes(PADDING), np.uint8)
    kernels.compiled("hash_tables").hash_texts(data, 8 * np.arange(1, len(names) + 1), hashes, SEED)
    slots = [kernels.plain("hash_tables").first_slot(value, 2**13) for value in hashes.tolist()]
    assert len(set(slots)) > 2500  # of 4,096 random slots of 8,192, about 3,220 are different
    assert len(set(hashes.tolist())) == len(names)


def test_texts_that_differ_anywhere_have_different_hashes() -> None:
    texts = [b"x" * size for size in range(850)] + [b"x" * place + b"y" + b"x" * (799 - place) for place in range(800)]
    hashes = np.zeros(len(texts), np.int64)
    data = np.frombuffer(b"".join(texts) + bytes(PADDING), np.uint8)
    kernels.compiled("hash_tables").hash_texts(data, np.cumsum([len(text) for text in texts]), hashes, SEED)
    assert len(set(hashes.tolist())) == len(texts)
    assert hashes.min() >= 0


def test_the_columns_do_not_depend_on_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = block_of(crowd_log(200, campaigns=2, ways=3))
    found = []
    for seed in (SEED, np.zeros_like(SEED), SEED[::-1].copy()):
        monkeypatch.setattr(scanner, "SEED", seed)
        columns = scanned(data)
        assert columns is not None
        found.append((told(columns), columns.names))
    assert found[0] == found[1] == found[2]
