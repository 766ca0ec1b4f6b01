"""Hopkins and May's Gaussian model with the sampler of Sakaguchi et al.: qualities are moved to fit the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Fitted, Positive
from streams.core.methods.hopkins_may import Radius, Sampled
from streams.core.methods.pairs import TIE, WIN
from streams.core.methods.tie_radius import score_gaps, split_at_radius
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

Noise = Annotated[float, Meta(ge=0, le=1e6)]


class HopkinsMayShift(Sampled, frozen=True):
    """q_a ~ N(mu_a, item_deviation²) and q_b likewise per comparison, shifted to fit the outcome; mu_i = mean of its q.

    If a won, but q_a - q_b is below the radius, both move by half of what is missing, towards opposite sides. If they
    tied, but are further apart than the radius, both move until they are not. The scores are the means over the sweeps
    after `burn_in`. There is no prior, and the two outputs of a comparison are drawn anew each time, so a segment that
    several judges saw counts as several. Predictions split N(mu_a - mu_b, 2 item_deviation²) at the radius.
    Sakaguchi, Post and Van Durme (2014), 2.2 and 3.4. Their equations draw q without the noise of the judge; their
    published program adds it, which is `noise` = 1.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = HopkinsMayShift().fit(Pairs.parse(">>>="))
    >>> bool(fitted.scores[0] > fitted.scores[1])
    True
    """

    item_deviation: Annotated[Positive, Meta(description="Deviation of the outputs of one system.")] = 0.5
    noise: Annotated[Noise, Meta(description="Deviation that a judge adds to an output.")] = 0.0
    radius: Annotated[Radius, Meta(description="Difference of two outputs within which a judge ties.")] = 0.5

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Like hopkins-may, without a prior, and with outputs that are moved to fit the outcome.",
        cost="all pairs in memory; about 2 s per 100,000 pairs",
        choose="To compare with Sakaguchi et al., who fit the model this way.",
        reference="Sakaguchi et al. 2014",
    )
    ranges: ClassVar[tuple[str, ...]] = ("bootstrap",)  # the deviations are those of the sampler, not of a posterior

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "hopkins-may-shift"

    def fit(self, training: Pairs) -> Fitted:
        """Draw and shift qualities, and average them by system, once per sweep."""
        size, count = len(training.systems), len(training)
        systems = np.concatenate([training.a, training.b])
        seen = np.bincount(systems, minlength=size)
        random = np.random.default_rng(self.seed)
        variance = self.item_deviation**2 + self.noise**2
        mean, kept = np.zeros(size), np.zeros((self.sweeps, size))
        for sweep in range(self.sweeps):
            first, second = np.split(mean[systems] + variance**0.5 * random.standard_normal(2 * count), 2)
            move = shift(first - second, training.outcome, self.radius)
            total = np.bincount(systems, np.concatenate([first + move, second - move]), minlength=size)
            mean = np.divide(total, seen, out=np.zeros(size), where=seen > 0)
            if count:
                mean[seen > 0] -= mean[seen > 0].mean()  # only differences count; the common mean is a random walk
            kept[sweep] = mean
        kept = kept[self.burn_in :]
        scores = kept.mean(axis=0)
        return Fitted(
            outcomes=split_at_radius(score_gaps(scores), 2.0 * variance, self.radius),
            scores=scores,
            deviations=kept.std(axis=0),
        )


def shift(gap: Floats, outcome: Ints, radius: float) -> Floats:
    """Return how far the first quality moves up, and the second one down, so that their gap fits the outcome.

    >>> shift(np.array([0.1, 0.9, 0.1, 0.9, -0.9]), np.array([0, 0, 2, 1, 1]), 0.5).round(3).tolist()
    [0.2, 0.0, -0.3, -0.2, 0.2]
    """
    fitting = np.where(
        outcome == TIE,
        np.clip(gap, -radius, radius),
        np.where(outcome == WIN, np.maximum(gap, radius), np.minimum(gap, -radius)),
    )
    move: Floats = 0.5 * (fitting - gap)
    return move
