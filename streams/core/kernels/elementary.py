"""Exponential and logarithm in plain arithmetic, so that ratings have the same bits on every machine.

The functions of a C library differ in the last bit between libraries, versions and processors. Addition,
multiplication, division and square root do not: IEEE 754 defines every bit of them. 1 ulp is the distance between two
neighbouring doubles.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import reduce
from itertools import accumulate
from math import frexp, inf, ldexp, nan, sqrt

from streams.compiler import jit

LOG2_E = 1.4426950408889634
STEPS = 64.0 * LOG2_E  # e^x = 2^(n / 64) e^r, where n is 64 x / ln 2 rounded to an integer
ROUND = 6755399441055744.0  # 1.5 * 2^52: a small number plus this, minus this, is rounded to an integer
# ln 2 / 64 in two parts. The first has so few bits that n times it is exact.
STEP_HIGH, STEP_LOW = 0.010830424695996044, 2.5310172166650877e-13
LN2_HIGH, LN2_LOW = 64.0 * STEP_HIGH, 64.0 * STEP_LOW
LN2 = LN2_HIGH + LN2_LOW
SQRT_HALF = 0.7071067811865476
# 2^(n / 64) = COARSE[(n >> 11) + 32] FINE[(n >> 6) & 31] (ROOTS[n & 63] + ROOTS_LOW[n & 63])
COARSE = tuple(ldexp(1.0, 32 * step) for step in range(-32, 32))
FINE = tuple(ldexp(1.0, step) for step in range(32))
_DIGITS = Context(prec=60)
_ROOT = reduce(lambda root, _: _DIGITS.sqrt(root), range(6), Decimal(2))  # 2^(1 / 64)
_ROOTS = list(accumulate([_ROOT] * 63, _DIGITS.multiply, initial=Decimal(1)))
ROOTS = tuple(float(root) for root in _ROOTS)
ROOTS_LOW = tuple(float(_DIGITS.subtract(root, Decimal(float(root)))) for root in _ROOTS)


@jit
def exp_near(x: float) -> float:
    """Return e^x within 1 ulp for |x| < 700."""
    n = (x * STEPS + ROUND) - ROUND
    r = (x - n * STEP_HIGH) - n * STEP_LOW
    k = int(n)
    z = r * r
    more = r + z * ((0.5 + r * (1.0 / 6.0)) + z * ((1.0 / 24.0 + r * (1.0 / 120.0)) + z * (1.0 / 720.0)))  # e^r - 1
    root = ROOTS[k & 63]
    return (root + root * more) * (COARSE[(k >> 11) + 32] * FINE[(k >> 6) & 31])


@jit
def exp(x: float) -> float:
    """Return e^x within 1 ulp, or within 1.5 beyond 700. Too large for a double is inf, too small is 0."""
    if -700.0 < x < 700.0:
        return exp_near(x)
    if x > 710.0:
        return inf
    if x < -750.0:
        return 0.0
    if x != x:
        return nan
    # 96 powers of two nearer to 1 nothing overflows, and a subnormal result is rounded only at the end.
    power, scale = (96.0, COARSE[35]) if x > 0.0 else (-96.0, COARSE[29])
    near = exp_near(x - power * LN2_HIGH)
    return (near - near * (power * LN2_LOW)) * scale


@jit
def expm1(x: float) -> float:
    """Return e^x - 1 within 2 ulp."""
    if not -40.0 < x < 700.0:
        return -1.0 if x < 0.0 else exp(x)
    n = (x * STEPS + ROUND) - ROUND
    r = (x - n * STEP_HIGH) - n * STEP_LOW
    k = int(n)
    z = r * r
    more = r + z * ((0.5 + r * (1.0 / 6.0)) + z * ((1.0 / 24.0 + r * (1.0 / 120.0)) + z * (1.0 / 720.0)))
    root = ROOTS[k & 63]
    scale = COARSE[(k >> 11) + 32] * FINE[(k >> 6) & 31]
    return (scale * root - 1.0) + scale * (ROOTS_LOW[k & 63] + root * more)


@jit
def log(x: float) -> float:
    """Return the natural logarithm within 1 ulp: -inf of 0, NaN of a negative number.

    With x = 2^k m, sqrt(1/2) <= m < sqrt(2), f = m - 1 and s = f / (2 + f), log m is 2 artanh(s) = f - s (f - q), where
    q = 2 s²/3 + 2 s⁴/5 + ... To keep the last digits, s f is written as f²/2 - s f²/2.
    """
    if not 0.0 < x < inf:
        if x == 0.0:
            return -inf
        return x if x > 0.0 else nan
    m, k = frexp(x)
    if m < SQRT_HALF:
        m, k = 2.0 * m, k - 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    series = 2.0 / 15.0 + z * (2.0 / 17.0 + z * (2.0 / 19.0 + z * (2.0 / 21.0 + z * (2.0 / 23.0))))
    series = 2.0 / 7.0 + z * (2.0 / 9.0 + z * (2.0 / 11.0 + z * (2.0 / 13.0 + z * series)))
    q = z * (2.0 / 3.0 + z * (2.0 / 5.0 + z * series))
    square = 0.5 * f * f
    return k * LN2_HIGH - ((square - (s * (square + q) + k * LN2_LOW)) - f)


@jit
def exp2(x: float) -> float:
    """Return 2^x. The error grows with x, to 1 ulp for each unit."""
    return exp(x * LN2)


@jit
def log2(x: float) -> float:
    """Return the logarithm to base 2 within 3 ulp."""
    return log(x) * LOG2_E


@jit
def power(x: float, exponent: float) -> float:
    """Return x^exponent for x > 0. The error is that of the logarithm, times the exponent."""
    if exponent == 0.5:
        return sqrt(x)
    return exp(exponent * log(x))
