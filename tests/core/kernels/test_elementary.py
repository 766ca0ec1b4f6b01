"""The functions of the kernels against outside computations, and plain against compiled."""

from __future__ import annotations

import ast
import re
from decimal import Context, Decimal
from math import inf, isnan, nan, nextafter, ulp
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import special

import streams.core
from streams.core import kernels
from streams.core.kernels import elementary, normal

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = Context(prec=60)  # the decimal module has its own exponential and logarithm, rounded correctly
LARGEST, SMALLEST = 709.782712893384, -745.1332191019411  # e to these is the largest double, and the smallest
DECAY = Decimal("0.25")
ENDS = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, -40.0, -700.0, 700.0, 705.0, -708.5, -720.0, -740.0, LARGEST, SMALLEST]


def numbers(low: float, high: float, count: int = 400) -> list[float]:
    """Draw numbers of all sizes between two bounds."""
    random = np.random.default_rng(1)
    drawn = random.uniform(low, high, count)
    return [*drawn.tolist(), *(drawn * 2.0 ** -random.integers(0, 60, count).astype(float)).tolist()]


def error(found: float, expected: Decimal) -> float:
    """Return the error in ulp of the expected number."""
    return float(abs(DIGITS.subtract(Decimal(found), expected)) / Decimal(ulp(float(expected))))


def minus_one(x: Decimal) -> Decimal:
    """Return e^x - 1 by its series where the difference would lose digits."""
    if abs(x) > Decimal("1e-5"):
        return DIGITS.subtract(DIGITS.exp(x), 1)
    return sum((x**n / d for n, d in ((2, 2), (3, 6), (4, 24), (5, 120))), x)


@pytest.mark.parametrize(
    ("function", "oracle", "values", "most"),
    [
        (elementary.exp, DIGITS.exp, [*numbers(-700, 700), *numbers(-1, 1)], 1.0),
        (elementary.exp, DIGITS.exp, [*ENDS, *numbers(-745, -700)[:400], *numbers(700, 709)[:400]], 1.5),
        (elementary.exp_near, DIGITS.exp, numbers(-699, 699), 1.0),
        (elementary.expm1, minus_one, [*ENDS, *numbers(-745, 709), *numbers(-1, 1), *numbers(-0.02, 0.02)], 2.0),
        (elementary.log, DIGITS.ln, [*np.exp(numbers(-740, 700)).tolist(), *np.exp(numbers(-1, 1)).tolist()], 1.0),
        (elementary.log, DIGITS.ln, [5e-324, 1.7976931348623157e308, nextafter(1, 0), nextafter(1, 2)], 1.0),
        (elementary.exp2, lambda x: DIGITS.power(2, x), numbers(-2, 2), 3.0),
        (elementary.log2, lambda x: DIGITS.ln(x) / DIGITS.ln(2), [*np.exp(numbers(-2, 2)).tolist()], 3.0),
        (lambda x: elementary.power(x, float(DECAY)), lambda x: DIGITS.power(x, DECAY), numbers(1e-3, 1)[:400], 3.0),
        (lambda x: elementary.power(x, 0.5), DIGITS.sqrt, numbers(1e-3, 1)[:400], 0.5),
    ],
)
def test_the_error_is_at_most_a_few_units_in_the_last_place(
    function: Callable[[float], float], oracle: Callable[[Decimal], Decimal], values: list[float], most: float
) -> None:
    errors = [error(function(x), oracle(Decimal(x))) for x in values if x != 0.0]
    assert max(errors) <= most


def test_the_ends_of_the_doubles_are_as_in_the_c_library() -> None:
    assert [elementary.exp(x) for x in (0.0, -0.0, inf, -inf, 710.0, -746.0)] == [1.0, 1.0, inf, 0.0, inf, 0.0]
    assert elementary.exp(nextafter(LARGEST, inf)) == inf
    assert elementary.exp(SMALLEST) == 5e-324
    assert elementary.exp(SMALLEST - 0.001) == 0.0
    assert [elementary.expm1(x) for x in (0.0, inf, -inf, 5e-324)] == [0.0, inf, -1.0, 5e-324]
    assert [elementary.log(x) for x in (0.0, 1.0, inf)] == [-inf, 0.0, inf]
    assert all(isnan(found) for found in (elementary.exp(nan), elementary.expm1(nan), elementary.log(nan)))
    assert isnan(elementary.log(-1.0))
    assert isnan(elementary.log(-inf))


def test_the_normal_distribution_agrees_with_scipy() -> None:
    for x in [*numbers(-37, 37), *numbers(-2, 2), -1.5, -1.0, 1.0, 1.5, 20.0, -20.0]:
        # In a tail the rounding of x² counts, also for scipy.
        near = 2e-15 + 5e-16 * x * x
        assert normal.upper_tail(x) == pytest.approx(float(special.ndtr(-x)), rel=near, abs=1e-307)
        assert normal.tail_and_density(x) == (normal.upper_tail(x), normal.NORM * elementary.exp(-0.5 * x * x))
        a, b = normal.mills(abs(x))
        assert a / b == pytest.approx(float(np.sqrt(np.pi / 2) * special.erfcx(abs(x) / np.sqrt(2))), rel=2e-15)


def test_plain_and_compiled_functions_give_the_same_bits() -> None:
    values = [*ENDS, inf, -inf, nan, *numbers(-745, 709), *numbers(-30, 30), *numbers(-1e-3, 1e-3)]
    for name, functions in {
        "elementary": ("exp", "expm1", "log", "exp2", "log2"),
        "normal": ("upper_tail", "tail_and_density", "win_moments"),
    }.items():
        plain, compiled = kernels.plain(name), kernels.by_numba(name)
        for function in functions:
            expected = [repr(getattr(plain, function)(x)) for x in values]
            assert [repr(getattr(compiled, function)(x)) for x in values] == expected
    ties = [(abs(t), abs(e)) for t in numbers(-25, 25)[::9] for e in numbers(-4, 4)[::40]]
    expected = [repr(normal.tie_moments(t, e)) for t, e in ties]
    assert [repr(kernels.by_numba("normal").tie_moments(t, e)) for t, e in ties] == expected


# Functions of numpy that are not exact, and names in `math` that are.
INEXACT = re.compile("exp2?|expm1|log|log2|log10|log1p|power|float_power|hypot|tanh|dot|matmul|einsum|linalg")
EXACT = {"frexp", "inf", "isfinite", "ldexp", "nan", "pi", "sqrt"}
FOLDERS = ("kernels", "models", "campaign", "matching")
# From 150 systems on the look-ahead is computed by LAPACK. Another library could choose another pair only if two pairs
# are equally good to 13 digits.
LARGE = "lookahead.py"
PACKAGE = "trueskill_package.py"  # it passes functions to the package, which computes with those of the C library


def from_the_c_library(tree: ast.AST) -> list[str]:
    """Return the functions of the C library that a module calls by name."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in {"math", "cmath", "statistics", "scipy"}:
            found += [alias.name for alias in node.names if alias.name not in EXACT]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name in {"math", "cmath", "statistics", "scipy"}]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
            found += [f"np.{node.attr}"] if INEXACT.fullmatch(node.attr) else []
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append("@")
    return found


def test_no_live_code_calls_the_c_library_for_a_function_that_is_not_exact() -> None:
    root = Path(streams.core.__file__).parent
    exempt = {root / "models" / PACKAGE, root / "matching" / LARGE}
    files = [file for folder in FOLDERS for file in (root / folder).glob("*.py") if file not in exempt]
    assert len(files) > 30
    found: dict[str, Any] = {str(file): from_the_c_library(ast.parse(file.read_text())) for file in files}
    assert {file: names for file, names in found.items() if names} == {}
