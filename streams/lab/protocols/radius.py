"""The decision radius, tuned on development data before the test, as in the papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streams.core.methods.base import Fitted
from streams.core.methods.tie_radius import score_gaps, split_at_radius
from streams.errors import ParameterError
from streams.lab.measures.prediction import accuracy, perplexity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.methods.pairs import Pairs

GRID = (0.001, 0.01, 0.1, 0.3, 0.5)  # Sakaguchi et al. (2014), 3.4


@dataclass(frozen=True, kw_only=True)
class TunedRadius:
    """The chosen radius, its result on the development data, and the model that predicts with it."""

    radius: float
    value: float
    fitted: Fitted


def with_radius(fitted: Fitted, radius: float) -> Fitted:
    """Return predictions from N(mu_a - mu_b, s_a + s_b), split at -radius and radius.

    >>> import numpy as np
    >>> flat = Fitted(outcomes=np.zeros((2, 2, 3)), scores=np.array([1.0, 0.0]), deviations=np.ones(2))
    >>> [round(p, 3) for p in with_radius(flat, 0.5).predict(0, 1)]
    [0.638, 0.217, 0.144]
    """
    if fitted.scores is None or fitted.deviations is None:
        raise ParameterError("a radius needs scores with deviations, and this model has none; choose another model")
    variance = fitted.deviations[:, None] ** 2 + fitted.deviations[None, :] ** 2
    return Fitted(
        outcomes=split_at_radius(score_gaps(fitted.scores), variance, radius),
        scores=fitted.scores,
        deviations=fitted.deviations,
        reliabilities=fitted.reliabilities,
    )


def tune_radius(
    fitted: Fitted,
    development: Pairs,
    *,
    measure: Literal["perplexity", "accuracy"] = "perplexity",
    grid: Sequence[float] = GRID,
) -> TunedRadius:
    """Return the radius of least perplexity or most accuracy on the development data, the first among equals.

    >>> import numpy as np
    >>> from streams.core.methods.pairs import Pairs
    >>> flat = Fitted(outcomes=np.zeros((2, 2, 3)), scores=np.zeros(2), deviations=np.ones(2))
    >>> tune_radius(flat, Pairs.parse(">=<<")).radius
    0.5
    """
    if not grid:
        raise ParameterError("the grid is empty; pass at least one radius")
    tried = []
    for radius in grid:
        carving = with_radius(fitted, radius)
        probabilities = carving.probabilities(development)
        reached = (perplexity if measure == "perplexity" else accuracy)(probabilities, development.outcome)
        tried.append(TunedRadius(radius=radius, value=reached, fitted=carving))
    sign = 1.0 if measure == "perplexity" else -1.0
    return min(tried, key=lambda one: sign * one.value)
