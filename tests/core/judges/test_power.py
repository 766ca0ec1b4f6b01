"""What the tests of judges can find, and how many votes it takes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.judge_attacks import simulate
from streams.core.campaign.campaign import Campaign
from streams.core.judges import examine_judges
from streams.core.judges.judge_tests import FEWEST_UNITS
from tests.builders import unzip
from tests.core.judges.logs import log_of


def share_found(judgments: int, seed: int) -> tuple[float, int | None]:
    """Return the share of judges found who answer at random, and the votes that are said to be needed."""
    attack = simulate("random", 0.1, seed, systems=8, judges=50, judgments=judgments)
    report = examine_judges(attack.votes)
    flagged = np.isin(attack.votes.judges, [judge.judge for judge in report.flagged])
    return float(flagged[attack.bad].mean()), report.power.needed


def test_with_the_votes_that_are_needed_most_random_judges_are_found_and_with_half_of_them_few() -> None:
    needed = share_found(4000, 1)[1]
    assert needed is not None
    assert 20 < needed < 100
    assert np.mean([share_found(50 * needed, seed)[0] for seed in range(4)]) > 0.7
    assert np.mean([share_found(25 * needed, seed)[0] for seed in range(4)]) < 0.4


def test_the_needed_votes_grow_when_the_systems_are_closer() -> None:
    close, wide = (
        examine_judges(simulate("none", 0.0, 2, systems=8, judges=30, judgments=3000, spread=spread).votes).power
        for spread in (0.5, 1.0)
    )
    assert close.needed is not None
    assert wide.needed is not None
    assert close.needed > 2 * wide.needed
    assert (close.enough, wide.enough) == (0, 30)
    assert close.message == (
        f"It takes about {close.needed} votes of a judge to tell by what they prefer whether they answer at random; "
        "no judge has as many."
    )


def test_judges_with_too_few_votes_are_counted() -> None:
    votes = simulate("none", 0.0, 3, systems=8, judges=40, judgments=800).votes
    power = examine_judges(votes).power
    few = int((votes.judgments < FEWEST_UNITS).sum())
    assert 0 < few < 40
    assert (power.judges, power.tested) == (40, 40 - few)
    assert power.message.startswith(f"{few} of 40 judges have too few votes to be tested. It takes about ")


def test_without_enough_votes_nobody_is_tested() -> None:
    power = examine_judges(simulate("none", 0.0, 4, systems=8, judges=40, judgments=100).votes).power
    assert (power.tested, power.needed, power.enough) == (0, None, 0)
    assert power.message == "No judge can be tested: it takes 5 judges with 20 votes or more."


def test_a_running_campaign_says_about_the_same() -> None:
    votes = simulate("none", 0.0, 5, systems=8, judges=30, judgments=1500).votes
    log, campaign = log_of(votes), Campaign("c")
    campaign.apply(*unzip(enumerate([log[k] for k in np.random.default_rng(5).permutation(len(log))])))
    live, exact = campaign.judges_so_far().power(), examine_judges(votes).power
    assert (live.judges, live.tested) == (exact.judges, exact.tested)
    assert live.needed == pytest.approx(exact.needed, rel=0.35)
