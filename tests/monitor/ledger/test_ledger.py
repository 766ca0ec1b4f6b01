"""The ledger in memory and the one in Redis keep the same promises."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import pytest

from streams.monitor.ledger.base import MOST_PAIR_SAMPLES, MOST_SAMPLES, Ledger, Offer, PairSample, Sample
from streams.monitor.ledger.memory import MemoryLedger
from streams.monitor.ledger.redis import RedisLedger
from streams.stores.redis.client import Client
from tests.builders import NOON


@dataclass
class Case:
    """A ledger, another monitor's view of the same, and a way to let time pass."""

    ledger: Ledger
    other: Ledger
    pass_time: Callable[[float], None]


@pytest.fixture(
    params=[
        "memory",
        pytest.param("redis", marks=pytest.mark.integration),
        pytest.param("cluster", marks=pytest.mark.integration),
    ]
)
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    if request.param == "memory":
        now = [0.0]

        def pass_time(seconds: float) -> None:
            now[0] += seconds

        ledger = MemoryLedger(clock=lambda: now[0])
        yield Case(ledger, ledger, pass_time)
        return
    url = request.getfixturevalue("servers").redis if request.param == "redis" else request.getfixturevalue("cluster")
    clients = [Client(url), Client(url)]
    one, other = (RedisLedger(client, namespace=request.getfixturevalue("namespace")) for client in clients)
    yield Case(one, other, time.sleep)  # the server's own clock can't be moved
    for client in clients:
        client.close()


def sample(sequence: int) -> Sample:
    return Sample(sequence=sequence, judgments=sequence, at=NOON, rows={"a": (0.5, 0.1, 1), "b": (-0.5, 0.1, 2)})


def pair_sample(sequence: int) -> PairSample:
    return PairSample(sequence=sequence, judgments=sequence, systems=("a", "b", "c"), met=(sequence, 0, 1))


def test_what_one_monitor_notes_the_other_reads(case: Case) -> None:
    assert case.ledger.add_sample("c", sample(1))
    assert case.ledger.add_pair_sample("c", pair_sample(1))
    assert case.other.samples("c") == [sample(1)]
    assert case.other.pair_samples("c") == [pair_sample(1)]
    assert case.other.samples("d") == []
    assert case.other.pair_samples("d") == []


def test_a_sample_that_is_not_newer_is_not_kept(case: Case) -> None:
    assert case.ledger.add_sample("c", sample(10))
    assert not case.other.add_sample("c", sample(10))
    assert not case.other.add_sample("c", sample(9))
    assert case.ledger.samples("c") == [sample(10)]


def test_a_history_stays_bounded_spread_over_the_campaign_and_keeps_its_beginning(case: Case) -> None:
    kept = [case.ledger.add_sample("c", sample(number)) for number in range(1, 3001)]
    sequences = [each.sequence for each in case.other.samples("c")]
    assert sequences[0] == 1
    assert MOST_SAMPLES / 2 <= len(sequences) <= MOST_SAMPLES
    assert sequences == sorted(sequences)
    gaps = [after - before for before, after in pairwise(sequences)]
    assert max(gaps) <= 3000 / MOST_SAMPLES * 4
    assert sequences[-1] > 2980
    assert sum(kept) < 3000


def test_the_pairs_are_sampled_more_seldom(case: Case) -> None:
    for number in range(1, 200):
        case.ledger.add_pair_sample("c", pair_sample(number))
    found = case.ledger.pair_samples("c")
    assert MOST_PAIR_SAMPLES / 2 <= len(found) <= MOST_PAIR_SAMPLES
    assert min(abs(each.sequence - 100) for each in found) < 20


def test_a_campaign_that_was_begun_anew_has_a_new_history(case: Case) -> None:
    for number in (100, 200, 300):
        case.ledger.add_sample("c", sample(number))
    assert case.ledger.add_sample("c", sample(3))
    assert [each.sequence for each in case.ledger.samples("c")] == [3]


def test_every_ledger_keeps_the_same_samples(case: Case) -> None:
    random = np.random.default_rng(7)
    steps = random.integers(0, 9, size=1500).tolist()
    sequences = [*accumulate(steps), 40, 41, 43, *range(60, 700, 3)]  # the campaign is started again at 40
    expected = MemoryLedger(clock=lambda: 0.0)
    for sequence in sequences:
        assert case.ledger.add_sample("c", sample(sequence)) == expected.add_sample("c", sample(sequence))
        assert case.ledger.add_pair_sample("c", pair_sample(sequence)) == expected.add_pair_sample(
            "c", pair_sample(sequence)
        )
    assert case.ledger.samples("c") == expected.samples("c")
    assert case.ledger.pair_samples("c") == expected.pair_samples("c")


OFFERS = [Offer("r1", "m1"), Offer("r2", "m2"), Offer("r3", "m1")]


def lease(ledger: Ledger, offers: list[Offer], judge: str, *, count: int = 1, seconds: float = 60) -> list[str]:
    return [each.request for each in ledger.lease("c", offers, judge=judge, count=count, seconds=seconds)]


def test_a_request_is_leased_to_one_judge_whichever_monitor_is_asked(case: Case) -> None:
    (first,) = case.ledger.lease("c", OFFERS, judge="x", count=1, seconds=60)
    assert first.request == "r1"
    assert 59 < first.seconds <= 60
    assert lease(case.other, OFFERS, "y") == ["r2"]
    assert case.other.holders("c", ["r1", "r2", "r3"]) == {"r1": "x", "r2": "y"}


def test_a_judge_who_asks_again_gets_the_same_one(case: Case) -> None:
    (first,) = case.ledger.lease("c", OFFERS, judge="x", count=1, seconds=60)
    (again,) = case.other.lease("c", OFFERS, judge="x", count=1, seconds=60)
    assert again.request == first.request
    assert again.seconds <= first.seconds


def test_a_judge_may_hold_several_and_those_that_they_hold_come_first(case: Case) -> None:
    offers = [Offer(f"r{number}", f"m{number}") for number in range(6)]
    assert lease(case.ledger, offers[2:], "x") == ["r2"]
    assert lease(case.ledger, offers, "x", count=3) == ["r2", "r0", "r1"]
    assert lease(case.other, offers, "x", count=2) == ["r0", "r1"]
    assert lease(case.other, offers, "y", count=9) == ["r3", "r4", "r5"]


def test_a_request_that_is_given_back_is_free_for_everybody(case: Case) -> None:
    assert lease(case.ledger, OFFERS[:1], "x") == ["r1"]
    assert not case.other.release("c", "r1", judge="y", again=True)
    assert case.other.release("c", "r1", judge="x", again=True)
    assert not case.other.release("c", "r1", judge="x", again=True)
    assert lease(case.ledger, OFFERS[:1], "x") == ["r1"]
    assert case.ledger.release("c", "r1", judge="x", again=True)
    assert lease(case.ledger, OFFERS[:1], "y") == ["r1"]


def test_a_request_that_is_skipped_is_free_for_all_others(case: Case) -> None:
    assert lease(case.ledger, OFFERS, "x") == ["r1"]
    assert case.ledger.release("c", "r1", judge="x", again=False)
    assert lease(case.other, OFFERS, "x", count=3) == ["r2"]  # r3 is the match of r1 again
    assert lease(case.other, OFFERS, "y") == ["r1"]


def test_who_has_answered_gets_the_next_and_nobody_the_answered_one(case: Case) -> None:
    lease(case.ledger, OFFERS, "x")
    case.ledger.complete("c", "r1", seconds=60)
    assert not case.ledger.release("c", "r1", judge="x", again=True)
    assert lease(case.other, OFFERS, "x") == ["r2"]
    assert lease(case.other, OFFERS, "y") == ["r3"]
    assert case.other.holders("c", ["r1"]) == {"r1": ""}


def test_a_judge_is_never_handed_the_same_match_twice(case: Case) -> None:
    for request in ("r1", "r2"):
        assert lease(case.ledger, OFFERS, "x") == [request]
        case.ledger.complete("c", request, seconds=60)
    assert lease(case.ledger, OFFERS, "x") == []  # r3 is the match of r1 again


def test_a_lease_that_ran_out_is_another_judge_s(case: Case) -> None:
    lease(case.ledger, OFFERS[:1], "x", seconds=0.05)
    assert lease(case.ledger, OFFERS[:1], "y") == []
    case.pass_time(0.1)
    assert lease(case.ledger, OFFERS[:1], "y") == ["r1"]


def test_leases_are_shown_while_they_last(case: Case) -> None:
    lease(case.ledger, OFFERS, "x")
    left = case.other.seconds_left("c", ["r1", "r2"])
    assert left.keys() == {"r1"}
    assert 59 < left["r1"] <= 60
    assert case.other.seconds_left("c", []) == {}
    assert case.other.holders("c", []) == {}


def test_free_requests_are_found_among_many_that_are_taken(case: Case) -> None:
    many = [Offer(f"r{number}", f"m{number}") for number in range(250)]
    for number in range(240):
        case.ledger.complete("c", f"r{number}", seconds=60)
    assert lease(case.ledger, many, "x", count=2) == ["r240", "r241"]


def test_a_judge_gets_the_same_requests_again_among_many_that_are_free(case: Case) -> None:
    many = [Offer(f"r{number}", f"m{number}") for number in range(250)]
    assert lease(case.ledger, many[240:], "x", count=2) == ["r240", "r241"]
    assert lease(case.other, many, "x", count=3) == ["r240", "r241", "r0"]


def test_all_monitors_know_a_session_until_it_ends(case: Case) -> None:
    case.ledger.add_session("one", "token-a", seconds=3600.0)
    case.other.add_session("two", "token-b", seconds=0.2)
    assert case.other.session_tokens(["one", "none"]) == ["token-a", None]
    case.pass_time(0.3)
    assert case.ledger.session_tokens(["one", "two"]) == ["token-a", None]
    case.other.end_session("one")
    case.other.end_session("none")
    assert case.ledger.session_tokens(["one"]) == [None]
    assert case.ledger.session_tokens([]) == []


def test_a_forgotten_judge_has_got_no_match(case: Case) -> None:
    assert lease(case.ledger, OFFERS[:2], "j", seconds=0.5) == ["r1"]
    assert lease(case.ledger, OFFERS[:2], "k") == ["r2"]
    case.ledger.forget_judge("c", "j")
    case.ledger.forget_judge("c", "nobody")
    case.pass_time(0.6)
    assert lease(case.other, OFFERS[:2], "j") == ["r1"], "the same match again"


def test_nothing_is_left_of_a_campaign_that_was_deleted(case: Case) -> None:
    for name in ("c", "c2"):
        case.ledger.add_sample(name, Sample(sequence=9, judgments=9, at=NOON, rows={}))
        assert case.ledger.lease(name, OFFERS[:1], judge="j", seconds=60.0, count=1)
    case.ledger.remove("c")
    case.ledger.remove("[a-z]*")
    assert (case.other.samples("c"), len(case.other.samples("c2"))) == ([], 1)
    assert case.other.seconds_left("c", ["r1"]) == {}
    assert case.other.seconds_left("c2", ["r1"])


def ask(ledger: Ledger, judge: str, *, count: int = 1, most: int = 100, seconds: float = 60.0) -> int:
    return ledger.ask("c", judge=judge, count=count, seconds=seconds, most=most)


def test_the_matches_that_judges_ask_for_are_counted_for_a_while(case: Case) -> None:
    assert [ask(case.ledger, "x"), ask(case.ledger, "x"), ask(case.other, "y", count=3)] == [1, 1, 4]
    assert case.other.asking("c", seconds=60) == 4
    assert case.other.asking("d", seconds=60) == 0
    case.pass_time(0.6)
    assert case.other.asking("c", seconds=0.5) == 0
    assert ask(case.ledger, "z", seconds=0.5) == 1


def test_however_many_judges_ask_the_count_is_bounded(case: Case) -> None:
    counts = [ask(case.ledger, f"judge-{number}", most=5) for number in range(12)]
    assert counts == [1, 2, 3, 4, *[5] * 8]


def test_a_token_begins_so_many_campaigns_within_a_day(case: Case) -> None:
    assert [case.ledger.begin_campaign("token", name, most=2) for name in ("a", "b", "a")] == [0.0, 0.0, 0.0]
    assert 0.0 < case.other.begin_campaign("token", "c", most=2) <= 86400.0
    assert case.other.begin_campaign("token", "c", most=3) == 0.0
    assert case.ledger.begin_campaign("other-token", "d", most=2) == 0.0


def test_the_next_day_a_token_begins_campaigns_again() -> None:
    now = [0.0]
    ledger = MemoryLedger(clock=lambda: now[0])
    assert ledger.begin_campaign("token", "a", most=1) == 0.0
    now[0] = 3600.0
    assert ledger.begin_campaign("token", "b", most=1) == 86400.0 - 3600.0
    now[0] = 86400.0
    assert ledger.begin_campaign("token", "b", most=1) == 0.0
