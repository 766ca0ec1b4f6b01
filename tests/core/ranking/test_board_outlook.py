"""The outlook of a board: which line comes next and what it needs, and when the stop rule is met."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from streams.core.ranking.board_outlook import FEWEST, board_outlook, scores_outlook
from streams.core.ranking.differences import Differences
from streams.core.ranking.line_forecast import LIKELY, line_probability, next_line
from streams.core.ranking.settled import settle
from streams.errors import ParameterError
from streams.wire.leaderboard import BoardOutlook
from tests.core.ranking.grouped import counted, drawn

CLOSE = {("a", "b"): (55, 0, 45), ("b", "c"): (90, 0, 10), ("a", "c"): (90, 0, 10)}


def test_the_next_line_is_named_with_the_judgments_that_it_needs() -> None:
    found = board_outlook(settle(counted(CLOSE)), judgments=300)
    assert (found.state, found.above, found.below) == ("open", "a", "b")
    assert found.judgments is not None
    assert found.judgments > 100
    assert found.message == f"About {found.judgments:,} more judgments until the next line, between a and b."


def test_where_every_line_is_drawn_the_board_is_settled() -> None:
    found = board_outlook(settle(counted({("a", "b"): (90, 0, 10), ("b", "c"): (90, 0, 10)})), judgments=200)
    assert (found.state, found.message) == ("settled", "Every line between two systems is drawn.")


def test_a_closed_campaign_and_a_spent_budget_are_told_apart_from_a_settled_board() -> None:
    board = settle(counted(CLOSE))
    closed = board_outlook(board, judgments=300, state="closed", budget=300)
    spent = board_outlook(board, judgments=300, budget=300)
    assert (closed.state, closed.message) == ("closed", "The campaign is closed.")
    assert (spent.state, spent.message) == ("budget_spent", "The budget of 300 judgments is spent.")


def test_what_the_rest_of_the_budget_can_not_part_is_settled() -> None:
    board = settle(counted({("a", "b"): (502, 0, 498), ("b", "c"): (900, 0, 100)}))
    short = board_outlook(board, judgments=2000, budget=2200)
    assert short.state == "settled"
    assert short.message == "The 200 judgments that remain are unlikely to draw one more line."
    assert board_outlook(board, judgments=2000, budget=40_000).state == "open"
    assert board_outlook(board, judgments=2000).state == "open"


def test_before_the_first_judgments_nothing_is_given_up() -> None:
    for judgments in range(6):
        board = settle(drawn(4, judgments) if judgments else counted({}, more="abcd"))
        assert board_outlook(board, judgments=judgments, budget=2000).state == "open"


@pytest.mark.parametrize("gap", [1.90, 1.95])
def test_no_line_that_is_missing_is_about_to_come(gap: float) -> None:
    found = scores_outlook(
        ["a", "b"], np.array([gap, 0.0]), Differences.independent(np.full(2, 0.5**0.5)), judgments=12
    )
    assert (found.state, found.judgments) == ("open", FEWEST)


def test_a_smaller_gap_needs_more_judgments() -> None:
    needed = [
        board_outlook(settle(counted({("a", "b"): (500 + k, 0, 500 - k)})), judgments=1000).judgments
        for k in (28, 24, 20, 16)
    ]
    assert None not in needed
    assert needed == sorted(needed, key=lambda each: each or 0)


def test_systems_without_a_gap_get_no_forecast() -> None:
    found = board_outlook(settle(counted({("a", "b"): (500, 0, 500)})), judgments=1000)
    assert (found.state, found.judgments) == ("open", None)
    assert "No further line can be foreseen" in found.message


def test_judges_who_disagree_are_not_outvoted_by_their_own_judgments() -> None:
    counts = counted({("a", "b"): (1242, 0, 1158)}, judges=12)
    counts.by_judge[0] = 0
    counts.by_judge[0, :12, 0] = [114] * 6 + [93] * 6
    counts.by_judge[0, :12, 2] = [86] * 6 + [107] * 6
    found = board_outlook(settle(counts), judgments=2400)
    assert found.state == "open"
    assert found.judges is not None
    assert found.judges > 12
    assert found.message.startswith(f"About {found.judges:,} more judges are needed until a line between a and b holds")


def test_a_dashed_line_asks_for_judges() -> None:
    counts = counted({("a", "b"): (780, 0, 420)}, judges=12)
    counts.by_judge[0] = 0
    counts.by_judge[0, :12, 0] = [90] * 8 + [15] * 4
    counts.by_judge[0, :12, 2] = [10] * 8 + [85] * 4
    found = board_outlook(settle(counts), judgments=1200)
    assert found.state == "settled"
    assert found.judges is not None
    assert f"About {found.judges:,} more judges are needed" in found.message


def test_islands_stay_open() -> None:
    board = settle(counted({("a", "b"): (90, 0, 10), ("c", "d"): (90, 0, 10)}))
    found = board_outlook(board, judgments=200, budget=1000)
    assert found.state == "open"
    assert "2 islands" in found.message


def test_a_hidden_system_holds_nothing_up() -> None:
    assert board_outlook(settle(counted(CLOSE)), judgments=300, shown=[0, 2]).state == "settled"


@pytest.mark.parametrize("confidence", [0.5, 1.0, 95.0])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(ParameterError, match=str(confidence)):
        board_outlook(settle(counted(CLOSE)), judgments=300, confidence=confidence)


def test_a_higher_confidence_wants_more_judgments() -> None:
    board = settle(counted({("a", "b"): (64, 0, 36)}))
    assert board_outlook(board, judgments=100, confidence=0.95).state == "settled"
    assert board_outlook(board, judgments=100, confidence=0.999).state == "open"


def test_scores_with_deviations_have_the_same_outlook() -> None:
    names, score = ["a", "b", "c"], np.array([0.2, 0.0, -3.0])

    def ahead(deviation: float) -> BoardOutlook:
        return scores_outlook(names, score, Differences.independent(np.full(3, deviation)), judgments=500)

    found = ahead(0.1)
    assert (found.state, found.above, found.below) == ("open", "a", "b")
    assert found.message == f"About {found.judgments:,} more judgments until the next line, between a and b."
    assert ahead(0.01).state == "settled"
    assert scores_outlook([], np.zeros(0), Differences.independent(np.zeros(0)), judgments=0).state == "settled"
    equal = scores_outlook(names, np.zeros(3), Differences.independent(np.zeros(3)), judgments=500)
    assert (equal.state, equal.judgments) == ("open", None)


def test_scores_of_which_nothing_is_known_are_not_given_up() -> None:
    unknown = Differences(variance=np.full((3, 3), np.inf), freedom=None, decided=None)
    found = scores_outlook(["a", "b", "c"], np.array([9.0, 1.0, 0.0]), unknown, judgments=3, budget=300)
    assert (found.state, found.judgments) == ("open", None)


def test_scores_whose_judges_differ_ask_for_judges() -> None:
    own, other = (Differences.independent(np.full(2, deviation)) for deviation in (0.1, 0.2))
    found = scores_outlook(["a", "b"], np.array([0.25, 0.0]), own, by_judge=other, judges=12, judgments=500)
    assert found.state == "open"
    assert f"About {found.judges:,} more judges are needed until a line between a and b holds" in found.message


@pytest.mark.parametrize("deviation", [0.1, 0.01])
def test_the_system_above_a_line_is_named_first_whatever_the_order_of_the_names(deviation: float) -> None:
    own, other = (Differences.independent(np.full(3, each)) for each in (deviation, 0.2))
    score = np.array([0.0, 9.0, 0.25])
    found = scores_outlook(["a", "b", "c"], score, own, by_judge=other, judges=12, judgments=500)
    assert found.state == ("open" if deviation == 0.1 else "settled")
    assert (found.above, found.below) == ("c", "a")
    assert "between c and a" in found.message


def test_a_forecast_is_the_growth_at_which_the_line_is_likely() -> None:
    score, differences = np.array([0.3, 0.0]), Differences.independent(np.array([0.15, 0.15]))
    order = np.arange(2)
    line = next_line(order, score, differences, confidence=0.95)
    assert line is not None
    growth = line.growth
    assert line_probability(order, score, differences, growth=growth, confidence=0.95) == pytest.approx(LIKELY)
    later = np.random.default_rng(1).normal(0.3, 0.15 * np.sqrt(2 * (1 - 1 / growth)), 20_000)
    limit = NormalDist().inv_cdf(0.975) * 0.15 * np.sqrt(2 / growth)
    assert (later > limit).mean() == pytest.approx(LIKELY, abs=0.02)


def test_a_line_waits_for_the_least_certain_difference_across_it() -> None:
    order, score = np.arange(3), np.array([0.8, 0.5, 0.0])
    line = next_line(order, score, Differences.independent(np.array([0.5, 0.01, 0.01])), confidence=0.95)
    assert line is not None
    assert (line.place, line.above, line.below) == (2, 0, 2)
    assert next_line(order, score, Differences.independent(np.full(3, 0.01)), confidence=0.95) is None


def test_a_line_is_the_same_in_any_order_of_the_systems() -> None:
    random = np.random.default_rng(5)
    score = np.sort(random.normal(size=7))[::-1].copy()
    root = random.normal(size=(7, 7))
    differences = Differences(variance=0.1 * np.abs(root + root.T), freedom=9, decided=random.integers(0, 40, 7))
    place = random.permutation(7)  # of each system in the other order
    index = np.argsort(place)
    others = differences.select(index)
    line = next_line(np.arange(7), score, differences, confidence=0.8)
    assert line is not None
    assert next_line(place, score[index], others, confidence=0.8) == line
    chances = [
        line_probability(order, own, by, growth=3.0, confidence=0.8)
        for order, own, by in ((np.arange(7), score, differences), (place, score[index], others))
    ]
    assert chances[0] == chances[1] > 0.0


def test_a_system_with_few_judgments_needs_as_many_as_a_binomial_test() -> None:
    certain = Differences(variance=np.full((2, 2), 1e-6), freedom=31, decided=np.array([3, 100]))
    line = next_line(np.arange(2), np.array([5.0, 0.0]), certain, confidence=0.95)
    assert line is not None
    assert line.growth == 2.0
