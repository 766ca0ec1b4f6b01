"""Simulated judges who give scores, and whole campaigns of direct assessment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from streams.crowd import (
    WMT13_FR_EN,
    Competition,
    Judge,
    Oracle,
    Panel,
    SimulatedCampaign,
    Skills,
    Truth,
    order_tau,
    recruit,
    segment_names,
)
from streams.crowd.judges import QUALITIES_IN_RANGE
from streams.errors import ParameterError
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.wire.decoding import decode
from streams.wire.events import EPOCH, CampaignSettings, MatchRequest, encode
from tests.data import wmt13_counts


def draws(judge: Judge, quality: float, *, score_range: tuple[float, float] = (0.0, 100.0)) -> np.ndarray:
    random = np.random.default_rng(1)
    return np.array([judge.score("a", quality, score_range=score_range, random=random) for _ in range(4000)])


def test_each_judge_has_a_mean_a_spread_and_a_noise_of_their_own() -> None:
    unit = 100 / QUALITIES_IN_RANGE
    judge = Judge(id="j", leniency=0.3, spread=0.8, noise=0.5)
    for quality in (-0.5, 0.0, 0.7):
        found = draws(judge, quality)
        assert found.mean() == pytest.approx(50 + unit * (0.3 + 0.8 * quality), abs=0.5)
        assert found.std() == pytest.approx(unit * 0.8 * 0.5, rel=0.05)
    crowd = recruit(400, careless=0.0, random=np.random.default_rng(1))
    assert np.std([each.leniency for each in crowd]) == pytest.approx(0.6, rel=0.1)
    assert len({each.spread for each in crowd}) == len({each.noise for each in crowd}) == 400


def test_scores_stay_in_any_range() -> None:
    for score_range in ((0.0, 100.0), (1.0, 7.0), (-5.0, -0.1), (1e9 - 1, 1e9)):
        found = draws(Judge(id="j", noise=5.0), 1.0, score_range=score_range)
        assert score_range == (found.min(), found.max())


def test_other_kinds_of_judges_score_in_their_way() -> None:
    judge = Judge(id="j", noise=0.1)
    careless = draws(replace(judge, carelessness=1.0), 2.0)
    assert (careless.mean(), careless.std()) == (pytest.approx(50, abs=1), pytest.approx(28.9, abs=0.6))
    contrary = draws(replace(judge, contrary=True), 1.0)
    assert contrary.mean() == pytest.approx(50 - 100 / QUALITIES_IN_RANGE, abs=1)
    assert np.mean(draws(replace(judge, bias=0.5, favourite="a"), 0.0) == 100.0) == pytest.approx(0.5, abs=0.03)
    assert np.mean(draws(replace(judge, bias=0.5, favourite="b"), 0.0) == 100.0) == 0.0


@pytest.mark.data
def test_a_real_log_shows_the_quality_of_its_systems() -> None:
    oracle, competition = Oracle("wmt13", wmt13_counts()), Competition.load(WMT13_FR_EN)
    by_log = sorted(oracle.systems, key=oracle.quality, reverse=True)
    by_rates = [competition.quality(system) for system in competition.systems]
    assert abs(sum(by_rates)) < 0.5
    assert oracle.quality(by_log[0]) == pytest.approx(max(by_rates), abs=0.15)


def test_an_unknown_system_is_not_scored() -> None:
    request = MatchRequest(id="1", campaign="c", systems=("x",), segment="s", why="", information=1.0, expires_at=EPOCH)
    for truth in (Skills({"a": 1.0, "b": 0.0}), Competition.load(WMT13_FR_EN)):
        with pytest.raises(ParameterError, match="'x'"):
            Panel(judges=(Judge(id="j"),), truth=truth, seed=1).answer(request, asked=EPOCH)


@pytest.mark.parametrize("policy", ["information", "variance", "uniform"])
@pytest.mark.parametrize("scale", ["z", "raw"])
def test_a_campaign_runs_from_end_to_end(policy: str, scale: str) -> None:
    truth: Truth = Skills({f"system-{k}": -0.5 * k for k in range(5)})
    settings = CampaignSettings(
        model="assessment",
        parameters={"scale": scale},
        systems=truth.systems,
        segments=segment_names(100),
        budget=400,
        outstanding=10,
        policy=policy,
        score_range=(1.0, 7.0),
    )
    random = np.random.default_rng(1)
    judges = recruit(10, careless=0.0, random=random)
    stream = Embedded(Settings(seed=1))
    simulated = SimulatedCampaign(stream, "da", settings, judges=judges, truth=truth, start=EPOCH, random=random)
    answers = [answer for step in simulated.steps() for answer in step.answers]
    assert all(decode(encode(answer), max_bytes=10_000) == answer for answer in answers)
    campaign = simulated.campaign
    assert (campaign.counts.judgments, campaign.counts.rejected) == (400, 0)
    board = campaign.leaderboard()
    assert order_tau([row.system for row in board.rows], truth.systems) >= 0.8
    assert board.rows[0].system == "system-0"
