"""A competition that is run again on an embedded stream."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from streams.crowd import WMT13_FR_EN, Competition, Simulation, SimulationStep, order_tau, overlaps
from streams.stores.commit import Outcomes
from streams.wire import topics
from streams.wire.events import Judgment, MatchRequest, Row

WMT13 = Competition.load(WMT13_FR_EN)


def held(
    *, judges: int = 10, careless: float = 0.2, budget: int = 300, seed: int = 1
) -> tuple[Simulation, list[SimulationStep]]:
    simulation = Simulation(WMT13, judges=judges, careless=careless, budget=budget, seed=seed)
    return simulation, list(simulation.steps())


def test_the_same_seed_gives_the_same_log_and_another_one_another() -> None:
    def log(seed: int) -> list[bytes | None]:
        return [record.value for record in held(seed=seed)[0].stream.log.all(topics.JUDGMENTS.name)]

    assert log(1) == log(1) != log(2)


@pytest.mark.parametrize(("judges", "budget"), [(10, 300), (10, 301), (7, 3), (1, 5), (40, 100)])
def test_exactly_the_budget_is_spent(judges: int, budget: int) -> None:
    simulation, _ = held(judges=judges, budget=budget)
    assert simulation.judgments == simulation.leaderboard().judgments == budget
    assert simulation.outstanding == 0


def test_every_judgment_answers_a_request_that_was_out() -> None:
    out: dict[str, MatchRequest] = {}
    for step in held()[1]:
        for answer in step.answers:
            assert answer.systems == out.pop(answer.request or "").systems
        out |= {request.id: request for request in step.requests}
        assert len(out) <= 10
    assert not out


def test_the_requests_are_those_of_the_log_and_so_are_the_judgments() -> None:
    simulation, steps = held()
    log = simulation.stream.log
    asked = [msgspec.json.decode(record.value or b"", type=MatchRequest) for record in log.all("match-requests.v1")]
    judged = [msgspec.json.decode(record.value or b"", type=Judgment) for record in log.all("judgments.v1")[1:]]
    assert asked == [request for step in steps for request in step.requests]
    assert judged == [answer for step in steps for answer in step.answers]


def test_nothing_is_rejected_or_a_duplicate() -> None:
    simulation, _ = held()
    assert simulation.stream.counts() == Outcomes(read=301, applied=301)


def test_every_judge_is_given_work() -> None:
    simulation, steps = held()
    work = Counter(answer.judge for step in steps for answer in step.answers)
    assert set(work) == {judge.id for judge in simulation.judges}


@pytest.mark.long
def test_more_judgments_of_careful_judges_come_closer_to_the_official_order_than_any_of_careless_ones() -> None:
    few, many, random = (
        simulation.tau(simulation.leaderboard())
        for simulation, _ in (held(careless=0.0), held(careless=0.0, budget=3000), held(careless=1.0, budget=3000))
    )
    assert few < many
    assert many > 0.75
    assert abs(random) < 0.6 < many


def test_tau_is_one_for_the_same_order_and_minus_one_for_the_reverse() -> None:
    assert order_tau(WMT13.systems, WMT13.systems) == 1
    assert order_tau(WMT13.systems[::-1], WMT13.systems) == -1


@pytest.mark.parametrize(("low", "high", "shared"), [(1, 1, 0), (1, 2, 1), (2, 2, 1), (3, 9, 1), (4, 9, 0)])
def test_a_range_overlaps_the_official_one_if_they_share_a_rank(low: int, high: int, shared: int) -> None:
    uedin = WMT13.official[1]
    assert (uedin.rank_low, uedin.rank_high) == (2, 3)
    row = Row(system="UEDIN", rank=2, rank_low=low, rank_high=high, cluster=1, score=0.0, deviation=0.1, judgments=1)
    assert overlaps([row], [uedin]) == shared
