"""Damaged logs end in a FormatError: the short form of benchmarks/fuzz_formats.py."""

from __future__ import annotations

import pytest

from benchmarks.fuzz_formats import SEEDS, fuzz
from streams.formats import FORMATS


def test_every_format_is_fuzzed() -> None:
    assert set(SEEDS) == set(FORMATS)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_log_is_read_or_refused(name: str) -> None:
    ends = fuzz(name, seconds=30, seed=1, cases=150)
    assert ends.total() == 150
    assert ends["refused"]
    assert ends["read"]
