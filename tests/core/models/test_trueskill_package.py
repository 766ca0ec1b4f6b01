"""TrueSkill with the engine `package`: the same ratings as the kernels, whatever the package does."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import trueskill

from streams.core.campaign.campaign import Campaign
from streams.core.models import JudgmentBatch, Model, create
from streams.core.models.trueskill import TrueSkill
from streams.errors import ParameterError
from streams.wire.events import CampaignSettings, Parameter
from tests.builders import crowd_log

SYSTEMS = 9


def rankings(count: int, ways: int, *, seed: int = 0) -> JudgmentBatch:
    random = np.random.default_rng(seed)
    systems = np.stack([random.choice(SYSTEMS, ways, replace=False) for _ in range(count)])
    seen = np.round(0.3 * systems + random.normal(size=systems.shape)).astype(np.int64)
    return JudgmentBatch(
        systems=systems.reshape(-1),
        ranks=(seen - seen.min() + 1).reshape(-1),
        starts=np.arange(0, count * ways + 1, ways),
        judges=np.zeros(count, np.int64),
        segments=np.zeros(count, np.int64),
        scores=np.full(count, np.nan),
    )


def rated(batch: JudgmentBatch, parameters: dict[str, Parameter], *, engine: str, budget: int | None = None) -> Model:
    model = create("trueskill", {**parameters, "engine": engine}, budget=budget)
    model.grow(SYSTEMS, 1, 1)
    model.apply(batch)
    return model


@pytest.mark.parametrize(
    ("parameters", "budget"),
    [
        ({}, None),
        ({"ways": "free-for-all"}, None),
        ({"profile": "wmt"}, 1000),
        ({"profile": "wmt", "ways": "free-for-all"}, 1000),
        ({"margin": 0.0}, None),  # every tie is left to the kernels
        ({"margin": 1e-4}, None),
        ({"margin": 12.0}, None),  # the share of ties rounds to 1
        ({"mean": 1e5, "deviation": 8.0, "beta": 4.0}, None),
        ({"beta": 0.02}, None),  # outcomes against all odds
        ({"beta": 0.02, "ways": "free-for-all"}, None),
    ],
)
@pytest.mark.parametrize("ways", [2, 5])
def test_both_engines_rate_alike(parameters: dict[str, Parameter], budget: int | None, ways: int) -> None:
    batch = rankings(60, ways, seed=ways)
    compiled, package = (
        rated(batch, parameters, engine=engine, budget=budget).scores() for engine in ("compiled", "package")
    )
    np.testing.assert_allclose(package, compiled, atol=1e-8, rtol=0)


def test_the_ratings_are_those_of_the_package_used_by_hand() -> None:
    batch = rankings(200, 2)
    table = trueskill.TrueSkill(mu=0, sigma=1, beta=1.118, tau=0, draw_probability=0.286)
    margin = trueskill.calc_draw_margin(0.286, 2, table)
    model = rated(batch, {"beta": 1.118, "margin": margin}, engine="package")
    ratings = [table.create_rating() for _ in range(SYSTEMS)]
    for (i, j), ranks in zip(batch.systems.reshape(-1, 2), batch.ranks.reshape(-1, 2), strict=True):
        (ratings[i],), (ratings[j],) = table.rate([(ratings[i],), (ratings[j],)], ranks=ranks.tolist())
    mean, deviation = model.scores()
    np.testing.assert_allclose(mean, [rating.mu for rating in ratings], atol=1e-6, rtol=0)
    np.testing.assert_allclose(deviation, [rating.sigma for rating in ratings], atol=1e-6, rtol=0)


@pytest.mark.parametrize("gap", [20.0, 35.2, 50.0, 60.0, 1e4])
@pytest.mark.parametrize("ranks", [(1, 2), (2, 1), (1, 1)])
def test_an_outcome_against_all_odds_stops_nothing(gap: float, ranks: tuple[int, int]) -> None:
    batch = JudgmentBatch(
        systems=np.array([0, 1]),
        ranks=np.array(ranks),
        starts=np.array([0, 2]),
        judges=np.zeros(1, np.int64),
        segments=np.zeros(1, np.int64),
        scores=np.full(1, np.nan),
    )
    models = []
    for engine in ("compiled", "package"):
        model = create("trueskill", {"engine": engine})
        assert isinstance(model, TrueSkill)
        model.grow(2, 1, 0)
        model.load_row("systems", 0, (-gap, 0.5))
        model.load_row("systems", 1, (gap, 0.5))
        model.apply(batch)
        models.append(model)
    np.testing.assert_allclose(models[1].scores(), models[0].scores(), rtol=1e-9)
    assert models[0].package_failures == 0
    far = gap > (37 if ranks == (2, 1) else 33)  # 33 on each side are 35 deviations
    assert models[1].package_failures == far


def test_only_matches_that_fail_are_left_to_the_kernels() -> None:
    model = rated(rankings(200, 3), {}, engine="package")
    assert isinstance(model, TrueSkill)
    assert model.package_failures == 0


@pytest.mark.parametrize("ways", ["pairs", "free-for-all"])
def test_a_campaign_in_any_batches_and_restored_midway_has_the_same_bits(ways: str) -> None:
    settings = CampaignSettings(parameters={"engine": "package", "ways": ways}, replicas=0)
    log = crowd_log(90, systems=5, ways=3)
    whole, split = Campaign("campaign-0", settings), Campaign("campaign-0", settings)
    whole.apply(range(90), log)
    for start, stop in pairwise([0, 1, 40, 90]):
        split.apply(range(start, stop), log[start:stop])
        rows = [split.model.dump_row("systems", i) for i in range(len(split.tables.systems))]
        for i, row in enumerate(rows):
            split.model.load_row("systems", i, row)
    for one, other in zip(whole.model.scores(), split.model.scores(), strict=True):
        assert one.tolist() == other.tolist()
    assert whole.leaderboard() == split.leaderboard()


def test_trueskill_with_judges_has_no_package() -> None:
    with pytest.raises(ParameterError, match="this model has only 'compiled': leave out engine"):
        create("trueskill-judges", {"engine": "package"})
    with pytest.raises(ParameterError, match="engine is one of: compiled, package"):
        create("trueskill", {"engine": "pakage"})


RATE = """
import sys
from streams.core.models import JudgmentBatch, create
import numpy as np
sys.pycache_prefix = {folder!r}  # no bytecode of the package is there
one = np.zeros(1, np.int64)
batch = JudgmentBatch(systems=np.array([0, 1]), ranks=np.array([1, 2]), starts=np.array([0, 2]), judges=one,
                      segments=one, scores=np.full(1, np.nan))
model = create("trueskill", {{"engine": {engine!r}}})
model.grow(2, 1, 1)
before = "trueskill" in sys.modules
model.apply(batch)
print(before, "trueskill" in sys.modules)
"""


@pytest.mark.parametrize("engine", ["compiled", "package"])
def test_the_package_is_imported_by_the_first_judgment_and_without_a_warning(engine: str, tmp_path: Path) -> None:
    code = RATE.format(folder=str(tmp_path), engine=engine)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", str(engine == "package")]
