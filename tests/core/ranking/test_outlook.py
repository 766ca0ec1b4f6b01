"""The stop rule: it stops when nothing more would come out, and the lines that it leaves are right."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from streams.core import kernels
from streams.core.models import MODELS, JudgmentBatch, Model, parameters_of
from streams.core.ranking.outlook import MOST, outlook
from streams.errors import ParameterError
from tests.core.matching.models import rated

BETA, MARGIN = 1.118, 0.45


def test_systems_far_apart_are_settled() -> None:
    found = outlook(rated([(0.0, 0.01), (2.0, 0.01), (1.0, 0.01)]), candidates=[0, 1, 2])
    assert (found.settled, found.boundary, found.judgments) == (True, None, 0)


def test_the_boundary_that_takes_least_is_next() -> None:
    found = outlook(rated([(0.0, 0.01), (0.2, 0.01), (0.21, 0.01), (1.0, 0.01)]), candidates=[0, 1, 2, 3])
    assert not found.settled
    assert found.boundary == (1, 0)
    assert found.judgments > 10


def test_a_wide_neighbour_but_one_can_hold_the_line_up() -> None:
    found = outlook(rated([(0.0, 0.001), (0.5, 0.001), (0.8, 0.3)]), candidates=[0, 1, 2])
    assert found.boundary in {(2, 0), (2, 1)}


def test_what_the_rest_of_the_budget_can_not_part_is_a_tie() -> None:
    model = rated([(0.0, 0.001), (0.01, 0.001), (2.0, 0.001)])
    open_end = outlook(model, candidates=[0, 1, 2])
    assert not open_end.settled
    enough = outlook(model, candidates=[0, 1, 2], remaining=open_end.judgments)
    short = outlook(model, candidates=[0, 1, 2], remaining=open_end.judgments - 1)
    assert (enough.settled, short.settled) == (False, True)
    assert short.boundary == (1, 0)


def test_equals_that_are_well_known_are_given_up_and_unknown_ones_are_not() -> None:
    known, unknown = rated([(0.0, 1e-4), (0.0, 1e-4)]), rated([(0.0, 1.0), (0.0, 1.0)])
    assert outlook(known, candidates=[0, 1], remaining=500).settled
    assert not outlook(unknown, candidates=[0, 1], remaining=500).settled
    assert not outlook(known, candidates=[0, 1]).settled


def test_one_system_or_none_is_settled() -> None:
    model = rated([(0.0, 1.0)] * 2)
    assert outlook(model, candidates=[1]).settled
    assert outlook(model, candidates=[]).settled


def test_a_withdrawn_system_holds_nothing_up() -> None:
    assert outlook(rated([(0.0, 0.01), (2.0, 0.01), (2.0, 0.01)]), candidates=[0, 1]).settled


@given(st.floats(0.02, 0.6), st.floats(0.001, 0.2), st.floats(0.001, 0.2), st.floats(0.6, 0.999))
def test_the_judgments_are_the_least_that_reach_the_confidence(gap: float, s: float, t: float, level: float) -> None:
    model = rated([(gap, s), (0.0, t)])
    found = outlook(model, candidates=[0, 1], confidence=level)
    gain = (2 ** model.information(0, 1) - 1) * (1 / s + 1 / t) / 2

    def sure(judgments: int) -> float:
        variance = 1 / (1 / s + judgments * gain) + 1 / (1 / t + judgments * gain)
        return float(stats.norm.cdf(np.sqrt((gap**2 + s + t) / variance)))

    assert found.settled == (stats.norm.cdf(gap / np.sqrt(s + t)) >= level)
    if not found.settled:
        assert sure(found.judgments) >= level - 1e-9
        assert found.judgments == 1 or sure(found.judgments - 1) < level + 1e-9


@pytest.mark.parametrize("confidence", [0.5, 1.0, 95.0])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(ParameterError, match=str(confidence)):
        outlook(rated([(0.0, 1.0)] * 2), candidates=[0, 1], confidence=confidence)


def held(seed: int, *, systems: int, spread: float, budget: int, confidence: float) -> tuple[bool, int]:
    """Judge a crowd's systems at random until settled; say whether every line drawn is right, and how many are."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=systems) * spread
    mean, variance = np.zeros(systems), np.ones(systems)
    rate_pair = kernels.compiled("pairs").rate_pair
    for used in range(0, budget + 1, 50):
        model = rated(list(zip(mean.tolist(), variance.tolist(), strict=True)))
        found = outlook(model, candidates=range(systems), confidence=confidence, remaining=budget - used)
        if found.settled:
            break
        for _ in range(50):
            a, b = random.choice(systems, 2, replace=False)
            seen = truth[a] - truth[b] + np.sqrt(2) * BETA * random.normal()
            rate_pair(mean, variance, a, b, -1 if seen > MARGIN else int(seen < -MARGIN), BETA, MARGIN)
    wanted = NormalDist().inv_cdf(1 - (1 - confidence) / (systems - 1))
    order = np.argsort(-mean)
    right, lines = True, 0
    for k in range(1, systems):
        above, below = order[:k], order[k:]
        apart = (mean[above][:, None] - mean[below]) / np.sqrt(variance[above][:, None] + variance[below])
        if apart.min() >= wanted:
            lines += 1
            right &= bool(truth[above].min() > truth[below].max())
    return right, lines


@pytest.mark.long
def test_the_lines_hold_with_the_confidence_when_it_stops() -> None:
    runs = [held(seed, systems=5, spread=0.7, budget=1000, confidence=0.95) for seed in range(120)]
    wrong = sum(not right for right, _ in runs)
    assert wrong <= stats.binom.ppf(0.999, len(runs), 0.05)
    assert np.mean([lines for _, lines in runs]) > 1


# -- every model, in every state ---------------------------------------------------------------------------


def learned(kind: type[Model], count: int, *, systems: int, ties_only: bool, baseline: bool) -> Model:
    """Return a model after judgments of its kind. With a baseline, every judgment contains it."""
    random = np.random.default_rng(count)
    model = kind(parameters_of(kind, {}))
    model.grow(systems, 3, 5)
    model.baseline = 0 if baseline else None
    scored = kind.kind == "scores"
    first = random.integers(1, systems, count) if baseline else random.integers(systems, size=count)
    second = np.zeros_like(first) if baseline else (first + 1) % systems
    shown = first[:, None] if scored else np.stack([first, second], axis=1)
    seen = np.zeros(shown.shape) if ties_only else np.round(shown + random.normal(size=shown.shape))
    ranks = np.ones_like(shown) if scored else 1 + (seen > seen.min(axis=1, keepdims=True))
    model.apply(
        JudgmentBatch(
            systems=shown.reshape(-1).astype(np.int64),
            ranks=ranks.reshape(-1).astype(np.int64),
            starts=np.arange(count + 1) * shown.shape[1],
            judges=random.integers(3, size=count),
            segments=random.integers(5, size=count),
            scores=50.0 - seen[:, 0] if scored else np.full(count, np.nan),
        )
    )
    return model


@pytest.mark.parametrize("ties_only", [False, True])
@pytest.mark.parametrize("count", [0, 1, 40, 4000])
@pytest.mark.parametrize(
    ("kind", "baseline"),
    [(kind, mode) for kind in MODELS.values() for mode in {False, kind.takes_baseline}],
)
def test_the_outlook_is_finite_for_every_model(kind: type[Model], baseline: bool, count: int, ties_only: bool) -> None:
    model = learned(kind, count, systems=4, ties_only=ties_only, baseline=baseline)
    for candidates in ([], [0], [3], [0, 3], [1, 2], [0, 1, 2, 3]):
        for remaining in (None, 0, 100):
            found = outlook(model, candidates=candidates, remaining=remaining)
            assert 0 <= found.judgments <= MOST
            assert found.settled or found.boundary is not None


def test_two_systems_without_any_doubt_are_apart_or_never_will_be() -> None:
    assert outlook(rated([(0.0, 0.0), (1.0, 0.0)]), candidates=[0, 1]).settled
    equal = outlook(rated([(0.0, 0.0), (0.0, 0.0)]), candidates=[0, 1])
    assert (equal.settled, equal.judgments) == (False, MOST)
    assert outlook(rated([(0.0, 0.0), (0.0, 0.0)]), candidates=[0, 1], remaining=10**6).settled


def test_with_a_baseline_the_judgments_of_each_system_against_it_are_counted() -> None:
    model = learned(MODELS["grm"], 20, systems=4, ties_only=False, baseline=True)
    mean, deviation = model.scores()
    level = 0.9999
    for a, b in ((1, 2), (0, 3)):
        found = outlook(model, candidates=[a, b], confidence=level)
        assert not found.settled
        s, t = deviation[a] ** 2, deviation[b] ** 2
        gain_a, gain_b = (0.0 if i == 0 else (4 ** model.information(i, 0) - 1) / deviation[i] ** 2 for i in (a, b))
        if a != 0:
            gain_a, gain_b = gain_a / 2, gain_b / 2

        def sure(judgments: int, s: float = s, t: float = t, gains: tuple[float, float] = (gain_a, gain_b)) -> float:
            left = (v / (1 + judgments * gain * v) for v, gain in zip((s, t), gains, strict=True))
            return float(stats.norm.cdf(np.sqrt(((mean[a] - mean[b]) ** 2 + s + t) / sum(left))))  # noqa: B023

        assert sure(found.judgments) >= level - 1e-9
        assert found.judgments == 1 or sure(found.judgments - 1) < level + 1e-9
