"""The graded response model against its formulas, matrix algebra, simulated truth and a real log."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from benchmarks.wmt13 import official_scores
from streams import formats
from streams.core import kernels
from streams.core.kernels import grm
from streams.core.models.base import Axis, JudgmentBatch, parameters_of
from streams.core.models.grm import GradedResponse
from streams.errors import ParameterError
from tests.data import real_log

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints


class Simulated(NamedTuple):
    theta: Floats
    sensitivity: Floats
    batch: JudgmentBatch


def grown_model(systems: int = 6, judges: int = 5, segments: int = 40, **parameters: object) -> GradedResponse:
    model = GradedResponse(parameters_of(GradedResponse, parameters))
    model.grow(systems, judges, segments)
    return model


def sensitivities(model: GradedResponse) -> Floats:
    found = model.judge_facts().sensitivity
    assert found is not None
    return found


def two_way(a: Ints, b: Ints, u: Ints, judges: Ints | None = None, segments: Ints | None = None) -> JudgmentBatch:
    """Make a batch of pairs; u is 3 if a won, 2 for a tie, 1 if b won."""
    count = len(a)
    return JudgmentBatch(
        systems=np.stack([a, b], axis=1).reshape(-1).astype(np.int64),
        ranks=np.stack([4 - u, u], axis=1).reshape(-1).astype(np.int64),
        starts=np.arange(0, 2 * count + 1, 2),
        judges=np.zeros(count, np.int64) if judges is None else judges,
        segments=np.zeros(count, np.int64) if segments is None else segments,
        scores=np.full(count, np.nan),
    )


def rankings(count: int, *, seed: int = 0, systems: int = 6, judges: int = 5, segments: int = 40) -> JudgmentBatch:
    random = np.random.default_rng(seed)
    shown = np.stack([random.permutation(systems)[:4] for _ in range(count)])
    ranks = np.clip(np.round(shown * 0.5 + random.normal(size=shown.shape)), -1, 4).astype(np.int64) + 2
    return JudgmentBatch(
        systems=shown.reshape(-1),
        ranks=ranks.reshape(-1),
        starts=np.arange(0, 4 * count + 1, 4),
        judges=random.integers(judges, size=count),
        segments=random.integers(segments, size=count),
        scores=np.full(count, np.nan),
    )


def part(batch: JudgmentBatch, start: int, end: int) -> JudgmentBatch:
    first, last = batch.starts[start], batch.starts[end]
    return JudgmentBatch(
        systems=batch.systems[first:last],
        ranks=batch.ranks[first:last],
        starts=batch.starts[start : end + 1] - first,
        judges=batch.judges[start:end],
        segments=batch.segments[start:end],
        scores=batch.scores[start:end],
    )


def simulated(count: int, *, seed: int, baseline: bool, careless: int = 0, systems: int = 12) -> Simulated:
    """Draw from the model itself: 50 judges, the first ones careless, on 300 segments."""
    random = np.random.default_rng(seed)
    theta = random.normal(0, np.sqrt(2), systems)
    sensitivity = 1.7 * np.exp(random.normal(0, 1, 50))
    sensitivity[:careless] = 0.0
    middle = random.normal(0, np.sqrt(2), 300) if baseline else np.zeros(300)
    half = 0.5 * 1.7 * np.exp(random.normal(0, 1, 300))
    a = random.integers(1, systems, count)
    b = np.zeros_like(a) if baseline else (a + random.integers(1, systems, count)) % systems
    theta[0] = 0.0
    judges, segments = random.integers(50, size=count), random.integers(300, size=count)
    seen = sensitivity[judges] * (theta[a] - theta[b] - middle[segments])
    draw = random.random(count)
    u = 1 + (draw < expit(seen + half[segments])) + (draw < expit(seen - half[segments]))
    return Simulated(theta, sensitivity, two_way(a, b, u, judges, segments))


def state(model: GradedResponse, systems: int = 6, judges: int = 5, segments: int = 40) -> list[tuple[float, ...]]:
    sizes: list[tuple[Axis, int]] = [("systems", systems), ("judges", judges), ("segments", segments)]
    return [model.dump_row(axis, index) for axis, size in sizes for index in range(size)]


# -- the kernels against the formulas ------------------------------------------------------------------


@pytest.mark.parametrize("u", [-700.0, -3.0, -0.2, 0.0, 0.7, 5.0, 700.0])
@pytest.mark.parametrize("y", [1e-9, 0.1, 1.0, 20.0])
def test_the_outcomes_are_differences_of_two_sigmoids(u: float, y: float) -> None:
    win, tie, loss = grm.outcomes(u, y)
    assert win == pytest.approx(expit(u - y), rel=1e-12)
    assert loss == pytest.approx(1 - expit(u + y), rel=1e-12, abs=1e-15)
    assert tie == pytest.approx(expit(u + y) - expit(u - y), abs=1e-15)
    assert win + tie + loss == pytest.approx(1, abs=1e-14)
    assert grm.outcomes(-u, y) == (loss, tie, win)


@pytest.mark.parametrize("u", [-4.0, -0.3, 0.0, 1.5])
@pytest.mark.parametrize("y", [0.05, 0.6, 3.0])
def test_information_is_the_expected_square_of_the_slopes(u: float, y: float) -> None:
    def logs(u: float, log_y: float) -> Floats:
        return np.log(grm.outcomes(u, float(np.exp(log_y))))

    h = 1e-5
    slopes = np.stack(
        [
            (logs(u + h, np.log(y)) - logs(u - h, np.log(y))) / (2 * h),
            (logs(u, np.log(y) + h) - logs(u, np.log(y) - h)) / (2 * h),
        ]
    )
    found = grm.response(u, y)
    assert (found.win_u, -y * found.win_u) == pytest.approx(slopes[:, 0], abs=1e-7)
    assert (found.tie_u, found.tie_y) == pytest.approx(slopes[:, 1], abs=1e-7)
    expected = (slopes * np.array(grm.outcomes(u, y))) @ slopes.T
    assert np.array([[found.uu, found.uy], [found.uy, found.yy]]) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert found.determinant == pytest.approx(np.linalg.det(expected), rel=1e-4, abs=1e-10)


@pytest.mark.parametrize("order", [-1, 0, 1])
@pytest.mark.parametrize("held", [False, True])
def test_a_step_is_the_joint_one_of_linear_algebra(order: int, held: bool) -> None:
    systems = np.array([[0.4, 0.9], [-0.3, 0.5]])
    judges, segments = np.array([[0.2, 0.7]]), np.array([[0.25, 1.1, -0.4, 0.8]])
    variances = np.array([0.9, 0.0 if held else 0.5, 1.1 if held else 0.0, 0.7, 0.8])
    side = -1 if order > 0 else 1
    a, y = np.exp(0.2), np.exp(-0.4) / 2
    u = side * a * (0.4 + 0.3 - (0.25 if held else 0))
    slopes = np.array([[side * a, -side * a, -side * a, u, 0], [0, 0, 0, 0, 1]])
    doubt = (slopes * np.array([1, y])[:, None]) ** 2 @ variances
    factor = 1 / np.sqrt(1 + np.pi / 8 * doubt.sum())
    slopes[0] *= factor
    u, y = factor * u, factor * y
    win, tie, loss = expit(u - y), expit(u + y) - expit(u - y), expit(-u - y)
    tie_y = y * ((1 - loss) * loss + win * (1 - win)) / tie
    gradients = np.array([[1 - win, -y * (1 - win)], [loss - win, tie_y], [loss - 1, -y * (1 - loss)]])
    information = (gradients.T * [win, tie, loss]) @ gradients
    spread = np.diag(variances)
    covariance = slopes @ spread @ slopes.T
    gain = spread @ slopes.T @ np.linalg.inv(np.eye(2) + information @ covariance)
    moved = gain @ gradients[1 if order == 0 else 0]
    left = np.diag(spread - gain @ information @ slopes @ spread)
    grm.compare(systems, judges, segments, 0, 1, 0, 0, order, held)
    assert systems[0] == pytest.approx([0.4 + moved[0], left[0]])
    assert systems[1] == pytest.approx([-0.3 + moved[1], 0.5 if held else left[1]])
    assert segments[0, :2] == pytest.approx([0.25 + moved[2], left[2] if held else 1.1])
    assert judges[0] == pytest.approx([0.2 + moved[3], left[3]])
    assert segments[0, 2:] == pytest.approx([-0.4 + moved[4], left[4]])


@pytest.mark.parametrize("order", [-1, 0, 1])
@pytest.mark.parametrize("held", [False, True])
def test_a_gradient_step_follows_the_slope_of_the_log_posterior(order: int, held: bool) -> None:
    """The slopes are finite differences of the likelihood by scipy's sigmoid, and of the prior's share."""
    start = np.array([0.4, -0.3, 0.25, 0.2, -0.4])  # theta of both, m, alpha, delta
    variances = np.array([0.9, 0.5, 1.1, 0.7, 0.8])
    priors = np.array([[0.0, 2.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.1, 1.9, 0.3, 1.2]])
    prior_means, prior_variances = np.array([0.0, 0.0, 0.1, 0.5, 0.3]), np.array([2.0, 2.0, 1.9, 1.0, 1.2])
    rate, decay = 0.03, 0.6

    def tables() -> tuple[Floats, Floats, Floats]:
        s, v = start, variances
        return (
            np.array([[s[0], v[0]], [s[1], v[1]]]),
            np.array([[s[3], v[3]]]),
            np.array([[s[2], v[2], s[4], v[4]]]),
        )

    def log_likelihood(x: Floats) -> float:
        gap = x[0] - x[1] - (x[2] if held else 0.0)
        u, y = np.exp(x[3]) * gap, 0.5 * np.exp(x[4])
        shares = {-1: expit(u - y), 0: expit(u + y) - expit(u - y), 1: 1 - expit(u + y)}
        return float(np.log(shares[order]))

    steps = 1e-6 * np.eye(5)
    slopes = np.array([(log_likelihood(start + h) - log_likelihood(start - h)) / 2e-6 for h in steps])
    fisher, found = tables(), tables()
    grm.compare(*fisher, 0, 1, 0, 0, order, held)
    grm.descend(*found, 0, 1, 0, 0, order, held, priors, rate, decay)
    left = np.array([fisher[0][0, 1], fisher[0][1, 1], fisher[2][0, 1], fisher[1][0, 1], fisher[2][0, 3]])
    slopes -= (start - prior_means) / prior_variances * (1 - left / variances)
    moved = start + rate * prior_variances * (left / prior_variances) ** decay * slopes
    moved[1 if held else 2] = start[1 if held else 2]
    systems, judges, segments = found
    got = [systems[0, 0], systems[1, 0], segments[0, 0], judges[0, 0], segments[0, 2]]
    assert got == pytest.approx(moved, abs=1e-7)
    for one, other in zip(found, fisher, strict=True):
        assert one[:, 1::2].tolist() == other[:, 1::2].tolist()


@pytest.mark.parametrize("rate", [0.0, 0.1])
@pytest.mark.parametrize("baseline", [-1, 2])
def test_compiled_and_plain_kernels_give_the_same_bits(baseline: int, rate: float) -> None:
    batch = rankings(600, seed=3)
    states = []
    for functions in (kernels.plain("grm"), kernels.compiled("grm")):
        rows = np.tile([0.0, 2.0], (6, 1)), np.tile([0.5, 1.0], (5, 1)), np.tile([0.0, 2.0, 0.5, 1.0], (40, 1))
        priors = np.array([[0.0, 2.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 2.0, 0.5, 1.0]])
        columns = (batch.systems, batch.ranks, batch.starts, batch.judges, batch.segments)
        functions.rate_rankings(*rows, *columns, baseline, priors, rate, 0.75)
        states.append([table.tolist() for table in rows])
    assert states[0] == states[1]


# -- what every batch, order and name must leave alone ---------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 60), max_size=4),
    st.sampled_from(["pairwise", "baseline"]),
    st.booleans(),
    st.sampled_from(["fisher", "sgd"]),
)
def test_no_split_and_no_restart_changes_a_bit(cuts: list[int], mode: str, restart: bool, step: str) -> None:
    batch = rankings(60, seed=4)
    whole = grown_model(mode=mode, step=step)
    whole.baseline = 1
    whole.apply(batch)
    model = grown_model(2, 1, 3, mode=mode, step=step)
    model.baseline = 1
    bounds = [0, *sorted(cuts), 60]
    for start, end in pairwise(bounds):
        model.grow(6, 5, 40)
        model.predict(0, 1)  # whatever it remembers of this must not outlive the next judgment
        model.apply(part(batch, start, end))
        if restart:
            again = grown_model(mode=mode, step=step)
            again.baseline = 1
            sizes: list[tuple[Axis, int]] = [("systems", 6), ("judges", 5), ("segments", 40)]
            for axis, size in sizes:
                for index in range(size):
                    again.load_row(axis, index, model.dump_row(axis, index))
            model = again
    assert state(model) == state(whole)
    assert model.predict(0, 3) == whole.predict(0, 3)
    assert model.scores()[1].tolist() == whole.scores()[1].tolist()


def test_room_made_in_advance_changes_no_bit_of_a_prediction() -> None:
    truth = simulated(3000, seed=9, baseline=False)
    exact, roomy = grown_model(12, 50, 300), grown_model(12, 50, 299)
    roomy.grow(12, 50, 300)
    for model in (exact, roomy):
        model.apply(truth.batch)
    for a, b in permutations(range(12), 2):
        assert exact.predict(a, b) == roomy.predict(a, b)
        assert exact.information(a, b) == roomy.information(a, b)


def test_relabelling_systems_relabels_the_result() -> None:
    batch = rankings(200, seed=5)
    names = np.array([4, 2, 0, 5, 1, 3])
    model, renamed = grown_model(), grown_model()
    model.apply(batch)
    renamed.apply(replace(batch, systems=names[batch.systems]))
    for index in range(6):
        assert model.dump_row("systems", index) == renamed.dump_row("systems", int(names[index]))
    assert model.predict(0, 1) == renamed.predict(4, 2)


@pytest.mark.parametrize("mode", ["pairwise", "baseline"])
def test_which_of_two_is_named_first_does_not_matter(mode: str) -> None:
    random = np.random.default_rng(6)
    a = random.integers(1, 6, 500)
    b = np.zeros_like(a) if mode == "baseline" else (a + random.integers(1, 6, 500)) % 6
    u = random.integers(1, 4, 500)
    states = []
    for batch in (two_way(a, b, u), two_way(b, a, 4 - u)):
        model = grown_model(mode=mode)
        model.baseline = 0
        model.apply(batch)
        states.append(state(model))
    assert states[0] == states[1]


def test_a_ranking_of_four_counts_as_its_six_pairs_in_order() -> None:
    batch = rankings(1, seed=7)
    order = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    a, b = (np.array([pair[side] for pair in order]) for side in (0, 1))
    u = 2 + np.sign(batch.ranks[b] - batch.ranks[a])
    one, six = grown_model(), grown_model()
    one.apply(batch)
    six.apply(two_way(batch.systems[a], batch.systems[b], u, batch.judges.repeat(6), batch.segments.repeat(6)))
    assert state(one) == state(six)


# -- what it knows ------------------------------------------------------------------------------------------


def test_predictions_are_probabilities_and_know_the_other_side() -> None:
    model = grown_model()
    for batch in (part(rankings(100), 0, 0), rankings(100)):
        model.apply(batch)
        for a, b in permutations(range(6), 2):
            win, tie, loss = model.predict(a, b)
            assert min(win, tie, loss) > 0.01
            assert win + tie + loss == pytest.approx(1)
            assert model.predict(b, a) == (loss, tie, win)


def test_before_any_data_nobody_is_ahead() -> None:
    model = grown_model()
    win, tie, loss = model.predict(0, 1)
    assert win == loss
    assert 0.05 < tie < 0.5
    mean, deviation = model.scores()
    assert mean.tolist() == [0.0] * 6
    assert deviation == pytest.approx(np.sqrt(2))
    assert sensitivities(model) == pytest.approx(1.7)


@pytest.mark.parametrize("mode", ["pairwise", "baseline"])
def test_information_is_what_a_verdict_of_a_new_judge_on_a_new_segment_takes_off(mode: str) -> None:
    model = grown_model(3, 1, 1, mode=mode)
    model.baseline = 1
    expected = model.information(0, 1)
    before = model.scores()[1]
    model.apply(two_way(np.array([0]), np.array([1]), np.array([2])))
    after = model.scores()[1]
    narrowed = [np.log2(before[i] / after[i]) for i in (0, 1) if before[i] > 0]
    assert len(narrowed) == (1 if mode == "baseline" else 2)
    assert expected == pytest.approx(sum(narrowed))
    assert expected > model.information(0, 1) > 0
    assert model.information(0, 2) == 0 if mode == "baseline" else model.information(0, 2) > model.information(0, 1)


@pytest.mark.parametrize("theta", [-2.0, 0.1, 1.4])
def test_item_information_is_that_of_the_paper(theta: float) -> None:
    model = grown_model(mode="baseline", sensitivity=2.0)
    model.load_row("segments", 3, (0.3, 1.0, float(np.log(2.0 * 2.0 * 0.6)), 1.0))  # thresholds 0.3 -+ 0.6
    h = 1e-6

    def passed(at: float) -> Floats:
        return np.array([1.0, expit(at - 0.3 + 0.6), expit(at - 0.3 - 0.6), 0.0])

    shares = -np.diff(passed(theta))
    slopes = -np.diff((passed(theta + h) - passed(theta - h)) / (2 * h))
    rows = np.array([model.dump_row("segments", 3)])
    (found,) = kernels.plain("grm").item_informations(rows, theta, True, model.parameters.sensitivity)
    assert found == pytest.approx(float((slopes**2 / shares).sum()), rel=1e-6)


# -- baseline mode --------------------------------------------------------------------------------------------


def test_only_comparisons_with_the_baseline_count_and_it_stays_at_zero() -> None:
    batch = rankings(300, seed=8)
    model = grown_model(mode="baseline")
    model.baseline = 2
    model.apply(batch)
    mean, deviation = model.scores()
    assert (mean[2], deviation[2]) == (0.0, 0.0)
    assert model.dump_row("systems", 2) == grown_model().dump_row("systems", 2)
    pairs = [
        (n, x, y)
        for n in range(300)
        for x in range(4 * n, 4 * n + 4)
        for y in range(x + 1, 4 * n + 4)
        if 2 in (batch.systems[x], batch.systems[y])
    ]
    n, x, y = np.array(pairs).T
    alone = grown_model(mode="baseline")
    alone.baseline = 2
    u = 2 + np.sign(batch.ranks[y] - batch.ranks[x])
    alone.apply(two_way(batch.systems[x], batch.systems[y], u, batch.judges[n], batch.segments[n]))
    assert state(alone) == state(model)
    assert mean[0] > 0 > mean[5]


def test_without_a_baseline_every_pair_counts() -> None:
    batch = rankings(50, seed=9)
    asked, pairwise = grown_model(mode="baseline"), grown_model()
    asked.apply(batch)
    pairwise.apply(batch)
    assert state(asked) == state(pairwise)
    assert asked.scores()[1].min() > 0


# -- against truth ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("baseline", [False, True])
def test_simulated_truth_is_found_and_the_deviations_cover_it(baseline: bool) -> None:
    inside, agreement = [], []
    for seed in range(12):
        truth = simulated(8000, seed=seed, baseline=baseline)
        model = grown_model(12, 50, 300, mode="baseline" if baseline else "pairwise")
        model.baseline = 0
        kernels.compiled("grm")
        model.apply(truth.batch)
        mean, deviation = (values[1:] for values in model.scores())
        assert np.corrcoef(mean, truth.theta[1:])[0, 1] > 0.98
        agreement.append(np.corrcoef(np.log(sensitivities(model)), np.log(truth.sensitivity))[0, 1])
        line = np.polyfit(truth.theta[1:], mean, 1, w=1 / deviation)  # the unit and the origin are the priors'
        inside.append(np.abs(mean - np.polyval(line, truth.theta[1:])) < 1.96 * deviation)
    assert np.mean(agreement) > 0.95
    assert 0.9 < np.mean(inside) < 0.99


def test_judges_who_answer_at_random_are_found_out() -> None:
    truth = simulated(8000, seed=1, baseline=False, careless=10)
    model = grown_model(12, 50, 300)
    model.apply(truth.batch)
    found = sensitivities(model)
    careful = truth.sensitivity > 1.0
    assert found[:10].max() < found[careful].min()
    assert np.median(found[:10]) < 0.2 * np.median(found[careful])


def test_a_late_joiner_is_rated_as_fairly_as_the_first() -> None:
    random = np.random.default_rng(3)
    early = simulated(8000, seed=2, baseline=False, systems=12)
    model = grown_model(12, 50, 300)
    model.apply(early.batch)
    model.grow(13, 50, 300)
    twin = int(np.argsort(early.theta)[8])
    opponents = random.permutation(np.delete(np.arange(12), twin).repeat(30))
    seen = early.sensitivity[judges := random.integers(50, size=330)] * (early.theta[twin] - early.theta[opponents])
    half, draw = 0.85, random.random(330)
    u = 1 + (draw < expit(seen + half)) + (draw < expit(seen - half))
    model.apply(two_way(np.full(330, 12), opponents, u, judges, random.integers(300, size=330)))
    mean, deviation = model.scores()
    assert abs(mean[12] - mean[twin]) < 3 * deviation[12] < 1.0


@pytest.mark.parametrize("baseline", [False, True])
def test_gradient_steps_find_the_simulated_truth(baseline: bool) -> None:
    truth = simulated(8000, seed=1, baseline=baseline)
    model = grown_model(12, 50, 300, step="sgd")
    model.baseline = 0 if baseline else None
    kernels.compiled("grm")
    model.apply(truth.batch)
    assert np.corrcoef(model.scores()[0][1:], truth.theta[1:])[0, 1] > 0.97


@pytest.mark.parametrize("descent", [{}, {"step": "sgd", "rate": 10.0}], ids=["fisher", "sgd"])
@pytest.mark.parametrize("mode", ["pairwise", "baseline"])
def test_a_million_adversarial_outcomes_leave_everything_finite(mode: str, descent: dict[str, Any]) -> None:
    count = 250_000
    wide: dict[str, Any] = {"sensitivity": 1e3, "sensitivity_deviation": 10.0, "margin_deviation": 10.0}
    model = grown_model(4, 3, 3, mode=mode, **wide, **descent)
    model.baseline = 0
    ones, step = np.ones(count, np.int64), np.arange(count)
    verdicts = [np.full(count, 3), np.full(count, 1), np.full(count, 2), 1 + 2 * (step % 2)]
    kernels.compiled("grm")
    for u in verdicts:
        model.apply(two_way(ones, 0 * ones, u, step % 3, step % 2))
    model.apply(two_way(1 + step % 3, step * 0, 1 + step % 3, step % 3, step % 3))
    rows = np.array([value for row in state(model, 4, 3, 3) for value in row])
    assert np.isfinite(rows).all()
    mean, deviation = model.scores()
    assert (deviation[1:] > 0).all()
    assert np.abs(mean).max() < 1e3
    assert all(model.dump_row("judges", k)[1] > 0 and model.dump_row("segments", k)[3] > 0 for k in range(3))
    assert sum(model.predict(1, 2)) == pytest.approx(1)


@pytest.mark.data
def test_the_official_order_of_a_real_campaign_is_found() -> None:
    names, judges, segments = (dict[str, int]() for _ in range(3))
    log = [entry.judgment for entry in formats.read(real_log("wmt13_fr-en_rank.csv.gz"))]
    batch = JudgmentBatch(
        systems=np.array([names.setdefault(name, len(names)) for judgment in log for name in judgment.systems]),
        ranks=np.array([rank for judgment in log for rank in judgment.ranks or ()]),
        starts=np.arange(0, 5 * len(log) + 1, 5),
        judges=np.array([judges.setdefault(judgment.judge, len(judges)) for judgment in log]),
        segments=np.array([segments.setdefault(judgment.segment, len(segments)) for judgment in log]),
        scores=np.full(len(log), np.nan),
    )
    gold = official_scores(names)
    for parameters, baseline, least in (({}, None, 0.995), ({"mode": "baseline"}, "dcu", 0.985)):
        model = grown_model(len(names), len(judges), len(segments), **parameters)
        model.baseline = next((i for name, i in names.items() if baseline and baseline in name.lower()), None)
        kernels.compiled("grm")
        model.apply(batch)
        assert np.corrcoef(model.scores()[0], gold)[0, 1] > least


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"mode": "all"}, "mode"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"rate": 0.1}, "rate: 0.1 is only for `step: sgd`"),
        ({"step": "sgd", "rate": 0.0}, "rate"),
        ({"step": "sgd", "decay": 1.1}, "decay"),
        ({"margin": -1}, "margin"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, object], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        grown_model(**parameters)  # type: ignore[arg-type]
