"""Calibration: of all outcomes predicted with 30 %, 30 % should occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError
from streams.lab.measures.prediction import check

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Per bin: the number of predictions, their mean, and the share that occurred. Empty bins have NaN."""

    counts: Ints
    predicted: Floats
    observed: Floats

    @property
    def error(self) -> float:
        """The expected calibration error: the mean of |predicted - observed| over predictions."""
        filled = self.counts > 0
        away = np.abs(self.predicted[filled] - self.observed[filled])
        return float((self.counts[filled] * away).sum() / self.counts.sum())


def reliability(probabilities: Floats, outcomes: Ints, *, bins: int = 10) -> Reliability:
    """Return all three predictions of each outcome in equal bins (Naeini, Cooper and Hauskrecht 2015, by class).

    >>> bins = reliability(np.array([[0.7, 0.1, 0.2], [0.7, 0.1, 0.2]]), np.array([0, 2]), bins=2)
    >>> bins.counts.tolist(), bins.observed.tolist(), round(bins.error, 3)
    ([4, 2], [0.25, 0.5], 0.133)
    """
    if bins < 1:
        raise ParameterError(f"`bins` is {bins}; it must be at least 1")
    check(probabilities, outcomes)
    came = (outcomes[:, None] == np.arange(3)).ravel()
    place = np.minimum((probabilities.ravel() * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    means = [
        np.divide(np.bincount(place, values, bins), counts, out=np.full(bins, np.nan), where=counts > 0)
        for values in (probabilities.ravel(), came)
    ]
    return Reliability(counts=counts, predicted=means[0], observed=means[1])
