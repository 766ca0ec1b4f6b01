"""Damaged records, bodies and files end with a reason: the short form of benchmarks/fuzz.py."""

from __future__ import annotations

import subprocess
import sys
from math import inf
from pathlib import Path

import pytest

from benchmarks.fuzz import TARGETS, fuzz
from streams.formats import FORMATS

ROOT = Path(__file__).resolve().parents[2]


def test_every_format_is_fuzzed() -> None:
    assert set(TARGETS) == {"records", "bodies", "columns", "containers", *FORMATS}


# One of each kind. The long form has all of them.
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["records", "bodies", "columns", "containers", "jsonl", "arena", "parquet"])
def test_what_is_damaged_is_applied_or_refused(name: str) -> None:
    ends = fuzz(name, cases=150, seed=1, most_seconds=inf).ends
    assert ends.total() == 150
    assert ends["refused"] + ends["rejected"]
    assert ends["read"] + ends["applied"] + ends["accepted"]


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_100_000_cases_end_and_in_bounded_memory() -> None:
    # The benchmark itself allows 0.1 s. Here the machine may be busy, and only what hangs is looked for.
    fuzzing = [sys.executable, str(ROOT / "benchmarks" / "fuzz.py"), "--cases", "100000", "--most-seconds", "5"]
    subprocess.run(fuzzing, check=True)
