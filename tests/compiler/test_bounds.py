"""With NUMBA_BOUNDSCHECK=1 a kernel that writes outside of its array raises an error. `make bounds` relies on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """
from streams.compiler import jit

SIGNATURES = {"put": "q1 q"}


@jit
def put(values, place):
    values[place] = 7
"""
# The array is the beginning of a larger one, so that nothing is damaged if the index is not checked.
CALL = """
import numpy as np
from streams.compiler import Kernels

whole = np.zeros(10, np.int64)
try:
    Kernels("hostile_kernels").compiled("writing").put(whole[:5], 7)
except IndexError:
    print("IndexError")
else:
    print("written" if whole[7] else "lost")
"""


def write_outside(folder: Path, checked: str) -> str:
    """Call the kernel in a process of its own, and return how it ended."""
    path = os.pathsep.join((str(folder), str(ROOT)))
    environment = os.environ | {"NUMBA_BOUNDSCHECK": checked, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


@pytest.mark.long
@pytest.mark.parametrize("order", ["01", "10"])
def test_an_index_outside_of_its_array_is_found_if_bounds_are_checked(tmp_path: Path, order: str) -> None:
    package = tmp_path / "hostile_kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "writing.py").write_text(KERNEL)
    # In both orders, because neither may take the code that the other one left in the cache.
    found = {checked: write_outside(tmp_path, checked) for checked in order}
    assert found == {"0": "written", "1": "IndexError"}
