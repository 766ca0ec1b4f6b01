"""The expected gain of a judgment, against the joint Gaussian of abilities and pair effects."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from streams.core import kernels
from streams.core.kernels import lookahead as at
from streams.core.matching import Meetings, lookahead
from streams.core.matching.lookahead import expected_gains
from tests.core.matching.counts import meetings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.matching.base import Floats

C = 2**0.5 * lookahead.BETA
ABILITIES = [0.0, 0.25, 0.3, 0.9, -0.4]


def fitted(meetings: Meetings, steps: int = lookahead.STEPS) -> tuple[Floats, Floats, Floats]:
    """Return the fitted variances and margin, the layers and the vectors of a fit."""
    size = len(meetings.wins)
    found, room, vectors = np.array(at.FIRST_FIT), np.zeros((at.LAYERS, size, size)), np.zeros((at.VECTORS, size))
    none = np.zeros((size, size), np.int64)
    kernels.plain("lookahead").fit(meetings.wins, meetings.ties, none, C, steps, found, room, vectors)
    return found, room, vectors


def probabilities(eta: float, margin: float) -> Floats:
    win, loss = stats.norm.cdf(eta / C - margin), stats.norm.cdf(-eta / C - margin)
    return np.array([win, 1.0 - win - loss, loss])


def information(eta: float, margin: float) -> float:
    """Return the Fisher information of one judgment, by numeric derivatives."""
    step = 1e-5
    slopes = (probabilities(eta + step, margin) - probabilities(eta - step, margin)) / (2 * step)
    return float((slopes**2 / probabilities(eta, margin)).sum())


def brute_force(meetings: Meetings, candidates: list[int]) -> Floats:
    """Return the fall of the expected errors of the order by each judgment, from the whole joint distribution.

    A judgment moves each gap of scores by N(0, r) and reduces its variance by r. The errors are integrated over the
    move, for a small part of r, because the gain is the slope at r = 0.
    """
    (pair, spread, margin, *_), room, vectors = fitted(meetings)
    size, pairs = len(meetings.wins), list(combinations(range(len(meetings.wins)), 2))
    theta, effects = vectors[at.ABILITY], [room[at.EFFECT, a, b] for a, b in pairs]
    directions = np.zeros((len(pairs), size + len(pairs)))
    for k, (a, b) in enumerate(pairs):
        directions[k, [a, b, size + k]] = 1.0, -1.0, 1.0
    state = np.concatenate([theta, effects])
    precision = np.diag([1.0 / room_spread for room_spread in [spread] * size + [pair] * len(pairs)])
    for k, (a, b) in enumerate(pairs):
        precision += room[at.INFORMATION, a, b] * np.outer(directions[k], directions[k])
    covariance = np.linalg.inv(precision)

    def scores(at_state: Floats) -> Floats:
        total = np.zeros(size)
        for k, (a, b) in enumerate(pairs):
            if {a, b} <= set(candidates):
                win, _, loss = probabilities(float(directions[k] @ at_state), margin)
                total[a] += win / (win + loss) / (len(candidates) - 1)
                total[b] += loss / (win + loss) / (len(candidates) - 1)
        return total

    slopes = np.array([(scores(state + h) - scores(state - h)) / 2e-5 for h in 1e-5 * np.eye(len(state))]).T
    score, spreads = scores(state), slopes @ covariance @ slopes.T
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    part = 1e-4
    gains = np.zeros((size, size))
    for k, (a, b) in enumerate(pairs):
        eta = float(directions[k] @ state)
        moves = slopes @ covariance @ directions[k]
        moves = moves / np.sqrt(directions[k] @ covariance @ directions[k] + 1.0 / information(eta, margin))
        for i, j in combinations(candidates, 2):
            variance, gap = spreads[i, i] + spreads[j, j] - 2.0 * spreads[i, j], score[i] - score[j]
            fall = part * (moves[i] - moves[j]) ** 2
            p = stats.norm.cdf((gap + np.sqrt(fall) * nodes) / np.sqrt(variance - fall))
            before = stats.norm.cdf(gap / np.sqrt(variance))
            expected = (p * (1.0 - p)) @ weights / weights.sum()
            gains[a, b] += (before * (1.0 - before) - expected) / part
        gains[b, a] = gains[a, b]
    return 2.0 * np.pi * gains[np.ix_(candidates, candidates)]


def gains_of(meetings: Meetings, candidates: Sequence[int] = range(5)) -> Floats:
    """Return the gains of some systems, if nothing is asked for yet."""
    is_candidate = np.isin(np.arange(len(meetings.wins)), candidates)
    gains = expected_gains(meetings, is_candidate, np.zeros_like(meetings.wins))
    assert not gains[~is_candidate].any()
    return gains[np.ix_(candidates, candidates)]


@pytest.mark.parametrize(("times", "candidates"), [(3, [0, 1, 2, 3, 4]), (40, [0, 1, 2, 3, 4]), (40, [0, 2, 3])])
def test_the_gain_is_that_of_the_joint_distribution(
    times: int, candidates: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "suited", lambda name, _: kernels.plain(name))
    meetings = meetings_of(ABILITIES, times=times, seed=1)
    # The information in the fit is from before its last step: a fit that has ended is needed to compare.
    monkeypatch.setattr(at, "NEAR", 1e-9)
    monkeypatch.setattr(lookahead, "STEPS", 400)
    gains = gains_of(meetings, candidates)
    (pair, *_), _, _ = fitted(meetings, 400)
    assert pair > at.LEAST_PAIR
    np.testing.assert_allclose(gains, brute_force(meetings, candidates), rtol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_relabelling_the_systems_relabels_the_gains(seed: int) -> None:
    meetings = meetings_of(ABILITIES, times=6, seed=seed)
    order = np.random.default_rng(seed).permutation(5)
    relabelled = type(meetings)(*(counts[np.ix_(order, order)] for counts in meetings))
    gains, others = gains_of(meetings), gains_of(relabelled)
    np.testing.assert_allclose(others, gains[np.ix_(order, order)], rtol=1e-9)


def test_with_many_systems_the_gains_are_the_same_by_lapack(monkeypatch: pytest.MonkeyPatch) -> None:
    meetings = meetings_of(ABILITIES, times=8, seed=2)
    by_loops = gains_of(meetings, range(4))
    monkeypatch.setattr(lookahead, "LARGE", 0)
    np.testing.assert_allclose(gains_of(meetings, range(4)), by_loops, rtol=1e-8)


@pytest.mark.parametrize(("times", "seed"), [(0, 0), (1, 1), (9, 2), (400, 3)])
def test_plain_and_compiled_kernels_give_the_same_bits(times: int, seed: int) -> None:
    meetings = meetings_of(ABILITIES, times=times, seed=seed)
    asked = np.ones((5, 5), np.int64)
    found = []
    for kernel in (kernels.plain("lookahead"), kernels.compiled("lookahead")):
        values, room, vectors = np.array(at.FIRST_FIT), np.zeros((at.LAYERS, 5, 5)), np.zeros((at.VECTORS, 5))
        candidates = np.array([True, True, False, True, True])
        kernel.fit_and_look_ahead(meetings.wins, meetings.ties, asked, candidates, C, 30, values, room, vectors)
        found.append((values.tobytes(), room.tobytes(), vectors.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("sweep", [1, 50, 100_000])
def test_a_system_that_always_wins_leaves_the_gains_finite(sweep: int) -> None:
    wins, ties = np.zeros((2, 4, 4), np.int64)
    wins[0, 1:] = sweep
    wins[1, 2:] = sweep
    gains = gains_of(Meetings(wins, ties), range(4))
    assert np.isfinite(gains).all()
    assert (gains[np.triu_indices(4, 1)] >= 0.0).all()


def test_the_fit_finds_spread_margin_and_pair_effects() -> None:
    """Pairs with effects of deviation 0.5 and ties within 0.35: the variances are found within their error."""
    random = np.random.default_rng(4)
    size, times = 30, 400
    abilities = random.normal(0.0, 0.8, size)
    wins, ties = np.zeros((2, size, size), np.int64)
    for a, b in combinations(range(size), 2):
        chances = probabilities(abilities[a] - abilities[b] + random.normal(0.0, 0.5), 0.35)
        wins[a, b], ties[a, b], wins[b, a] = random.multinomial(times, chances)
        ties[b, a] = ties[a, b]
    found, room, vectors = np.array(at.FIRST_FIT), np.zeros((at.LAYERS, size, size)), np.zeros((at.VECTORS, size))
    none = np.zeros((size, size), np.int64)
    every = np.ones(size, np.bool_)
    kernels.compiled("lookahead").fit_and_look_ahead(wins, ties, none, every, C, 30, found, room, vectors)
    assert found[at.PAIR] == pytest.approx(0.25, rel=0.2)
    assert found[at.SPREAD] == pytest.approx(abilities.var(), rel=0.2)
    assert found[at.MARGIN] == pytest.approx(0.35, abs=0.02)
    assert np.corrcoef(vectors[at.ABILITY], abilities)[0, 1] > 0.98
