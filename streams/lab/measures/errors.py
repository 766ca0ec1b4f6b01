"""Predicted numbers against gold values: mean absolute error and root mean squared error."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats


def mean_absolute_error(predicted: Floats, gold: Floats) -> float:
    """Return MAE = sum |H(s) - V(s)| / |S|. WMT13 findings, 6.6.

    >>> mean_absolute_error(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    _check(predicted, gold)
    return float(np.abs(predicted - gold).mean())


def root_mean_squared_error(predicted: Floats, gold: Floats) -> float:
    """Return RMSE = sqrt(sum (H(s) - V(s))² / |S|). It penalises large errors more than MAE. WMT13 findings, 6.6.

    >>> round(root_mean_squared_error(np.array([1.0, 4.0]), np.array([2.0, 1.0])), 4)
    2.2361
    """
    _check(predicted, gold)
    return sqrt(float(((predicted - gold) ** 2).mean()))


def _check(predicted: Floats, gold: Floats) -> None:
    if predicted.shape != gold.shape or predicted.ndim != 1 or not len(gold):
        raise ParameterError(f"{predicted.shape} predicted and {gold.shape} gold values; pass one or more of each")
