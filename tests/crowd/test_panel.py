"""The panel that answers on Kafka, and its kinds of judges."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from msgspec.structs import replace

from streams.core.models import Outcome
from streams.crowd import Judge, Panel, Skills, recruit
from streams.wire.decoding import decode
from streams.wire.events import EPOCH, MatchRequest, encode

CERTAIN = Skills({"a": 100.0, "b": 50.0, "c": 0.0, "d": -50.0})


def request(number: int, *, systems: tuple[str, ...] = ("b", "a")) -> MatchRequest:
    return MatchRequest(
        id=f"judgments.v1/0/7/{number}",
        campaign="c",
        systems=systems,
        segment="s",
        why="test",
        information=0.1,
        expires_at=EPOCH + timedelta(hours=1),
    )


def ranks(judge: Judge, systems: tuple[str, ...], *, draws: int = 400) -> Counter[tuple[int, ...]]:
    random = np.random.default_rng(1)
    return Counter(judge.rank(systems, CERTAIN.outcome, random=random) for _ in range(draws))


def test_the_answer_is_a_function_of_the_request_and_the_seed() -> None:
    def answers(seed: int, numbers: list[int]) -> dict[int, bytes]:
        judges = recruit(9, careless=0.3, random=np.random.default_rng(1))
        panel = Panel(judges=judges, truth=CERTAIN, seed=seed)
        return {number: encode(panel.answer(request(number), asked=EPOCH)) for number in numbers}

    numbers = list(range(60))
    assert answers(1, numbers) == answers(1, numbers[::-1])
    assert answers(1, numbers) != answers(2, numbers)


def test_the_answer_is_a_sound_judgment_of_the_request() -> None:
    panel = Panel(judges=[Judge(id="j")], truth=CERTAIN, seed=1)
    asked = replace(request(3, systems=("d", "a", "c", "b")), segment=None)
    answer = decode(encode(panel.answer(asked, asked=EPOCH)), max_bytes=10_000)
    assert answer == panel.answer(asked, asked=EPOCH)
    found = panel.answer(asked, asked=EPOCH)
    assert (found.request, found.systems, found.ranks) == (asked.id, asked.systems, (4, 1, 3, 2))
    assert found.at == EPOCH + timedelta(milliseconds=found.duration_ms or 0) > EPOCH


def test_every_judge_is_called() -> None:
    panel = Panel(judges=recruit(20, careless=0, random=np.random.default_rng(1)), truth=CERTAIN, seed=1)
    called = Counter(panel.answer(request(number), asked=EPOCH).judge for number in range(1000))
    assert len(called) == 20
    assert max(called.values()) < 100


def test_a_ranking_of_many_is_the_one_that_the_drawn_matches_agree_on() -> None:
    assert ranks(Judge(id="j"), ("c", "a", "d", "b")) == {(3, 1, 4, 2): 400}


def test_a_circle_of_wins_is_a_tie() -> None:
    better = {("a", "b"), ("b", "c"), ("c", "a")}
    sure = {True: Outcome(1.0, 0.0, 0.0), False: Outcome(0.0, 0.0, 1.0)}
    found = Judge(id="j").rank("abc", lambda a, b: sure[(a, b) in better], random=np.random.default_rng(1))
    assert found == (1, 1, 1)


def test_an_adversarial_judge_says_the_opposite() -> None:
    contrary = Judge(id="j", contrary=True)
    assert ranks(contrary, ("a", "b")) == {(2, 1): 400}
    assert ranks(contrary, ("c", "a", "d", "b")) == {(2, 4, 1, 3): 400}


def test_a_judge_biased_to_the_first_shown_puts_it_first_as_often_as_the_bias_says() -> None:
    found = ranks(Judge(id="j", bias=0.25), ("c", "a", "b"), draws=4000)
    assert set(found) == {(3, 1, 2), (1, 2, 3)}
    assert found[1, 2, 3] / 4000 == pytest.approx(0.25, abs=0.03)


def test_a_judge_with_a_favourite_puts_it_first_where_it_is_shown_and_is_fair_elsewhere() -> None:
    fan = Judge(id="j", bias=1.0, favourite="d")
    assert ranks(fan, ("a", "d")) == {(2, 1): 400}
    assert ranks(fan, ("a", "d", "c")) == {(2, 1, 3): 400}
    assert ranks(fan, ("b", "a")) == {(2, 1): 400}


def test_the_judges_are_of_the_asked_kinds_in_the_asked_shares() -> None:
    judges = recruit(
        40, careless=0.2, slow=0.1, biased=0.3, adversarial=0.05, favourite="a", random=np.random.default_rng(1)
    )
    careless = {judge.id for judge in judges if judge.carelessness}
    biased = {judge.id for judge in judges if judge.bias and judge.favourite == "a"}
    contrary = {judge.id for judge in judges if judge.contrary}
    assert (len(careless), len(biased), len(contrary)) == (8, 12, 2)
    assert len(careless | biased | contrary) == 22
    plain = recruit(40, careless=0.2, random=np.random.default_rng(1))
    slower = [judge for judge, same in zip(judges, plain, strict=True) if judge.seconds > 4 * same.seconds]
    assert len(slower) == 4
    assert {judge.id for judge in plain if judge.carelessness} == careless
