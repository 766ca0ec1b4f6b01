"""TrueSkill with judges against numerical integration of the mixture, and on a real log with careless judges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from streams import formats
from streams.core.kernels import mixture
from streams.core.models.base import JudgmentBatch, parameters_of
from streams.core.models.reliable import ReliableParameters, ReliableTrueSkill
from streams.core.models.trueskill import TrueSkill, TrueSkillParameters
from streams.errors import ParameterError
from tests.data import real_log

BETA, MARGIN = 1.118, 0.45


def rankings(rows: list[tuple[int, int, int, int]]) -> JudgmentBatch:
    """Give rows of (a, b, order, judge) as a batch; order is below 0 if a is better."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    return JudgmentBatch(
        systems=table[:, :2].reshape(-1),
        ranks=np.stack([2 + np.sign(table[:, 2]), np.full(len(table), 2)], axis=1).reshape(-1),
        starts=np.arange(0, 2 * len(table) + 1, 2),
        judges=table[:, 3].copy(),
        segments=np.zeros(len(table), np.int64),
        scores=np.full(len(table), np.nan),
    )


def crowd(count: int, *, careless: int, judges: int = 20, systems: int = 6, seed: int = 0) -> JudgmentBatch:
    """Draw outcomes of systems whose quality falls with their number; the first judges do not look."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        a, b = random.choice(systems, 2, replace=False).tolist()
        judge = int(random.integers(judges))
        seen = (a - b) * 0.6 + random.normal() * BETA * np.sqrt(2)
        order = 0 if abs(seen) < MARGIN else int(np.sign(seen))
        rows.append((a, b, int(random.integers(-1, 2)) if judge < careless else order, judge))
    return rankings(rows)


def mass(difference: float, order: int) -> float:
    """Give the probability of the outcome, the difference of the two systems being known."""
    noise = np.sqrt(2) * BETA
    if order == 0:
        return float(special.ndtr((MARGIN - difference) / noise) - special.ndtr((-MARGIN - difference) / noise))
    return float(special.ndtr((-order * difference - MARGIN) / noise))


@pytest.mark.parametrize(
    ("means", "variances", "order", "prior"),
    [
        ((0.0, 0.0), (1.0, 1.0), -1, (4.0, 1.0)),
        ((0.4, -0.2), (0.3, 0.8), 1, (4.0, 1.0)),
        ((0.4, -0.2), (0.3, 0.8), 0, (2.0, 2.0)),
        ((-0.7, 0.5), (0.5, 0.2), 0, (9.0, 0.5)),
    ],
)
def test_an_update_has_the_moments_of_the_exact_posterior(
    means: tuple[float, float], variances: tuple[float, float], order: int, prior: tuple[float, float]
) -> None:
    r = prior[0] / sum(prior)
    gap, spread = means[0] - means[1], sum(variances)

    def density(d: float) -> float:
        return float(np.exp(-((d - gap) ** 2) / (2 * spread)) / np.sqrt(2 * np.pi * spread))

    def moment(power: int) -> float:
        return float(
            integrate.quad(
                lambda d: d**power * density(d) * (r * mass(d, order) + (1 - r) / 3), -12, 12, epsabs=1e-13, limit=200
            )[0]
        )

    evidence = moment(0)
    shift = moment(1) / evidence
    width = moment(2) / evidence - shift**2
    model = ReliableTrueSkill(ReliableParameters(beta=BETA, margin=MARGIN, prior_a=prior[0], prior_b=prior[1]))
    model.grow(2, 1, 1)
    for i in range(2):
        model.load_row("systems", i, (means[i], variances[i]))
    model.apply(rankings([(0, 1, order, 0)]))
    for i, sign in enumerate((1, -1)):
        share = variances[i] / spread
        mean, variance = model.dump_row("systems", i)
        assert mean == pytest.approx(means[i] + sign * share * (shift - gap), abs=1e-9)
        assert variance == pytest.approx(variances[i] - share**2 * (spread - width), abs=1e-9)


@pytest.mark.parametrize(("a", "b"), [(4.0, 1.0), (0.6, 0.9), (40.0, 3.0), (3.0, 200.0)])
@pytest.mark.parametrize("likelihood", [0.02, 0.3, 0.6, 0.99])
def test_a_judge_keeps_the_mean_and_variance_of_the_exact_posterior(a: float, b: float, likelihood: float) -> None:
    prior = stats.beta(a, b)

    def expected(power: int) -> float:
        # Moments of a Beta are known in closed form; the mixture is linear in r.
        return float(likelihood * prior.moment(power + 1) + (prior.moment(power) - prior.moment(power + 1)) / 3)

    evidence = likelihood * prior.mean() + (1 - prior.mean()) / 3
    mean = expected(1) / evidence
    looked = prior.mean() * likelihood / evidence
    after = stats.beta(*mixture.learn_judge(a, b, looked, 1 - looked))
    assert after.mean() == pytest.approx(mean, rel=1e-9)
    assert after.var() == pytest.approx(expected(2) / evidence - mean**2, rel=1e-6)


@given(
    st.floats(1e-3, 1e6),
    st.floats(1e-3, 1e6),
    st.lists(st.sampled_from([0.0, 1e-300, 1e-9, 0.3, 1 / 3, 0.9, 1.0]), min_size=200, max_size=200),
)
@settings(max_examples=30)
def test_no_answers_bring_a_judge_out_of_bounds(a: float, b: float, likelihoods: list[float]) -> None:
    for likelihood in likelihoods:
        looked = a * likelihood / (a * likelihood + b / 3)
        guessed = b / 3 / (a * likelihood + b / 3)
        size = a + b
        a, b = mixture.learn_judge(a, b, looked, guessed)
        assert 0 < a < np.inf
        assert 0 < b < np.inf
        assert a + b <= (size + 1) * (1 + 1e-12)


def test_with_judges_who_are_beyond_doubt_it_is_trueskill() -> None:
    batch = crowd(2000, careless=0)
    sure = ReliableTrueSkill(ReliableParameters(prior_a=1e6, prior_b=1e-3))
    plain = TrueSkill(TrueSkillParameters())
    for model in (sure, plain):
        model.grow(6, 20, 1)
        model.apply(batch)
    np.testing.assert_allclose(sure.scores(), plain.scores(), atol=1e-5)
    assert sure.predict(0, 5) == pytest.approx(plain.predict(0, 5), abs=1e-5)
    assert sure.information(0, 5) == pytest.approx(plain.information(0, 5), rel=1e-4)


def test_the_defaults_are_those_of_trueskill() -> None:
    ours, plain = ReliableTrueSkill(ReliableParameters()).parameters, TrueSkill(TrueSkillParameters()).parameters
    assert all(getattr(ours, field) == getattr(plain, field) for field in TrueSkillParameters.__struct_fields__)


@pytest.mark.parametrize("parameters", [{"ways": "free-for-all"}, {"profile": "wmt"}])
def test_a_way_that_knows_no_judges_is_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        parameters_of(ReliableTrueSkill, parameters)


def test_the_careless_judges_are_told_from_the_careful() -> None:
    model = ReliableTrueSkill(ReliableParameters())
    model.grow(6, 20, 1)
    model.apply(crowd(6000, careless=8))
    reliabilities = model.judge_facts().reliability
    assert reliabilities is not None
    assert reliabilities.shape == (20,)
    assert reliabilities[:8].max() < 0.5 < reliabilities[8:].min()


def test_an_answer_counts_for_little_once_its_judge_is_known_as_careless() -> None:
    model = ReliableTrueSkill(ReliableParameters())
    model.grow(6, 20, 1)
    model.apply(crowd(6000, careless=8))
    moves = []
    for judge in (0, 19):
        clone = ReliableTrueSkill(ReliableParameters())
        clone.grow(6, 20, 1)
        for axis, count in (("systems", 6), ("judges", 20)):
            for i in range(count):
                clone.load_row(axis, i, model.dump_row(axis, i))  # type: ignore[arg-type]
        clone.apply(rankings([(2, 3, 1, judge)]))
        moves.append(abs(clone.scores()[0][3] - model.scores()[0][3]))
    assert 0 < moves[0] < moves[1] / 3


def test_a_surprise_does_not_widen_a_rating() -> None:
    model = ReliableTrueSkill(ReliableParameters())
    model.grow(2, 1, 1)
    model.load_row("systems", 0, (3.0, 0.5))
    model.apply(rankings([(0, 1, 1, 0)]))
    assert model.dump_row("systems", 0)[1] == 0.5
    assert model.dump_row("systems", 0)[0] < 3.0


def test_a_prediction_knows_its_judge() -> None:
    model = ReliableTrueSkill(ReliableParameters())
    model.grow(6, 20, 1)
    model.apply(crowd(6000, careless=8))
    careless, new, careful = (model.predict(0, 5, judge=judge).win for judge in (0, None, 19))
    assert 1 / 3 < careless < new < careful
    for judge in (0, None, 19):
        assert sum(model.predict(0, 5, judge=judge)) == pytest.approx(1)


@pytest.mark.data
def test_half_of_the_judges_may_answer_at_random_on_a_real_log() -> None:
    systems: dict[str, int] = {}
    judges: dict[str, int] = {}
    rows = []
    for _, judgment in formats.read(real_log("wmt13_fr-en_rank.csv.gz")):
        judge = judges.setdefault(judgment.judge, len(judges))
        shown = [systems.setdefault(system, len(systems)) for system in judgment.systems]
        ranks = judgment.ranks or ()
        rows += [(shown[x], shown[y], ranks[x] - ranks[y], judge) for x in range(5) for y in range(x + 1, 5)]
    table = np.array(rows)
    full = TrueSkill(TrueSkillParameters())
    full.grow(len(systems), len(judges), 1)
    full.apply(rankings(rows[::5]))
    gains = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        careless = random.random(len(judges)) < 0.5
        drawn = table[random.permutation(len(table))[:6400]]
        spoilt = careless[drawn[:, 3]]
        drawn[spoilt, 2] = random.integers(-1, 2, int(spoilt.sum()))
        batch = rankings(drawn.tolist())
        agreement = []
        for model in (TrueSkill(TrueSkillParameters()), ReliableTrueSkill(ReliableParameters())):
            model.grow(len(systems), len(judges), 1)
            model.apply(batch)
            agreement.append(np.corrcoef(model.scores()[0], full.scores()[0])[0, 1])
        gains.append(agreement[1] - agreement[0])
    assert np.mean(gains) > 0.003
