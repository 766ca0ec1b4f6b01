"""DeltaAvg: how much better the upper part of a ranking of items is than the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats


def delta_avg_of(ranked: Floats, quantiles: int) -> float:
    """Return DeltaAvg[n] = sum_{k<n} V(S_1,k) / (n - 1) - V(S), for values in the order of a ranking, best first.

    S_1,k are the first k of n quantiles of |S| // n entries each; the last one also has the rest. V is the mean.

    >>> delta_avg_of(np.array([4.0, 3.0, 2.0, 1.0]), 2)
    1.0
    """
    if not 2 <= quantiles <= len(ranked):
        raise ParameterError(f"`quantiles` is {quantiles}; {len(ranked)} entries allow 2 to {len(ranked)}")
    return _delta_avg_of(np.cumsum(ranked), quantiles)


def delta_avg(hypothesis: Floats, values: Floats) -> float:
    """Return DeltaAvg: the mean of DeltaAvg[n] over n = 2 to |S| / 2, so that no quantile has a single entry.

    The entry with the highest hypothesis is ranked first; equals keep their order. DeltaAvg is positive if entries with
    high ranks have high values. WMT13 findings, 6.6 (Callison-Burch et al. 2012).

    >>> values = np.array([4.0, 3.0, 2.0, 1.0])
    >>> delta_avg(values, values), delta_avg(-values, values)
    (1.0, -1.0)
    """
    if hypothesis.shape != values.shape or values.ndim != 1 or len(values) < 4:
        raise ParameterError(f"{hypothesis.shape} ranked and {values.shape} values; pass four or more of each")
    ranked = values[np.argsort(-hypothesis, kind="stable")]
    sums = np.cumsum(ranked)
    return float(np.mean([_delta_avg_of(sums, n) for n in range(2, len(ranked) // 2 + 1)]))


def _delta_avg_of(sums: Floats, quantiles: int) -> float:
    """Return DeltaAvg[n] from the cumulative sums of the ranked values."""
    ends = (len(sums) // quantiles) * np.arange(1, quantiles)
    return float((sums[ends - 1] / ends).mean() - sums[-1] / len(sums))
