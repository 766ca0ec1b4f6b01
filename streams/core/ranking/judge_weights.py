"""Weights of judges on the settled board: who cannot tell systems apart, or votes against all others, counts less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.models.score_cells import sum_by
from streams.core.ranking.fit import PairOutcomes, fit_pairs

if TYPE_CHECKING:
    from streams.core.models.judge_outcomes import JudgeOutcomes
    from streams.core.ranking.ranges import Floats, Ints

ROUNDS = 4  # fits of the board, each with the weights of the one before
STEPS = 3  # Newton's, for the sensitivities in each round
PRIOR_JUDGES, PRIOR_VARIANCE = 10.0, 0.1  # the spread of sensitivities before any is known, and what it counts as


def find_sensitivities(answers: JudgeOutcomes, pairs: PairOutcomes) -> Floats:
    """Return the sensitivity s of each judge, by index: P(win) = Phi(s d - e) at the difference d of the board.

    A judge like the others has 1, one who answers at random 0, and one who votes against the others less than 0. The
    prior is N(1, v), and v is fitted to all judges. The board is fitted again with max(s, 0) as the weight of a judge.
    """
    judges = int(answers.judge.max(initial=-1)) + 1
    answered = np.bincount(answers.judge, minlength=judges) > 0  # others have no part in the spread
    place = _pair_places(answers, pairs)
    fit = fit_pairs(pairs)
    sensitivity: Floats = np.ones(judges)
    precision = 1.0 / PRIOR_VARIANCE
    for _ in range(ROUNDS):
        lead = fit.ability[answers.first] - fit.ability[answers.second]
        information: Floats = np.ones(judges)
        for _ in range(STEPS):
            slope, curvature = _moments(answers, sensitivity[answers.judge] * lead, fit.margin)
            information = precision + np.bincount(answers.judge, curvature * lead * lead, judges).astype(np.float64)
            pull = np.bincount(answers.judge, slope * lead, judges) - precision * (sensitivity - 1.0)
            sensitivity = (sensitivity + pull / information).astype(np.float64)
        # Sums over judges are in order of size, so that they do not depend on the order of the judges.
        spread = float(np.sort(((sensitivity - 1.0) ** 2 + 1.0 / information)[answered]).sum())
        precision = (np.count_nonzero(answered) + PRIOR_JUDGES) / (spread + PRIOR_JUDGES * PRIOR_VARIANCE)
        outcomes = _weighted(answers, sensitivity, place, len(pairs.first))
        fit = fit_pairs(
            PairOutcomes(
                first=pairs.first,
                second=pairs.second,
                outcomes=outcomes,
                size=pairs.size,
                precision=pairs.precision,
            )
        )
    return sensitivity


def weigh_outcomes(answers: JudgeOutcomes, pairs: PairOutcomes) -> Floats:
    """Return the mean weight of the judges behind each outcome of each pair, or 1 where there is none: (pairs, 3)."""
    if not len(answers.judge):
        return np.ones_like(pairs.outcomes)
    sensitivity = find_sensitivities(answers, pairs)
    weighted = _weighted(answers, sensitivity, _pair_places(answers, pairs), len(pairs.first))
    found: Floats = np.divide(weighted, pairs.outcomes, out=np.ones_like(weighted), where=pairs.outcomes > 0.0)
    return found


def _weighted(answers: JudgeOutcomes, sensitivity: Floats, place: Ints, pairs: int) -> Floats:
    """Return the outcomes of each pair, with the weights of the judges."""
    weighted = answers.outcomes * np.maximum(sensitivity, 0.0)[answers.judge][:, None]
    return np.stack([sum_by(place, weighted[:, outcome], pairs) for outcome in range(3)], axis=1)


def _pair_places(answers: JudgeOutcomes, pairs: PairOutcomes) -> Ints:
    """Return the place of each cell's pair. Pairs are in order of their systems."""
    found: Ints = np.searchsorted(pairs.first * pairs.size + pairs.second, answers.first * pairs.size + answers.second)
    return found


def _moments(answers: JudgeOutcomes, t: Floats, margin: float) -> tuple[Floats, Floats]:
    """Return the slope and the curvature of each cell's log-likelihood in t."""
    moments = np.empty((len(t), 3, 5))
    kernels.suited("settled", len(t) * ROUNDS * STEPS).cell_moments(t, margin, moments)
    return (answers.outcomes * moments[:, :, 0]).sum(axis=1), (answers.outcomes * moments[:, :, 2]).sum(axis=1)
