"""Monte Carlo playoffs: many random tournaments, each match decided by one draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from streams.core.methods.base import Whole, decided, logistic
from streams.core.methods.counted import CountMethod
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from typing import Self

    from streams.core.models.base import Floats, Ints


class Playoffs(CountMethod, frozen=True):
    """score_i = the expected share of the other systems that i leaves behind in a playoff.

    Hopkins and May (2013) name Monte Carlo Playoffs among the rankings of WMT12 (Callison-Burch et al. 2012), without
    the rules. The rules here are ours. The systems are paired at random, and each pair plays one match: i beats j with
    probability win(i, j) / (win(i, j) + win(j, i)), or 1/2 if nothing was decided between them. Winners play on for the
    upper half of the places and losers for the lower half, by the same rule, until every system has its place. If a
    group is odd, one system drawn at random goes up without a match. A mean place p among n systems is the score
    (n - p) / (n - 1).

    >>> from streams.core.methods.pairs import Pairs
    >>> Playoffs().fit(Pairs.parse(">>>=<")).scores.round(1).tolist()
    [0.8, 0.2]
    """

    playoffs: Annotated[Whole, Meta(description="Number of playoffs. More give smaller random errors.")] = 10_000
    seed: Annotated[int, Meta(ge=0, description="Seed of the random number generator.")] = 0

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="A place in a knockout tournament, with one judgment per match, is what counts. Ties are ignored.",
        cost="pair counts; 10,000 playoffs take about 0.02 s for 13 systems",
        choose="If the result must be easy to explain as a tournament. The rules are not those of WMT12 in detail.",
        reference="Callison-Burch et al. 2012",
    )
    runs: ClassVar[int] = 100

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "playoffs"

    def score(self, wins: Ints, ties: Ints) -> Floats:  # noqa: ARG002 - a match has a winner
        """Play, and return the share of systems left behind, averaged over the playoffs."""
        return self._score(wins, np.random.default_rng(self.seed))

    def score_tables(self, wins: Ints, ties: Ints) -> Floats:  # noqa: ARG002
        """Return the scores from many tables, each with its own draws. Equal draws would make chance look certain."""
        draws = np.random.default_rng(self.seed).spawn(len(wins))
        return np.array([self._score(*table) for table in zip(wins, draws, strict=True)]).reshape(wins.shape[:2])

    def reseeded(self, number: int) -> Self:
        """Return the playoffs with the draws of the bootstrap samples from this number on."""
        return replace(self, seed=self.seed + number)

    def _score(self, wins: Ints, random: np.random.Generator) -> Floats:
        count, met = len(wins), wins + wins.T
        if count < 2:
            return np.full(count, 0.5)
        share = np.divide(wins, met, out=np.full(met.shape, 0.5), where=met > 0)
        score: Floats = (count - play(share, self.playoffs, random).mean(axis=0)) / (count - 1)
        return score

    def predict_all(self, scores: Floats, wins: Ints, ties: Ints, tie: float) -> Floats:  # noqa: ARG002
        """Predict by the odds of the scores, kept away from 0 and 1. The paper does not predict."""
        log_odds = np.log(scores + 0.01) - np.log(1.01 - scores)
        return decided(logistic(log_odds[:, None] - log_odds[None, :]), tie)


def play(share: Floats, playoffs: int, random: np.random.Generator) -> Ints:
    """Return the place of each system in each playoff, 1 is best, where share[i, j] is the probability i beats j.

    >>> play(np.array([[0.5, 1.0], [0.0, 0.5]]), 2, np.random.default_rng(1)).tolist()
    [[1, 2], [1, 2]]
    """
    places = np.empty((playoffs, len(share)), np.int64)
    groups = [(1, np.tile(np.arange(len(share)), (playoffs, 1)))]
    while groups:
        best, group = groups.pop()
        size = group.shape[1]
        if size == 1:
            np.put_along_axis(places, group, best, axis=1)
            continue
        shuffled = random.permuted(group, axis=1)
        first, second = shuffled[:, 0 : size - 1 : 2], shuffled[:, 1:size:2]
        won = random.random(first.shape) < share[first, second]
        upper = np.concatenate([np.where(won, first, second), shuffled[:, size - size % 2 :]], axis=1)
        groups += [(best, upper), (best + upper.shape[1], np.where(won, second, first))]
    return places
