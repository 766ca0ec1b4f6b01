"""The truncated normal distribution: mass, mean and variance, with full precision and without underflow."""

from __future__ import annotations

from streams.compiler import jit
from streams.core.kernels.elementary import exp, exp_near, expm1

NORM = 0.3989422804014327  # 1 / sqrt(2 pi)
CENTRE = 1.5  # up to it the distance from the median is computed, beyond it the tail
FAR = 20.0  # beyond it the asymptotic series is exact
NARROW = 1e-3  # below it a margin's two tails cancel, while the density within is an exponential


@jit
def tail(x: float) -> tuple[float, float]:
    """Return z = 1 / x² and r for x > FAR, with (1 - Phi(x)) / N(x) = (1 - z r) / x."""
    z = 1.0 / (x * x)
    series = 1.0 - 11.0 * z * (1.0 - 13.0 * z * (1.0 - 15.0 * z))
    return z, 1.0 - 3.0 * z * (1.0 - 5.0 * z * (1.0 - 7.0 * z * (1.0 - 9.0 * z * series)))


@jit
def mills(x: float) -> tuple[float, float]:
    """Return a and b with a / b = (1 - Phi(x)) / N(x) for x >= 0.

    Up to FAR they are polynomials, whose quotient interpolates Mills' ratio at 20 points, to 2e-17. All coefficients
    are positive, so that no digit is lost. The even and the odd part are computed at once by most processors.
    """
    if x > FAR:
        z, r = tail(x)
        return (1.0 - z * r) / x, 1.0
    z = x * x
    even = 0.2206921667403772 + z * (0.008718785460581411 + z * 7.388843763110694e-05)
    odd = 0.051906710073215616 + z * (0.0010110110295220357 + z * 2.623226068449594e-06)
    even = 1.2533141373155003 + z * (1.411797030305913 + z * even)
    odd = 1.8882936119820208 + z * (0.6706994532586547 + z * odd)
    a = even + x * odd
    even = 0.052912476360911016 + z * (0.0010136342569439468 + z * 2.623226068583608e-06)
    odd = 0.22926313743829002 + z * (0.008792673840646451 + z * 7.388843761136108e-05)
    even = 1.0 + z * (2.4651958752591914 + z * (0.7206110256064241 + z * even))
    odd = 2.3045248800659954 + z * (1.615781547152333 + z * odd)
    return a, even + x * odd


@jit
def central(z: float) -> tuple[float, float]:
    """Return a and b with a / b = (Phi(x) - 1/2) / x for z = x², |x| <= CENTRE: polynomials, like those of `mills`."""
    w = z * z
    high = 0.004003865878907424 + z * 8.073785493102892e-05
    a = (0.39894228040143265 + z * 0.025129866450152635) + w * (high + w * 4.304004467625727e-06)
    high = (0.02331252016130031 + z * 0.0013225427817917113) + w * (4.255313667885134e-05 + z * 6.33423711057262e-07)
    return a, (1.0 + z * 0.22965790044831924) + w * high


@jit
def upper_tail(x: float) -> float:
    """Return 1 - Phi(x)."""
    if -CENTRE < x < 1.0:
        a, b = central(x * x)
        return 0.5 - x * a / b
    a, b = mills(abs(x))
    mass = NORM * exp(-0.5 * x * x) * a / b
    return mass if x >= 0.0 else 1.0 - mass


@jit
def tail_and_density(x: float) -> tuple[float, float]:
    """Return 1 - Phi(x), to the same bits as `upper_tail`, and N(x). Together they need one exponential."""
    density = NORM * exp(-0.5 * x * x)
    if -CENTRE < x < 1.0:
        a, b = central(x * x)
        return 0.5 - x * a / b, density
    a, b = mills(abs(x))
    mass = density * a / b
    return (mass if x >= 0.0 else 1.0 - mass), density


@jit
def win_moments(x: float) -> tuple[float, float]:
    """Return v and w of TrueSkill for a win, at x = t - e: v = N(x) / Phi(x), w = v (v + x)."""
    if -1.0 < x < CENTRE:
        z = x * x
        a, b = central(z)
        v = NORM * exp_near(-0.5 * z) * b / (0.5 * b + x * a)
        return v, min(v * (v + x), 1.0)
    if not -FAR <= x <= FAR:
        return far_win_moments(x)
    a, b = mills(abs(x))
    if x < 0.0:
        v = b / a
    else:
        density = NORM * exp_near(-0.5 * x * x)
        v = density * b / (b - density * a)
    return v, min(v * (v + x), 1.0)


@jit
def far_win_moments(x: float) -> tuple[float, float]:
    """Return v and w for a win beyond FAR, where one tail is nothing, and for NaN."""
    if x > 0.0:
        v = NORM * exp(-0.5 * x * x)
        return v, v * x
    z, r = tail(-x)
    rest = 1.0 - z * r
    return -x / rest, r / (rest * rest)


@jit
def tie_moments(t: float, e: float) -> tuple[float, float]:
    """Return v and w of TrueSkill for a tie, with t >= 0. Scaling by N(t - e) prevents underflow."""
    if e < NARROW:
        return narrow_tie_moments(t, e)
    low, high = t - e, t + e
    less = expm1(-2.0 * t * e)  # N(high) / N(low) - 1
    ratio = 1.0 + less
    if low > FAR:
        if less == -1.0:  # the other side of the margin is too far away to matter
            v, w = win_moments(-low)
            return -v, w
        z, r = tail(low)
        below, gap_below = (1.0 - z * r) / low, z * r
        z, r = tail(high)
        above, gap_above = (1.0 - z * r) / high, z * r
        mass = below - ratio * above
        w = (2.0 * e * ratio * (below - above) - less * (gap_below - ratio * gap_above)) / (mass * mass)
        return less / mass, min(w, 1.0)
    # N(low) / mass, with the mass as a difference from the median, of two tails, or from 1.
    if high < CENTRE:
        z = low * low
        a, b = central(z)
        c, d = central(high * high)
        scale = NORM * exp_near(-0.5 * z) * (b * d) / (high * (c * b) - low * (a * d))
    else:
        a, b = mills(abs(low))
        c, d = mills(high)
        below, above, both = a * d, ratio * (c * b), b * d
        if low > 0.0:
            scale = both / (below - above)
        else:
            density = NORM * exp(-0.5 * low * low)
            scale = density * both / (both - density * (below + above))
    v = less * scale
    w = v * v + (ratio * high - low) * scale
    return v, min(max(w, 0.0), 1.0)


@jit
def narrow_tie_moments(t: float, e: float) -> tuple[float, float]:
    """Return v and w for a small margin, in which the density is e^(t u), -e <= u <= e: Langevin's function."""
    y = t * e
    if y < 0.01:
        return e * y / 3.0 - t, 1.0 - e * e / 3.0
    less = -expm1(-2.0 * y)
    ratio = 1.0 - less
    return e * ((1.0 + ratio) / less - 1.0 / y) - t, 1.0 - e * e * (1.0 / (y * y) - 4.0 * ratio / (less * less))
