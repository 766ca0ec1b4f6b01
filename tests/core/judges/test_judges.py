"""Judges who manipulate or do not care are found, with reasons, and honest ones are not flagged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.judge_attacks import simulate
from streams.core.judges import Votes, examine_judges, judge_cautions
from streams.core.judges.alarm import binomial_tail
from streams.core.judges.judge_tests import taste_of
from streams.wire.events import Judgment
from tests.core.judges.logs import judgment, log_of

SMALL = {"systems": 8, "judges": 60, "judgments": 3600}


@pytest.mark.parametrize(
    ("kind", "share", "why"),
    [
        ("chosen", 0.2, "favours"),
        ("half", 0.0, "favours"),
        ("position", 0.2, "first"),
        ("random", 0.1, "disagrees"),
    ],
)
def test_bad_judges_are_flagged_and_honest_ones_are_not(kind: str, share: float, why: str) -> None:
    attack = simulate(kind, share, 11, **SMALL)
    report = examine_judges(attack.votes)
    flagged = np.isin(attack.votes.judges, [judge.judge for judge in report.flagged])
    assert flagged[attack.bad].mean() >= 0.8
    assert not flagged[~attack.bad].any()
    assert all(why in {reason.kind for reason in judge.reasons} for judge in report.flagged)


def test_nobody_is_flagged_among_honest_judges() -> None:
    report = examine_judges(simulate("none", 0.0, 12, **SMALL).votes)
    assert report.flagged == ()
    assert report.alarms == ()
    assert report.tested == 60
    assert judge_cautions(report) == ()


def test_who_always_says_that_both_are_equal_is_flagged() -> None:
    votes = simulate("none", 0.0, 13, **SMALL).votes
    votes = replace(votes, outcome=np.where(votes.judge == 7, 0, votes.outcome))
    (flagged,) = examine_judges(votes).flagged
    assert flagged.judge == "j007"
    assert {reason.kind for reason in flagged.reasons} >= {"ties"}
    count = flagged.judgments
    assert any(f"said that both are equal in {count} of {count} matches" in each.message for each in flagged.reasons)


def test_a_fast_judge_is_flagged_but_not_for_their_votes() -> None:
    votes = simulate("none", 0.0, 14, **SMALL).votes
    seconds = np.random.default_rng(1).lognormal(3.0, 0.3, 60)
    seconds[9] = 1.0
    (flagged,) = examine_judges(replace(votes, seconds=seconds, timed=np.full(60, 50))).flagged
    assert (flagged.judge, flagged.by_votes) == ("j009", False)
    assert flagged.message.startswith("takes 1.0 seconds per judgment; half of the judges take 2")


def test_the_order_of_the_log_does_not_matter() -> None:
    log = log_of(simulate("chosen", 0.2, 15, **SMALL).votes)
    shuffled = [log[k] for k in np.random.default_rng(2).permutation(len(log))]
    assert examine_judges(Votes.of(shuffled)) == examine_judges(Votes.of(log))


def test_a_log_gives_the_votes_from_which_it_was_made() -> None:
    votes = simulate("position", 0.2, 16, **SMALL).votes
    again = Votes.of(log_of(votes))
    for column in ("judge", "first", "second", "outcome", "size", "count", "judgments"):
        assert getattr(again, column).tolist() == getattr(votes, column).tolist()


def test_the_pairs_of_a_ranking_weigh_as_much_as_its_degrees_of_freedom() -> None:
    votes = Votes.of([judgment(1, "j", ("a", "b", "c", "d", "e"), (1, 2, 3, 3, 5), 4000)])
    assert votes.units.tolist() == pytest.approx([4.0])
    assert (len(votes.judge), votes.seconds.tolist(), votes.matches) == (10, [4.0], False)


def test_the_reason_counts_the_votes_and_what_the_others_predict() -> None:
    log: list[Judgment] = []
    for j in range(12):
        for k in range(60):
            pair = ("x", "y") if k % 2 else ("y", "x")
            wins = k < 30 or j == 0
            log.append(judgment(len(log), f"j{j}", pair, (1, 2) if (pair[0] == "x") == wins else (2, 1)))
    (flagged,) = examine_judges(Votes.of(log)).flagged
    messages = {reason.kind: reason.message for reason in flagged.reasons}
    assert flagged.judge == "j0"
    assert messages["favours"] == "voted for x in 60 of 60 matches; the other judges' votes predict 30"
    assert messages["opposes"] == "voted against y in 60 of 60 matches; the other judges' votes predict 30"


def test_quiet_colluders_raise_an_alarm_on_their_system() -> None:
    report = examine_judges(simulate("quiet", 0.3, 17, systems=8, judges=100, judgments=6000).votes)
    assert [(alarm.system, alarm.against) for alarm in report.alarms] == [("s04", False)]
    assert "judges favour s04 more than the other judges' votes predict" in report.alarms[0].message
    assert judge_cautions(report)[0].code == "favoured_system"


def test_a_habit_that_all_judges_share_is_a_caution_and_nobody_is_flagged() -> None:
    votes = simulate("none", 0.0, 18, **SMALL).votes
    lucky = np.random.default_rng(3).random(len(votes.outcome)) < 0.3
    report = examine_judges(replace(votes, outcome=np.where(lucky, 1, votes.outcome)))
    assert report.flagged == ()
    assert report.position_bias is not None
    assert report.position_bias.share - report.position_bias.predicted == pytest.approx(0.16, abs=0.04)
    assert [caution.code for caution in judge_cautions(report)] == ["position_bias"]


def test_one_judge_with_many_judgments_is_a_caution() -> None:
    report = examine_judges(simulate("half", 0.0, 19, **SMALL).votes)
    codes = {caution.code: caution for caution in judge_cautions(report)}
    assert set(codes) == {"one_judge", "flagged_judges"}
    assert codes["one_judge"].message.startswith("One judge, j000, made 49%")
    assert codes["flagged_judges"].message.startswith("1 judge is flagged, with 49.")


def test_nothing_is_said_about_fewer_than_five_judges() -> None:
    attack = simulate("chosen", 0.25, 20, systems=5, judges=4, judgments=800)
    report = examine_judges(attack.votes)
    assert (report.tested, report.flagged) == (0, ())


def test_judges_who_differ_in_taste_widen_the_limit() -> None:
    random = np.random.default_rng(4)
    variance = random.uniform(1.0, 100.0, 4000)
    total = random.normal(0.0, np.sqrt(variance + 0.04 * variance**2))
    assert taste_of(total, variance) == pytest.approx(0.04, rel=0.15)
    assert taste_of(random.normal(0.0, np.sqrt(0.5 * variance)), variance) == 0.0


@pytest.mark.parametrize(
    ("least", "count", "chance"), [(0, 4, 0.3), (3, 9, 0.05), (30, 200, 0.05), (900, 10_000, 0.05)]
)
def test_the_binomial_tail_is_that_of_scipy(least: int, count: int, chance: float) -> None:
    assert binomial_tail(least, count, chance) == pytest.approx(stats.binom.sf(least - 1, count, chance), rel=1e-9)
