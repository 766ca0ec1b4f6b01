"""Kernels from their object files: the same bits, without numba, and numba's where there is no file to be had."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from streams.compiler import machine_code
from streams.core import kernels
from streams.wire.scanner import kernels as scanner_kernels

ROOT = Path(__file__).resolve().parents[2]

RATE = """
import sys
import numpy as np
from streams.core import kernels

random = np.random.default_rng(1)
first = random.integers(20, size=5000)
systems = np.stack([first, (first + random.integers(1, 20, size=5000)) % 20], 1).ravel()
mean, variance = np.zeros(20), np.ones(20)
kernels.compiled("pairs").rate_rankings(
    mean, variance, systems, random.integers(1, 3, size=10_000), 2 * np.arange(5001), 1.1, 0.3
)
print("numba" in sys.modules, mean.tobytes().hex(), variance.tobytes().hex())
"""


WITHOUT_FILES = "import streams.compiler.kernels; streams.compiler.kernels.load = lambda *_, **__: None"


def rated(before: str = "") -> tuple[str, str]:
    """Rate in a process of its own; give whether it loaded numba, and the bits."""
    source = f"{before}\n{RATE}"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, cwd=ROOT)
    numba, _, bits = done.stdout.strip().partition(" ")
    return numba, bits


def test_the_second_process_needs_no_numba_and_gives_the_same_bits() -> None:
    rated()
    kept, by_numba = rated(), rated(WITHOUT_FILES)
    assert kept[0] == "False"
    assert by_numba[0] == "True"
    assert kept[1] == by_numba[1]


def test_every_kernel_that_is_kept_equals_the_plain_one() -> None:
    values = np.array([5, 9, 5, 2**53, 9], np.int64)
    for module in (scanner_kernels.plain("hash_tables"), scanner_kernels.compiled("hash_tables")):
        newer, older = np.zeros((2, 16), np.int64)
        module.insert_all(values[:1], older)
        assert module.insert_new(values[1:2], newer, older) == 1
        assert module.insert_new(values[3:], newer, older) == 1
        assert module.insert_new(values, newer, older) == 0
        assert sorted(newer[newer > 0].tolist()) == [10, 2**53 + 1]


def test_what_has_no_signature_is_compiled_by_numba() -> None:
    wins, ties, touched = np.zeros((2, 2), np.int64), np.zeros((2, 2), np.int64), np.zeros((2, 2), np.bool_)
    kernels.compiled("pairs").count_rankings(wins, ties, touched, np.array([0, 1]), np.array([1, 2]), np.array([0, 2]))
    assert wins.tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    "values", [np.zeros(4, np.int32), np.zeros((2, 2), np.int64), np.zeros(8, np.int64)[::2], np.zeros(4)]
)
def test_an_array_of_another_form_is_refused(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    with pytest.raises(TypeError, match="is asked for"):
        scanner_kernels.compiled("hash_tables").insert_all(values, np.zeros(16, np.int64))


def test_where_nothing_can_be_kept_numba_serves(tmp_path: Path) -> None:
    folder = tmp_path / "a file"
    folder.touch()
    assert (
        machine_code.load(
            "hash_tables", digest="none", folder=folder, rest=lambda: scanner_kernels.by_numba("hash_tables")
        )
        is None
    )


RAISE = """
from numba import njit

@njit
def inverse(x):
    return 1 / x

try:
    inverse(0)
except ZeroDivisionError:
    print("raised")
"""


@pytest.mark.parametrize("order", [(RATE, RAISE), ("import numba", RATE, RAISE)])
def test_numba_still_raises_beside_kernels_that_were_loaded_without_it(order: tuple[str, ...]) -> None:
    rated()
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(order)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.endswith("raised\n")
