"""When a campaign asks for matches, and in which order it shows their systems."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from streams.core.campaign.campaign import Campaign
from streams.wire import events
from tests.builders import NOON, judgment


def opened(systems: int, **settings: object) -> Campaign:
    campaign = Campaign("c")
    names = tuple(f"s{k:02}" for k in range(systems))
    given = events.CampaignSettings(systems=names, replicas=0, **settings)  # type: ignore[arg-type]
    campaign.apply([0], [events.Create(id="create", campaign="c", at=NOON, settings=given)])
    return campaign


def judge(campaign: Campaign, systems: tuple[str, ...], ranks: tuple[int, ...], request: str | None = None) -> int:
    """Apply one judgment. Return the number of new requests."""
    number = campaign.offset + 1
    return len(campaign.apply([number], [judgment(number, systems=systems, ranks=ranks, request=request)]).requests)


def answer(campaign: Campaign) -> int:
    """Answer the oldest request. Return how many others came in its place."""
    request = next(iter(campaign.outstanding.values()))
    return judge(campaign, request.systems, (1, 2), request.id)


@pytest.mark.parametrize("policy", ["uniform", "variance", "information"])
def test_the_order_in_which_systems_are_shown_is_random(policy: str) -> None:
    campaign = opened(8, policy=policy, outstanding=100)
    shown = [request.systems for request in campaign.outstanding.values()]
    assert 30 < sum(first < second for first, second in shown) < 70
    again = [request.systems for request in opened(8, policy=policy, outstanding=100).outstanding.values()]
    assert shown == again


def test_the_baseline_is_shown_first_as_often_as_second() -> None:
    campaign = opened(8, model="grm", baseline="s03", outstanding=100)
    first = sum(request.systems[0] == "s03" for request in campaign.outstanding.values())
    assert 30 < first < 70
    assert all("s03" in request.systems for request in campaign.outstanding.values())


def test_with_few_systems_each_answer_is_followed_by_a_request() -> None:
    campaign = opened(12, outstanding=6)
    assert [answer(campaign) for _ in range(4)] == [1, 1, 1, 1]


def test_with_many_systems_requests_are_chosen_several_at_a_time() -> None:
    campaign = opened(60, outstanding=10)
    assert [answer(campaign) for _ in range(6)] == [0, 0, 3, 0, 0, 3]


def test_at_most_half_of_the_requests_are_missing() -> None:
    campaign = opened(100, outstanding=3)
    assert [answer(campaign) for _ in range(4)] == [0, 2, 0, 2]


def test_a_budget_is_spent_to_the_end_with_many_systems() -> None:
    campaign = opened(80, outstanding=10, budget=13)
    while campaign.outstanding:
        answer(campaign)
    assert campaign.counts.judgments == 13


def test_outcomes_steer_the_requests() -> None:
    """The order of all but the last two is known."""
    campaign = opened(5, outstanding=1)
    for _ in range(30):
        for a, b in combinations(range(5), 2):
            judge(campaign, (f"s{a:02}", f"s{b:02}"), (1, 1) if a == 3 else (1, 2))
    seen: Counter[frozenset[str]] = Counter()
    for _ in range(20):
        (request,) = campaign.outstanding.values()
        seen[frozenset(request.systems)] += 1
        judge(campaign, request.systems, (1, 1) if "s00" not in request.systems else (1, 2), request.id)
    assert seen.most_common(1)[0][0] == frozenset({"s03", "s04"})
