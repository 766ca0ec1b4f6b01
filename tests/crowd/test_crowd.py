"""Judges and the crowd, with requests that the tests create."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import numpy as np
import pytest

from streams.core.models import Outcome
from streams.crowd import WMT13_FR_EN, Competition, Crowd, Judge, recruit
from streams.wire.events import EPOCH, Judgment, MatchRequest

WMT13 = Competition.load(WMT13_FR_EN)
CERTAIN = Outcome(win=1.0, tie=0.0, loss=0.0)


def request(number: int, *, seconds: float = 3600.0) -> MatchRequest:
    return MatchRequest(
        id=f"r{number}",
        campaign="c",
        systems=("KIT", "JHU"),
        segment="s",
        why="test",
        information=0.1,
        expires_at=EPOCH + timedelta(seconds=seconds),
    )


def crowd(judges: int, *, seed: int = 1) -> Crowd:
    random = np.random.default_rng(seed)
    return Crowd(recruit(judges, careless=0.2, random=random), WMT13, start=EPOCH, random=random)


def drain(crowd: Crowd) -> list[Judgment]:
    return crowd.answer(10_000)


def outcomes(judge: Judge, outcome: Outcome, draws: int) -> list[float]:
    random = np.random.default_rng(1)
    drawn = [judge.ranks(outcome, random=random) for _ in range(draws)]
    return [drawn.count(ranks) / draws for ranks in ((1, 2), (1, 1), (2, 1))]


def test_a_careful_judge_wins_ties_and_loses_as_often_as_the_outcome_says() -> None:
    assert outcomes(Judge(id="j"), Outcome(0.6, 0.3, 0.1), 10_000) == pytest.approx([0.6, 0.3, 0.1], abs=0.02)


def test_a_careless_judge_answers_at_random_whatever_the_systems() -> None:
    careless = Judge(id="j", carelessness=1.0)
    assert outcomes(careless, CERTAIN, 10_000) == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=0.02)


def test_a_half_careless_judge_looks_half_of_the_time() -> None:
    half = Judge(id="j", carelessness=0.5)
    assert outcomes(half, CERTAIN, 10_000) == pytest.approx([2 / 3, 1 / 6, 1 / 6], abs=0.02)


def test_a_slow_judge_takes_longer() -> None:
    slow, fast = (
        Judge(id="j", seconds=seconds).duration_ms(random=np.random.default_rng(1)) for seconds in (60.0, 6.0)
    )
    assert slow == pytest.approx(10 * fast, abs=10)


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.2, 8), (1.0, 40)])
def test_the_asked_share_of_the_judges_is_careless(share: float, count: int) -> None:
    judges = recruit(40, careless=share, random=np.random.default_rng(1))
    assert sum(judge.carelessness for judge in judges) == count
    assert len({judge.id for judge in judges}) == 40


def test_the_same_seed_gives_the_same_judgments_and_another_one_others() -> None:
    def run(seed: int) -> list[Judgment]:
        people = crowd(5, seed=seed)
        people.ask([request(number) for number in range(50)])
        return drain(people)

    assert run(1) == run(1)
    assert [judgment.ranks for judgment in run(1)] != [judgment.ranks for judgment in run(2)]


def test_every_request_is_answered_once_with_its_own_systems_and_segment() -> None:
    people = crowd(5)
    people.ask([request(number) for number in range(50)])
    answers = drain(people)
    assert sorted(answer.request or "" for answer in answers) == sorted(f"r{number}" for number in range(50))
    assert len({answer.id for answer in answers}) == 50
    assert {(answer.campaign, answer.systems, answer.segment) for answer in answers} == {("c", ("KIT", "JHU"), "s")}


def test_answers_come_in_the_order_of_simulated_time_and_a_judge_does_one_at_a_time() -> None:
    people = crowd(3)
    people.ask([request(number) for number in range(60)])
    answers = drain(people)
    times = [answer.at for answer in answers]
    assert times == sorted(times)
    assert people.clock == times[-1]
    for judge in {answer.judge for answer in answers}:
        free = EPOCH
        for answer in answers:
            if answer.judge == judge:
                assert answer.duration_ms is not None
                assert answer.at - timedelta(milliseconds=answer.duration_ms) >= free
                free = answer.at


def test_no_more_answers_come_than_are_wanted_or_than_there_are() -> None:
    people = crowd(3)
    people.ask([request(number) for number in range(5)])
    assert [len(people.answer(2)) for _ in range(4)] == [2, 2, 1, 0]


def test_a_request_that_expired_while_it_waited_is_not_answered() -> None:
    people = crowd(1)
    people.ask([request(0), request(1, seconds=0.001), request(2)])
    assert [answer.request for answer in drain(people)] == ["r0", "r2"]


def test_a_cancelled_request_is_not_answered_and_its_judge_is_free() -> None:
    asked = crowd(2)
    asked.ask([request(number) for number in range(4)])  # two are being judged, two wait
    asked.ask([msgspec.structs.replace(request(number), cancelled=True) for number in (0, 3)])
    assert sorted(answer.request or "" for answer in drain(asked)) == ["r1", "r2"]
