"""Kernels from their object files give the same bits without numba. Numba compiles if a file can not be used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from msgspec.structs import replace

from streams.compiler import machine_code
from streams.compiler.object_files import LAYOUT, BadObjectFile, read_object_file, write_object_file
from streams.core import kernels
from streams.wire.scanner import kernels as scanner_kernels

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]

RATE = """
import sys
import numpy as np
from streams.core import kernels

random = np.random.default_rng(1)
first = random.integers(20, size=5000)
systems = np.stack([first, (first + random.integers(1, 20, size=5000)) % 20], 1).ravel()
mean, variance, margins = np.zeros(20), np.ones(20), np.array([[0.3, 20.0], [0.0, 0.0]])
kernels.compiled("pairs").rate_rankings(
    mean,
    variance,
    margins,
    systems,
    random.integers(1, 3, size=10_000),
    2 * np.arange(5001),
    np.zeros(5000, np.int64),
    1.1,
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


@pytest.mark.long
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
        assert newer[newer > 0].tolist() == [10], "what comes before a known one is taken out again"


def test_what_has_no_signature_is_compiled_by_numba() -> None:
    wins, ties, touched = np.zeros((2, 2), np.int64), np.zeros((2, 2), np.int64), np.zeros((2, 2), np.bool_)
    kernels.compiled("pairs").count_rankings(wins, ties, touched, np.array([0, 1]), np.array([1, 2]), np.array([0, 2]))
    assert wins.tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    "values", [np.zeros(4, np.int32), np.zeros((2, 2), np.int64), np.zeros(8, np.int64)[::2], np.zeros(4)]
)
def test_an_array_of_another_form_is_refused(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    with pytest.raises(TypeError, match="the kernel needs"):
        scanner_kernels.compiled("hash_tables").insert_all(values, np.zeros(16, np.int64))


def load(folder: Path) -> machine_code.LoadedKernels | None:
    return machine_code.load(
        "hash_tables", digest="test", folder=folder, compile_module=lambda: scanner_kernels.by_numba("hash_tables")
    )


def works(loaded: machine_code.LoadedKernels | None) -> bool:
    table = np.zeros(16, np.int64)
    assert loaded is not None
    loaded.insert_all(np.array([5, 9], np.int64), table)
    return sorted(table[table > 0].tolist()) == [6, 10]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    assert works(load(tmp_path))
    (found,) = (tmp_path / "__pycache__").iterdir()
    return found


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip_a_byte_of_the_code(data: bytes) -> bytes:
    return data[:-500] + bytes([data[-500] ^ 1]) + data[-499:]


def flip_a_byte_of_the_head(data: bytes) -> bytes:
    return data.replace(b"insert_all", b"insert_alm", 1)


def write_another_layout(data: bytes) -> bytes:
    return data.replace(LAYOUT, LAYOUT.replace(b"3", b"2"))


def empty(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [cut, flip_a_byte_of_the_code, flip_a_byte_of_the_head, write_another_layout, empty])
def test_a_bad_file_is_not_loaded_but_made_again(
    file: Path, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = read_object_file(file)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(BadObjectFile):
        read_object_file(file)
    with monkeypatch.context() as patch:
        patch.setattr(machine_code, "write_object_file", Mock(side_effect=PermissionError))
        assert load(file.parent.parent) is None
    assert works(load(file.parent.parent))
    assert read_object_file(file).functions.keys() == good.functions.keys()


def test_a_file_with_an_unknown_symbol_is_not_loaded(file: Path) -> None:
    good = read_object_file(file)
    write_object_file(file, replace(good, imports=[*good.imports, "no_such_symbol"]))
    assert load(file.parent.parent) is None
    write_object_file(file, replace(good, imports=[*good.imports, "numba_no_such_symbol"]))
    assert load(file.parent.parent) is None


def test_a_file_without_one_of_its_functions_is_not_loaded(file: Path) -> None:
    good = read_object_file(file)
    functions = good.functions | {"insert_all": replace(good.functions["insert_all"], symbol="no_such_function")}
    write_object_file(file, replace(good, functions=functions))
    assert load(file.parent.parent) is None


def test_a_file_of_another_version_of_numba_is_not_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llvmlite.__version__", "0")
    monkeypatch.setattr(machine_code, "_platform_digest", machine_code._platform_digest.__wrapped__)  # of this process
    assert works(load(file.parent.parent))
    assert len(list(file.parent.iterdir())) == 2


def test_a_folder_that_can_not_be_used_leaves_the_work_to_numba(tmp_path: Path) -> None:
    folder = tmp_path / "a file"
    folder.touch()
    assert load(folder) is None


def test_a_numba_with_other_private_names_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.cfunc", lambda _: lambda _: object())
    assert load(tmp_path) is None


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
