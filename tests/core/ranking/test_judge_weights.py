"""Weights of judges on the board, against the same fit with scipy's normal distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.judge_weights import SYSTEMS, count_cells, simulate, spoil, weigh
from benchmarks.log_loss import C
from streams.core.campaign.campaign import Campaign
from streams.core.models import judge_outcomes
from streams.core.models.judge_outcomes import JudgeOutcomes
from streams.core.ranking.fit import PairOutcomes
from streams.core.ranking.judge_weights import find_sensitivities
from streams.wire.events import CampaignSettings, Judgment, Leaderboard
from tests.builders import crowd_log, judgment, stored_campaign

JUDGES = 20


def crowd(kind: str, share: float, *, count: int = 1500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    rows, ability = simulate(JUDGES, count, random)
    return spoil(rows, JUDGES, kind, share, random), ability


def sensitivities(rows: np.ndarray) -> np.ndarray:
    cells = count_cells(rows, SYSTEMS)
    key, place = np.unique(cells.first * SYSTEMS + cells.second, return_inverse=True)
    outcomes = np.zeros((len(key), 3))
    np.add.at(outcomes, place, cells.outcomes)
    pairs = PairOutcomes(
        first=key // SYSTEMS, second=key % SYSTEMS, outcomes=outcomes, size=SYSTEMS, precision=(C / 3.0) ** 2
    )
    return find_sensitivities(JudgeOutcomes(**cells._asdict()), pairs)


@pytest.mark.parametrize(("kind", "share"), [("none", 0.0), ("adversarial", 0.2)])
def test_sensitivities_are_those_of_scipy(kind: str, share: float) -> None:
    rows, _ = crowd(kind, share)
    _, expected = weigh(count_cells(rows, SYSTEMS), SYSTEMS, JUDGES)
    np.testing.assert_allclose(sensitivities(rows), expected, atol=1e-7, rtol=0)


def test_who_votes_against_all_others_has_no_weight() -> None:
    honest, _ = crowd("none", 0.0)
    spoilt = honest.copy()
    busiest = np.argsort(np.bincount(honest[:, 3]))[-3:]
    spoilt[np.isin(spoilt[:, 3], busiest), 2] *= -1
    found = sensitivities(spoilt)
    assert found[busiest].max() < 0.2
    assert np.median(np.delete(found, busiest)) > 0.8


def log_of(rows: np.ndarray) -> list[Judgment]:
    return [
        judgment(number, judge=f"j{judge}", systems=(f"m{a:02}", f"m{b:02}"), ranks=(2 + order, 2))
        for number, (a, b, order, judge) in enumerate(rows.tolist())
    ]


def board(log: list[Judgment], model: str = "trueskill-judges") -> Leaderboard:
    campaign = Campaign("c", CampaignSettings(model=model, replicas=0))
    campaign.apply(range(len(log)), log)
    return campaign.leaderboard()


def test_adversaries_harm_the_weighted_board_less() -> None:
    rows, ability = crowd("adversarial", 0.25)
    found = {}
    for model in ("trueskill", "trueskill-judges"):
        score = {row.system: row.score for row in board(log_of(rows), model).rows}
        found[model] = np.corrcoef([score[f"m{k:02}"] for k in range(SYSTEMS)], ability)[0, 1]
    assert found["trueskill-judges"] > found["trueskill"] + 0.005


@settings(max_examples=10)
@given(order=st.permutations(range(80)))
def test_any_order_of_the_judgments_gives_the_same_board(order: list[int]) -> None:
    log = crowd_log(80, systems=5, ways=3)
    assert board([log[k] for k in order]).rows == board(log).rows


def test_beyond_the_bound_all_judges_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    log = crowd_log(200, systems=5)
    weighted = board(log).rows
    monkeypatch.setattr(judge_outcomes, "MOST_CELLS", 10)
    assert board(log).rows == board(log, "trueskill").rows != weighted
    campaign = Campaign("campaign-0", CampaignSettings(model="trueskill-judges"))
    change = campaign.drain_changes(campaign.apply(range(100), log[:100]), ())
    monkeypatch.undo()
    again = Campaign.restore("campaign-0", stored_campaign([change]))
    again.apply(range(100, 200), log[100:])
    assert again.model.judge_outcomes() is None
    assert again.leaderboard().rows == board(log, "trueskill").rows


def test_a_campaign_that_was_stored_midway_has_the_same_board() -> None:
    log = crowd_log(160, systems=5)
    campaign = Campaign("campaign-0", CampaignSettings(model="trueskill-judges"))
    change = campaign.drain_changes(campaign.apply(range(90), log[:90]), ())
    again = Campaign.restore("campaign-0", stored_campaign([change]))
    again.apply(range(90, 160), log[90:])
    assert again.leaderboard().rows == board(log).rows
