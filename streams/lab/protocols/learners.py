"""The learners of the papers' experiments: a model, and how it gets its judgments from a pool."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.methods import Fitted
from streams.core.methods.online import Online
from streams.core.methods.registry import METHODS, create_method
from streams.core.methods.wmt import COMPARISONS_PER_BETA, DEVIATION, MEAN, TIE
from streams.errors import ParameterError, suggestion
from streams.lab.protocols.drawing import draw_pairs
from streams.lab.protocols.radius import with_radius

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs

SELECTS = "trueskill-selects"
WMT = "trueskill-wmt"
PRINTED = "trueskill-selects-printed"
LEARNERS = (*METHODS, WMT, SELECTS, PRINTED)
# The values of Sakaguchi et al. (2014), 3.4, where they differ from Hopkins and May.
RADIUS, ITEM_DEVIATION = 0.5, 0.5
PRINTED_MARGIN = 0.25
SHARES = ("origwmt", "bojar", "expected-wins")


def check_learners(names: tuple[str, ...]) -> None:
    """Raise ParameterError if a name is not a learner."""
    for name in names:
        if name not in LEARNERS:
            raise ParameterError(f"no model {name!r}; {suggestion(name, LEARNERS)}")


def learn(name: str, pool: Pairs, size: int, random: np.random.Generator) -> Fitted:
    """Learn from `size` judgments of a pool: drawn at random, or chosen by `trueskill-selects`.

    `trueskill-wmt` is TrueSkill with the official parameters on a random draw. Compare the two to see the value of the
    choice. `trueskill-selects-printed` chooses too, with beta and margin as the paper prints them.

    Results have deviations if Sakaguchi et al. (2014), 3.2, split normals for the model: each system's own for
    TrueSkill, the fixed one of items for Hopkins and May, 0 for a share of wins. All others predict by their own
    probabilities.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = learn("trueskill-selects", Pairs.parse(">>>="), 40, np.random.default_rng(1))
    >>> bool(fitted.scores[0] > fitted.scores[1])
    True
    """
    if name in (SELECTS, PRINTED):
        return learn_by_selection(pool, size, random, printed=name == PRINTED)
    training = draw_pairs(pool, size, random)
    return fit(name, training, random)


def fit(name: str, training: Pairs, random: np.random.Generator) -> Fitted:
    """Fit a model to judgments. A sampler gets its seed from `random`."""
    if name == WMT:
        return Online(model="trueskill", parameters={"profile": "wmt"}, budget=max(1, len(training))).fit(training)
    if name == "hopkins-may":
        seed = int(random.integers(2**32))
        fitted = create_method(name, {"radius": RADIUS, "item_deviation": ITEM_DEVIATION, "seed": seed}).fit(training)
        return _with_deviation(fitted, ITEM_DEVIATION)
    if name == "hopkins-may-shift":
        return _with_deviation(create_method(name, {"seed": int(random.integers(2**32))}).fit(training), ITEM_DEVIATION)
    if name == "hopkins-may-categorical":
        return _with_deviation(create_method(name, {"seed": int(random.integers(2**32))}).fit(training), None)
    fitted = create_method(name).fit(training)
    return _with_deviation(fitted, 0.0 if name in SHARES else None)


def printed_settings(size: int) -> tuple[float, float]:
    """Return beta and the margin for `size` matches as Sakaguchi et al. (2014) print them, in 2.3 and 3.4.

    The program that the authors published has the deviation in place of its square, and 0.25 as the probability of a
    draw. The official rankings come from that program, so the profile `wmt` follows it.

    >>> printed_settings(400)
    (2.5, 0.25)
    """
    return DEVIATION**2 * size / COMPARISONS_PER_BETA, PRINTED_MARGIN


def learn_by_selection(pool: Pairs, size: int, random: np.random.Generator, *, printed: bool = False) -> Fitted:
    """Learn with matches that TrueSkill chooses. Each outcome is a random one of the pair in the pool."""
    wins, ties = pool.counts()
    count = len(pool.systems)
    mean, variance = np.full(count, MEAN), np.full(count, DEVIATION**2)
    beta = DEVIATION * size / COMPARISONS_PER_BETA
    margin = TIE * sqrt(2.0) * beta
    if printed:
        beta, margin = printed_settings(size)
    kernels.compiled("wmt").play_matches(
        mean[None],
        variance[None],
        wins[None],
        (wins + wins.T + ties)[None],
        size,
        beta,
        margin,
        random.integers(2**32, size=(1, 4)),
        np.empty((1, count)),
        np.empty((1, count, count + 1), np.int64),
    )
    plain = Fitted(outcomes=np.full((count, count, 3), 1.0 / 3.0), scores=mean, deviations=np.sqrt(variance))
    return with_radius(plain, RADIUS)


def _with_deviation(fitted: Fitted, deviation: float | None) -> Fitted:
    deviations = np.full(len(fitted.outcomes), deviation) if deviation is not None else None
    return Fitted(
        outcomes=fitted.outcomes,
        scores=fitted.scores,
        deviations=deviations,
        reliabilities=fitted.reliabilities,
    )
