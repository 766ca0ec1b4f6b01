"""A ranking as one match, against the `trueskill` package's factor graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import trueskill
from scipy import special, stats

from streams.core import kernels
from streams.core.models import JudgmentBatch, create

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.models.base import Floats, Ints

    Match = tuple[Ints, Ints]

BETA, MARGIN = 1.118, 0.45


def normal_pdf(x: float) -> float:
    return float(np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))


# The package's own functions are good to seven digits; with these its factor graph is good to the last ones.
EXACT = (special.ndtr, normal_pdf, special.ndtri)
# Long doubles, so that densities far beyond 38 deviations do not underflow.
LONG = (
    lambda x: np.exp(np.longdouble(special.log_ndtr(float(x)))),
    lambda x: np.exp(-(np.longdouble(x) ** 2) / 2) / np.sqrt(2 * np.longdouble(np.pi)),
    special.ndtri,
)


def environment(
    backend: tuple[Callable[..., float], ...] | None, *, beta: float = BETA, margin: float = MARGIN
) -> trueskill.TrueSkill:
    draw = 2 * stats.norm.cdf(margin / (np.sqrt(2) * beta)) - 1
    return trueskill.TrueSkill(mu=0, sigma=1, beta=beta, tau=0, draw_probability=float(draw), backend=backend)


def package(
    mean: Floats, variance: Floats, matches: list[Match], table: trueskill.TrueSkill, *, delta: float
) -> tuple[Floats, Floats]:
    ratings = [table.create_rating(m, s) for m, s in zip(mean, np.sqrt(variance), strict=True)]
    for systems, ranks in matches:
        groups = table.rate([(ratings[i],) for i in systems], ranks=ranks.tolist(), min_delta=delta)
        for i, (rating,) in zip(systems, groups, strict=True):
            ratings[i] = rating
    return np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])


def random_matches(count: int, ways: int, systems: int, *, seed: int = 0) -> list[Match]:
    random = np.random.default_rng(seed)
    matches = []
    for _ in range(count):
        shown = random.choice(systems, ways, replace=False)
        seen = np.round(shown * 0.2 + random.normal(size=ways)).astype(np.int64)
        matches.append((shown, seen - seen.min() + 1))
    return matches


def as_batch(matches: list[Match]) -> JudgmentBatch:
    return JudgmentBatch(
        systems=np.concatenate([systems for systems, _ in matches]),
        ranks=np.concatenate([ranks for _, ranks in matches]),
        starts=np.cumsum([0, *(len(systems) for systems, _ in matches)]),
        judges=np.zeros(len(matches), np.int64),
        segments=np.zeros(len(matches), np.int64),
        scores=np.full(len(matches), np.nan),
    )


def rated(batches: list[JudgmentBatch], systems: int, *, ways: str = "free-for-all") -> tuple[Floats, Floats]:
    model = create("trueskill", {"ways": ways, "beta": BETA, "margin": MARGIN})
    model.grow(systems, 1, 1)
    for batch in batches:
        model.apply(batch)
    return model.scores()


def one_match(
    mean: Floats, variance: Floats, ranks: list[int], *, beta: float = BETA, margin: float = MARGIN
) -> tuple[Floats, Floats]:
    mean, variance, count = mean.copy(), variance.copy(), len(ranks)
    kernels.compiled("freeforall").rate_matches(
        mean,
        variance,
        np.array([[margin, np.inf]]),
        np.arange(count),
        np.array(ranks),
        np.array([0, count]),
        np.zeros(1, np.int64),
        beta,
    )
    return mean, variance


@pytest.mark.parametrize("ways", [2, 3, 4, 5, 8, 13, 20])
def test_a_chain_of_matches_with_ties_equals_the_trueskill_package(ways: int) -> None:
    matches = random_matches(30, ways, 22, seed=ways)
    assert any(len(set(ranks.tolist())) < ways for _, ranks in matches)
    mean, deviation = rated([as_batch(matches)], 22)
    for backend, delta, tolerance in ((None, 1e-4, 1e-6), (EXACT, 1e-12, 1e-10)):
        expected = package(np.zeros(22), np.ones(22), matches, environment(backend), delta=delta)
        np.testing.assert_allclose(mean, expected[0], atol=tolerance, rtol=0)
        np.testing.assert_allclose(deviation, expected[1], atol=tolerance, rtol=0)


@pytest.mark.parametrize(("beta", "margin"), [(0.1, 0.02), (0.5, 1.0), (8.0, 0.1)])
def test_other_noise_and_margins_equal_the_package_too(beta: float, margin: float) -> None:
    random = np.random.default_rng(1)
    for _ in range(10):
        mean, variance = random.normal(size=6), random.uniform(0.2, 2.0, size=6)
        ranks = random.integers(1, 5, size=6)
        match = (np.arange(6), ranks)
        table = environment(EXACT, beta=beta, margin=margin)
        expected = package(mean, variance, [match], table, delta=1e-12)
        after = one_match(mean, variance, ranks.tolist(), beta=beta, margin=margin)
        np.testing.assert_allclose(after[0], expected[0], atol=1e-6, rtol=0)
        np.testing.assert_allclose(np.sqrt(after[1]), expected[1], atol=1e-6, rtol=0)


def test_two_systems_are_rated_as_by_the_closed_form() -> None:
    batch = as_batch(random_matches(2000, 2, 9, seed=2))
    for one, other in zip(rated([batch], 9), rated([batch], 9, ways="pairs"), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12, rtol=0)


def test_without_ties_the_order_in_which_systems_are_listed_changes_no_bit() -> None:
    random = np.random.default_rng(4)
    matches = [(random.permutation(9), random.permutation(9) + 1) for _ in range(10)]
    turned = [(systems[::-1], ranks[::-1]) for systems, ranks in matches]
    for one, other in zip(rated([as_batch(matches)], 9), rated([as_batch(turned)], 9), strict=True):
        assert one.tolist() == other.tolist()


def test_two_tied_systems_may_be_listed_either_way() -> None:
    mean, variance = np.array([0.7, -0.4]), np.array([0.5, 1.5])
    for one, other in zip(
        one_match(mean, variance, [1, 1]), one_match(mean[::-1], variance[::-1], [1, 1]), strict=True
    ):
        np.testing.assert_allclose(one, other[::-1], atol=1e-12, rtol=0)


def test_how_a_log_is_split_into_batches_changes_no_bit() -> None:
    matches = random_matches(5, 12, 15, seed=5) + random_matches(20, 3, 15, seed=6)
    whole = rated([as_batch(matches)], 15)
    split = rated([as_batch(matches[k : k + 2]) for k in range(0, len(matches), 2)], 15)
    for one, other in zip(whole, split, strict=True):
        assert one.tolist() == other.tolist()


def test_compiled_and_plain_kernels_give_the_same_bits() -> None:
    batch = as_batch(random_matches(25, 7, 9, seed=7) + random_matches(25, 3, 9, seed=8))
    states = []
    for functions in (kernels.plain("freeforall"), kernels.compiled("freeforall")):
        mean, variance = np.zeros(9), np.ones(9)
        margins = np.array([[MARGIN, 20.0], [0.0, 0.0]])
        functions.rate_matches(mean, variance, margins, batch.systems, batch.ranks, batch.starts, batch.judges, BETA)
        states.append((mean.tolist(), variance.tolist(), margins.tolist()))
    assert states[0] == states[1]


@pytest.mark.parametrize("ranks", [[3, 2, 1], [2, 1, 1], [1, 1, 1]])
@pytest.mark.parametrize("gap", [100.0, 150.0])
def test_where_the_package_gives_up_the_result_is_that_of_longer_numbers(ranks: list[int], gap: float) -> None:
    mean, variance = np.array([gap, 0.0, -gap]), np.array([1.0, 0.5, 2.0])
    match = (np.arange(3), np.array(ranks))
    with pytest.raises((FloatingPointError, ValueError, ZeroDivisionError)):
        package(mean, variance, [match], environment(None), delta=1e-4)
    expected = package(mean, variance, [match], environment(LONG), delta=1e-10)
    after = one_match(mean, variance, ranks)
    np.testing.assert_allclose(after[0], expected[0].astype(float), atol=1e-4, rtol=0)
    np.testing.assert_allclose(np.sqrt(after[1]), expected[1].astype(float), atol=1e-6, rtol=0)


def test_no_match_leaves_the_numbers() -> None:
    random = np.random.default_rng(9)
    for _ in range(2000):
        count = int(random.integers(2, 21))
        mean = random.normal(size=count) * 10 ** random.uniform(-3, 6)
        variance = 10 ** random.uniform(-6, 6, size=count)
        ranks = random.integers(1, count + 1, size=count).tolist()
        margin = random.choice([0.0, 1e-9, 1e-3, 0.5, 1e3])
        after = one_match(mean, variance, ranks, beta=10 ** random.uniform(-3, 3), margin=margin)
        assert np.isfinite(after[0]).all()
        assert (after[1] > 0).all()
        assert (after[1] <= variance * (1 + 1e-12)).all()


def test_two_hundred_systems_may_meet_in_one_match() -> None:
    mean, variance = one_match(np.zeros(200), np.ones(200), list(range(1, 201)))
    assert (np.diff(mean) < 0).all()
    assert (variance < 1).all()
