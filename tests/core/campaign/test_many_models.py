"""The state of a campaign has the same bits on every machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests.core.campaign import many_models

# The C library chooses functions by the processor. Without these features it is another processor to it.
OTHER_LIBM = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"}


def other_numpy() -> dict[str, str]:
    """Return the variable with which numpy uses none of the loops that it has for newer processors."""
    found: Any = np.show_config(mode="dicts")
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(found["SIMD Extensions"].get("found", []))}


def run(code: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(
        [sys.executable, *code], env=os.environ | environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the features are those of x86-64")
def test_the_variables_make_another_machine_of_this_one() -> None:
    libm = ["-c", "from math import exp; print([exp(-n / 1e3) for n in range(20_000)])"]
    assert run(libm, OTHER_LIBM) != run(libm, {})
    loops = ["-c", "import numpy as np; print(np.exp(-np.arange(20_000) / 1e3).tolist())"]
    assert run(loops, other_numpy()) != run(loops, {})


@pytest.mark.long
def test_every_model_gives_the_same_bits_with_other_libraries_and_compiled() -> None:
    expected = many_models.hashes()
    assert len(set(expected.values())) == len(expected)
    found = run(["-m", "tests.core.campaign.many_models"], OTHER_LIBM | other_numpy())
    plain, compiled = (json.loads(line) for line in found.splitlines())
    assert plain == expected
    assert compiled == expected
