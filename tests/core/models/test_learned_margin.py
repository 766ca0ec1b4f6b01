"""The tie margins that TrueSkill learns, against scipy and the `trueskill` package."""

from __future__ import annotations

import numpy as np
import pytest
import trueskill
from scipy import stats

from streams.core.campaign.campaign import Campaign
from streams.core.models import JudgmentBatch, create
from streams.core.models.trueskill import TrueSkill
from streams.wire.events import CampaignSettings
from tests.builders import crowd_log, stored_campaign

BETA = 1.118
C = float(np.sqrt(2)) * BETA
SYSTEMS, JUDGES = 5, 3


def batch_of(pairs: list[tuple[int, int, int, int]]) -> JudgmentBatch:
    """Return two-way judgments: the systems a and b, the order of their ranks, and the judge."""
    rows = np.array(pairs, np.int64).reshape(-1, 4)
    return JudgmentBatch(
        systems=rows[:, :2].reshape(-1),
        ranks=np.stack([2 + rows[:, 2], np.full(len(rows), 2)], axis=1).reshape(-1),
        starts=np.arange(0, 2 * len(rows) + 1, 2),
        judges=rows[:, 3].copy(),
        segments=np.zeros(len(rows), np.int64),
        scores=np.full(len(rows), np.nan),
    )


def drawn(
    count: int, *, seed: int = 0, margins: tuple[float, ...] = (0.2, 0.6, 1.5)
) -> list[tuple[int, int, int, int]]:
    """Draw judgments of systems that are 0.3 apart by judges who tie within their own margins."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        a, b = random.choice(SYSTEMS, 2, replace=False).tolist()
        judge = int(random.integers(JUDGES))
        seen = 0.3 * (b - a) + C * random.normal()
        rows.append((a, b, 0 if abs(seen) < margins[judge] else -int(np.sign(seen)), judge))
    return rows


def rated(pairs: list[tuple[int, int, int, int]], **parameters: object) -> TrueSkill:
    model = create("trueskill", parameters)
    assert isinstance(model, TrueSkill)
    model.grow(SYSTEMS, JUDGES, 1)
    model.apply(batch_of(pairs))
    return model


class Expected:
    """A margin by the definition: its own sum of slopes, with scipy's normal distribution."""

    def __init__(self, start: float) -> None:
        self.margin, self.weight = start, 20 * 2 * stats.norm.pdf(0) / C

    def learn(self, a: trueskill.Rating, b: trueskill.Rating, *, tied: bool) -> None:
        lead = stats.norm(a.mu - b.mu, np.sqrt(2 * BETA**2 + a.sigma**2 + b.sigma**2))
        self.weight += lead.pdf(self.margin) + lead.pdf(-self.margin)
        self.margin += (tied - (lead.cdf(self.margin) - lead.cdf(-self.margin))) / self.weight


def test_each_step_is_that_of_the_package_with_the_draw_margin_of_the_judge() -> None:
    rows = drawn(120)
    ratings = [trueskill.Rating(0, 1) for _ in range(SYSTEMS)]
    shared = Expected(0.58)
    own: dict[int, Expected] = {}
    for a, b, order, judge in rows:
        known = own.setdefault(judge, Expected(shared.margin))
        draw = float(2 * stats.norm.cdf(known.margin / C) - 1)
        table = trueskill.TrueSkill(mu=0, sigma=1, beta=BETA, tau=0, draw_probability=draw)
        for margin in (shared, known):
            margin.learn(ratings[a], ratings[b], tied=order == 0)
        i, j = (a, b) if order <= 0 else (b, a)
        ratings[i], ratings[j] = trueskill.rate_1vs1(ratings[i], ratings[j], drawn=order == 0, env=table)
    model = rated(rows)
    mean, deviation = model.scores()
    np.testing.assert_allclose(mean, [rating.mu for rating in ratings], atol=1e-6, rtol=0)
    np.testing.assert_allclose(deviation, [rating.sigma for rating in ratings], atol=1e-6, rtol=0)
    assert model.margin() == pytest.approx(shared.margin, abs=1e-6)
    assert [model.margin(k) for k in range(JUDGES)] == pytest.approx([own[k].margin for k in range(JUDGES)], abs=1e-6)
    assert model.dump_row("judges", 1)[1] == pytest.approx(own[1].weight, rel=1e-6)


@pytest.mark.parametrize("name", ["trueskill", "trueskill-judges"])
def test_the_margins_of_judges_are_found(name: str) -> None:
    model = create(name, {"prior_b": 0.01} if name == "trueskill-judges" else {})
    assert isinstance(model, TrueSkill)
    model.grow(SYSTEMS, JUDGES + 1, 1)
    model.apply(batch_of(drawn(6000)))
    assert [model.margin(k) for k in range(JUDGES)] == pytest.approx([0.2, 0.6, 1.5], rel=0.1)
    ties = [model.predict(0, 1, judge=k).tie for k in range(JUDGES)]
    assert ties[0] < ties[1] < ties[2]
    assert model.predict(0, 1, judge=JUDGES) == model.predict(0, 1)  # who has not judged is like a new one
    assert ties[0] < model.predict(0, 1).tie < ties[2]


def test_a_margin_that_is_given_or_official_stays() -> None:
    rows = drawn(200)
    for model in (rated(rows, margin=0.3), rated(rows, margin=0.0)):
        assert model.margin(1) == model.margin() == model.parameters.margin
        assert model.dump_shared() == ()
        assert model.dump_row("judges", 1) == (0.0, 0.0)
    official = create("trueskill", {"profile": "wmt"}, budget=400)
    assert isinstance(official, TrueSkill)
    official.grow(SYSTEMS, JUDGES, 1)
    official.apply(batch_of(rows))
    assert official.margin() == official.parameters.margin


@pytest.mark.parametrize("order", [0, -1])
def test_a_judge_who_always_or_never_ties_keeps_a_positive_and_finite_margin(order: int) -> None:
    model = rated([(0, 1, order, 0), (1, 0, order, 0)] * 10_000)
    assert (0 < model.margin(0) < 0.001) if order else (2 * C < model.margin(0) < 10 * C)
    assert np.isfinite(model.scores()).all()


@pytest.mark.parametrize("ways", ["pairs", "free-for-all"])
def test_both_engines_learn_the_same_margins(ways: str) -> None:
    rows = drawn(60)
    compiled, package = (rated(rows, ways=ways, engine=engine) for engine in ("compiled", "package"))
    for judge in (None, 0, 1, 2):
        assert package.margin(judge) == pytest.approx(compiled.margin(judge), abs=1e-10)


@pytest.mark.parametrize("name", ["trueskill", "trueskill-judges"])
def test_a_campaign_that_was_stored_midway_learns_the_same_margins(name: str) -> None:
    log = crowd_log(120, systems=4)
    whole, split = (Campaign("campaign-0", CampaignSettings(model=name, replicas=0)) for _ in range(2))
    whole.apply(range(120), log)
    change = split.drain_changes(split.apply(range(70), log[:70]), ())
    again = Campaign.restore("campaign-0", stored_campaign([change]))
    again.apply(range(70, 120), log[70:])
    assert again.meta.model == whole.meta.model != split.meta.model
    assert len(whole.meta.model) == (2 if name == "trueskill" else 3)
    judges = range(len(whole.tables.judges))
    assert [again.model.dump_row("judges", k) for k in judges] == [whole.model.dump_row("judges", k) for k in judges]
