"""The kernels for tables: ids, times and cells, compared with the standard library."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.formats.columns.cells import TextPool, split_block
from streams.formats.rankings import parse_time
from streams.wire.events import EPOCH
from streams.wire.scanner import kernels
from streams.wire.scanner.kernels.digest_lanes import WORK
from streams.wire.scanner.kernels.text import NO_TIME, PADDING


@given(st.lists(st.binary(max_size=400), min_size=1, max_size=40))
def test_digests_of_many_texts_are_those_of_hashlib(texts: list[bytes]) -> None:
    data, digests = np.frombuffer(b"".join(texts) + bytes(PADDING), np.uint8), np.empty(len(texts), np.int64)
    ends = np.cumsum([len(text) for text in texts])
    kernels.compiled("digest_lanes").digest_texts(data, ends, np.zeros(WORK, np.int64), digests)
    assert digests.tobytes() == b"".join(blake2b(text, digest_size=8).digest() for text in texts)


@pytest.mark.parametrize("size", [127, 128, 129, 256, 257])
def test_a_digest_of_whole_blocks_is_that_of_hashlib(size: int) -> None:
    text, digests = bytes(range(256)) * 2, np.empty(1, np.int64)
    data = np.frombuffer(text[:size] + bytes(PADDING), np.uint8)
    kernels.compiled("digest_lanes").digest_texts(data, np.array([size]), np.zeros(WORK, np.int64), digests)
    assert digests.tobytes() == blake2b(text[:size], digest_size=8).digest()


@given(
    st.one_of(
        st.datetimes(datetime(1000, 1, 1), datetime(8000, 1, 1)).map(str),
        st.datetimes(datetime(1000, 1, 1), datetime(8000, 1, 1)).map(datetime.isoformat),
        st.integers(0, 10**15).map(str),
        st.decimals(0, 10**9, places=6).map(str),
        st.floats(0, 1e10).map(str),
        st.sampled_from(["", "12.", ".5", "1e5", "nan", "2024-02-30 00:00:00", "2024-05-06", "-5", "00012.50"]),
    )
)
def test_a_time_of_a_table_is_the_one_of_the_complete_reader_or_left_to_it(text: str) -> None:
    data, times = np.frombuffer(text.encode() + bytes(PADDING), np.uint8), np.empty(1, np.int64)
    kernels.compiled("times").read_times(data, np.array([0]), np.array([len(text)]), 1, times)
    if times[0] != NO_TIME:
        assert EPOCH + timedelta(microseconds=int(times[0])) == parse_time(text, field="at")


@given(st.lists(st.datetimes(datetime(2, 1, 1), datetime(8998, 1, 1)), min_size=1, max_size=9))
def test_a_time_is_written_as_on_the_wire(times: list[datetime]) -> None:
    micros = [(time.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1) for time in times]
    pool = TextPool(b"")
    begins, ends = pool.add_times(np.array(micros, np.int64))
    texts = [pool.content()[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]
    assert texts == [f"{time.isoformat(timespec='microseconds')}Z" for time in times]


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1))
def test_numbers_are_written_in_decimals(numbers: list[int]) -> None:
    pool = TextPool(b"")
    begins, ends = pool.add_numbers(np.array(numbers, np.int64))
    assert [int(pool.content()[begin:end]) for begin, end in zip(begins, ends, strict=True)] == numbers


@given(st.text('ab,"\n\r é', max_size=60), st.integers(1, 4))
def test_cells_are_those_of_the_csv_module_up_to_an_unusual_row(text: str, width: int) -> None:
    block = text[: text.rfind("\n") + 1].encode()
    cells = split_block(block, delimiter=",", columns=tuple(range(width)), width=width, most=100)
    found = cells.values(range(len(cells)))
    assert [len(part) for part in found] == [width] * len(found)
    read = block[: int(cells.row_ends[-1]) if len(cells) else 0].decode()
    assert found == list(csv.reader(io.StringIO(read, newline=""), strict=True))
