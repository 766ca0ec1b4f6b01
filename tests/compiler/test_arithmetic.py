"""The compiled kernels do the arithmetic of their source: nothing is fused, reordered or left to the C library."""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding as llvm
import pytest
from numba import njit, types

from streams.core import kernels

pytestmark = pytest.mark.long  # numba compiles them without its cache

FLOAT, INT = types.float64, types.int64
ROW, TABLE, CUBE, INTS = FLOAT[::1], FLOAT[:, ::1], FLOAT[:, :, ::1], INT[::1]
KERNELS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("pairs", "pair_update"): (FLOAT, FLOAT, FLOAT, FLOAT, INT, FLOAT, FLOAT),
    ("bootstrap", "rate_replicas"): (TABLE, TABLE, types.uint8[:, ::1], INTS, INTS, INTS, FLOAT, FLOAT),
    ("freeforall", "rate_link"): (ROW, INTS, types.boolean, INT, FLOAT, TABLE),
    ("mixture", "judged_pair_update"): (*[FLOAT] * 6, INT, FLOAT, FLOAT),
    ("newton", "climb"): (
        INTS,
        INTS,
        TABLE,
        FLOAT,
        ROW,
        FLOAT[:, :, ::1],
        TABLE,
        ROW,
        *[TABLE] * 3,
        types.boolean,
        FLOAT,
    ),
    ("grm", "descend"): (TABLE, TABLE, TABLE, *[INT] * 5, types.boolean, TABLE, FLOAT, FLOAT),
}
# Flags that allow LLVM another order, or a product and a sum in one step with one rounding.
LICENCE = re.compile(r"= (?:f(?:add|sub|mul|div|neg)|(?:tail )?call) [\w ]*\b(?:fast|reassoc|contract|arcp|afn)\b")
INEXACT = re.compile(r"@llvm\.(?:fma|fmuladd|exp|log|pow|sin|cos|vector\.reduce\.f)\w*")
OUTSIDE = re.compile(r"^declare .*?@\"?([\w.$]+)", re.MULTILINE)
FUSED = re.compile(r"\b(?:vfn?m(?:add|sub)\w*|fn?m(?:add|sub)|fml[as])\b")  # x86-64 and arm64
RUNTIME = ("llvm.", "Py", "NRT_", "numba_", "_Py")  # arguments, memory and errors
# sqrt is exact in every C library. The other one splits a double into mantissa and exponent.
EXACT = {"sqrt", "numba_frexp"}


def compiled(module: str, name: str, **options: Any) -> tuple[str, str]:
    """Return the optimised code of a kernel, for LLVM and for this processor."""
    function = njit(**options)(getattr(kernels.by_numba(module), name).py_func)
    function.compile(KERNELS[module, name])
    (signature,) = function.signatures
    return function.inspect_llvm(signature), function.inspect_asm(signature)


def for_arm64(code: str) -> str:
    """Return the same code for a processor with fused multiplication."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine(cpu="neoverse-v1", opt=3)
    parsed = llvm.parse_assembly(re.sub(r"^target (?:triple|datalayout).*$", "", code, flags=re.MULTILINE))
    parsed.triple, parsed.data_layout = "aarch64-unknown-linux-gnu", str(machine.target_data)
    return str(machine.emit_assembly(parsed))


@pytest.mark.parametrize("kernel", KERNELS, ids=".".join)
def test_a_live_kernel_does_the_arithmetic_of_its_source(kernel: tuple[str, str]) -> None:
    code, assembly = compiled(*kernel)
    assert "fmul double" in code
    assert not LICENCE.findall(code)
    assert not INEXACT.findall(code)
    assert {name for name in OUTSIDE.findall(code) if not name.startswith(RUNTIME)} <= EXACT
    assert not FUSED.findall(assembly)
    if "llvm.x86." not in code:  # LLVM ends the process at an intrinsic of another processor
        assert not FUSED.findall(for_arm64(code))


def test_the_check_finds_what_would_change_the_bits() -> None:
    code, _ = compiled("pairs", "pair_update", fastmath=True)
    assert LICENCE.findall(code)
    assert FUSED.findall(for_arm64(code))
    assert INEXACT.findall("%x = call double @llvm.exp.f64(double %y)")
