"""Hopkins and May's item response models: systems produce items, and judges observe them with noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core import kernels
from streams.core.methods.base import Fitted, Method, Positive, Whole
from streams.core.methods.tie_radius import score_gaps, split_at_radius
from streams.core.models.card import ModelCard
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

Radius = Annotated[float, Meta(gt=0, le=1e6)]
Seed = Annotated[int, Meta(ge=0)]


class Sampled(Method, frozen=True):
    """The options of a Gibbs sampler: sweeps in all, sweeps discarded at the start, and the seed."""

    sweeps: Annotated[Whole, Meta(description="Sweeps of the Gibbs sampler, in all.")] = 200
    burn_in: Annotated[int, Meta(ge=0, description="Sweeps that are discarded at the start.")] = 50
    seed: Annotated[Seed, Meta(description="Seed of the random number generator.")] = 0

    ranges: ClassVar[tuple[str, ...]] = ("closed", "posterior", "bootstrap")
    runs: ClassVar[int] = 20

    def __post_init__(self) -> None:
        if self.burn_in >= self.sweeps:
            raise ParameterError(f"burn_in: {self.burn_in} leaves none of {self.sweeps} sweeps; use a smaller value")


class HopkinsMayGaussian(Sampled, frozen=True):
    """mu_i ~ N(0, spread²), quality ~ N(mu_i, item_deviation²), observed ~ N(quality, noise²), by Gibbs sampling.

    a wins if its observed quality exceeds b's by more than the radius; within the radius they tie. An item is a
    system's output on a segment, and all its judges observe the same quality. A prediction is for new items, averaged
    over the sweeps: N(mu_a - mu_b, 2 (item_deviation² + noise²)) split at the radius. Hopkins and May (2013), 7, with
    their defaults.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = HopkinsMayGaussian().fit(Pairs.parse(">>>="))
    >>> bool(fitted.scores[0] > fitted.scores[1])
    True
    """

    spread: Annotated[Positive, Meta(description="Deviation of the prior of a system.")] = 1.0
    item_deviation: Annotated[Positive, Meta(description="Deviation of the outputs of one system.")] = 0.5
    noise: Annotated[
        Positive, Meta(description="Deviation of what a judge observes from the quality of an output.")
    ] = 1.0
    radius: Annotated[Radius, Meta(description="Difference of two observations within which a judge ties.")] = 0.4

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Systems create outputs of normally distributed quality, and judges observe them with noise.",
        cost="all pairs in memory, and a value per output; about 5 s per 100,000 pairs",
        choose="To predict judgments as the paper does, or if the same outputs are judged many times.",
        reference="Hopkins and May 2013",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "hopkins-may"

    def fit(self, training: Pairs) -> Fitted:
        """Draw from the posterior by Gibbs sampling."""
        sample = kernels.compiled("gibbs_gaussian").sample

        author, first, second = items(training)
        size = len(training.systems)
        means = np.zeros((self.sweeps, size))
        seen = np.bincount(np.concatenate([first, second]), minlength=len(author)).astype(np.float64)
        sample(
            means,
            author,
            first,
            second,
            training.outcome,
            self.spread,
            self.item_deviation,
            self.noise,
            self.radius,
            np.zeros(len(author)),
            np.zeros(len(author)),
            seen,
            np.zeros((size, 2)),
            np.random.default_rng(self.seed),
        )
        kept = means[self.burn_in :]
        outcomes = np.zeros((size, size, 3))
        for sweep in kept:
            outcomes += split_at_radius(score_gaps(sweep), 2.0 * (self.item_deviation**2 + self.noise**2), self.radius)
        return Fitted(outcomes=_balanced(outcomes / len(kept)), scores=kept.mean(axis=0), deviations=kept.std(axis=0))


class HopkinsMayCategorical(Sampled, frozen=True):
    """ability_i ~ Dirichlet(strength), quality ~ ability_i on levels 1 to L, observed with a discrete normal noise.

    P(observed | quality) is proportional to N(observed - quality; 0, noise²) on the levels. a wins if its observed
    level is above b's; equal levels tie. The score is the expected level. Hopkins and May (2013), 7, by Gibbs sampling
    with abilities and observations summed out, with their defaults.

    >>> HopkinsMayCategorical().likelihood()[:, 0, 0].round(3).tolist()  # for two items of the lowest level
    [0.275, 0.451, 0.275]
    """

    levels: Annotated[int, Meta(ge=2, le=64, description="Number of quality levels.")] = 8
    strength: Annotated[Positive, Meta(description="Strength of the Dirichlet prior of each level.")] = 0.5
    noise: Annotated[Positive, Meta(description="Deviation of the observed level from the true one.")] = 1.0

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Like hopkins-may, but qualities are a few levels, with any distribution per system.",
        cost="all pairs in memory, and a value per output; about 5 s per 100,000 pairs",
        choose="If qualities are far from normal. In the paper it predicts slightly worse than hopkins-may.",
        reference="Hopkins and May 2013",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "hopkins-may-categorical"

    def likelihood(self) -> Floats:
        """Return P(outcome | level of a's item, level of b's item)."""
        level = np.arange(self.levels)
        observed = np.exp(-0.5 * ((level[None, :] - level[:, None]) / self.noise) ** 2)
        observed /= observed.sum(axis=1, keepdims=True)
        order = np.sign(level[None, :] - level[:, None]) + 1  # 0 if the first is above
        return np.stack([observed @ (order == outcome) @ observed.T for outcome in range(3)])

    def fit(self, training: Pairs) -> Fitted:
        """Draw from the posterior by Gibbs sampling."""
        sample = kernels.compiled("gibbs_categorical").sample

        author, first, second = items(training)
        size, levels = len(training.systems), self.levels
        owner, rivals = np.concatenate([first, second]), np.concatenate([second, first])
        order = np.argsort(owner, kind="stable")
        starts = np.searchsorted(owner[order], np.arange(len(author) + 1))
        held = np.zeros((self.sweeps, size, levels))
        likelihood = self.likelihood()
        random = np.random.default_rng(self.seed)
        sample(
            held,
            author,
            starts,
            rivals[order],
            np.concatenate([training.outcome, 2 - training.outcome])[order],
            likelihood,
            self.strength,
            random.integers(levels, size=len(author)),
            np.zeros(levels),
            random,
        )
        ability = held[self.burn_in :] + self.strength
        ability /= ability.sum(axis=-1, keepdims=True)
        outcomes = np.einsum("tak,okl,tbl->abo", ability, likelihood, ability, optimize=True) / len(ability)
        scores = ability @ np.arange(1.0, levels + 1.0)
        return Fitted(outcomes=_balanced(outcomes), scores=scores.mean(axis=0), deviations=scores.std(axis=0))


def items(training: Pairs) -> tuple[Ints, Ints, Ints]:
    """Return the system of each item (a system's output on a segment), and the two items of each pair.

    >>> from streams.core.methods.pairs import Pairs
    >>> [part.tolist() for part in items(Pairs.parse(">="))]
    [[0, 1], [0, 0], [1, 1]]
    """
    both = np.concatenate([training.a, training.b]), np.concatenate([training.segment, training.segment])
    keys, place = np.unique(both[0] * max(1, len(training.segments)) + both[1], return_inverse=True)
    first, second = np.split(place, 2)
    return keys // max(1, len(training.segments)), first, second


def _balanced(outcomes: Floats) -> Floats:
    """Remove rounding errors of sums over sweeps, so that a against b exactly mirrors b against a."""
    outcomes = 0.5 * (outcomes + outcomes.transpose(1, 0, 2)[..., ::-1])
    balanced: Floats = outcomes / outcomes.sum(axis=-1, keepdims=True)
    return balanced
