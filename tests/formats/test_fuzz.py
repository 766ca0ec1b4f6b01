"""Damaged records, bodies and files end with a reason: the short form of benchmarks/fuzz.py."""

from __future__ import annotations

import subprocess
import sys
from math import inf
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from benchmarks.fuzz import TARGETS, fuzz
from benchmarks.mutations import SEEDS
from benchmarks.structured_mutations import reordered
from streams.formats import FORMATS, read
from streams.wire.events import Judgment

BY_PLACE = ("google-forms", "appraise-scores", "mt-metrics-eval")  # columns without names that are always the same
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


def unordered(judgment: Judgment) -> str:
    """Return a judgment without its id and without the order of its systems."""
    ranked = sorted(zip(judgment.systems, judgment.ranks or [judgment.score], strict=True))
    return repr((replace(judgment, id="", systems=(), ranks=None), ranked))


@pytest.mark.parametrize("name", sorted(set(SEEDS) - {"parquet", "appraise", *BY_PLACE}))
def test_the_order_of_columns_and_keys_does_not_matter(name: str, tmp_path: Path) -> None:
    for number, data in enumerate(SEEDS[name]):
        changed = reordered(Random(number), data)
        if changed is None:
            continue
        found = []
        for folder, content in (("before", data), ("after", changed)):
            file = tmp_path / f"{folder}-{number}" / "log"
            file.parent.mkdir()
            file.write_bytes(content)
            found.append(sorted(unordered(entry.judgment) for entry in read(file, format=name)))
        assert found[0] == found[1]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_huge_cells_end_in_bounded_memory() -> None:
    fuzzing = [sys.executable, str(ROOT / "benchmarks" / "fuzz.py"), "--cases", "1500", "--huge", "8000000"]
    subprocess.run([*fuzzing, "--most-seconds", "20"], check=True)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_100_000_cases_end_and_in_bounded_memory() -> None:
    # The benchmark itself allows 0.1 s. Here the machine may be busy, and only what hangs is looked for.
    fuzzing = [sys.executable, str(ROOT / "benchmarks" / "fuzz.py"), "--cases", "100000", "--most-seconds", "5"]
    subprocess.run(fuzzing, check=True)
