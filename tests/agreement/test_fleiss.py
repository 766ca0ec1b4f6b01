"""Fleiss' kappa against published worked examples, and on the outcomes of a log."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from streams.agreement.agreement import strength_of
from streams.agreement.agreement_rows import agreement_rows
from streams.agreement.fleiss import fleiss_kappa, fleiss_kappa_of_outcomes, outcome_counts
from streams.core.methods.pairs import Pairs
from tests.builders import judgment

# Fleiss (1971), Table 1: 30 patients, each diagnosed by six psychiatrists, in five categories. Its kappa is .430.
DIAGNOSES = """
    00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
    00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
# The worked example of the article on Fleiss' kappa in Wikipedia: ten items, 14 judges each. Its kappa is .210.
EXAMPLE = [
    *((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1)),
    *((7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)),
]


@pytest.mark.parametrize(
    ("table", "published"),
    [([[int(digit) for digit in row] for row in DIAGNOSES.split()], 0.430), (EXAMPLE, 0.210)],
    ids=["Fleiss 1971", "14 judges"],
)
def test_published_examples_come_out(table: list[list[int]], published: float) -> None:
    assert fleiss_kappa(np.array(table)) == pytest.approx(published, abs=0.0005)


def test_items_with_fewer_than_two_judges_do_not_count() -> None:
    table = np.array(EXAMPLE)
    more = np.concatenate([table, [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]])
    assert fleiss_kappa(more) == fleiss_kappa(table)
    assert isnan(fleiss_kappa(np.array([[1, 0, 0]])))


def test_without_a_second_category_there_is_no_kappa() -> None:
    assert isnan(fleiss_kappa(np.array([[2, 0, 0], [3, 0, 0]])))


def test_with_different_numbers_of_judges_every_item_weighs_the_same() -> None:
    # P_i = 1 and 1/3, p = 4/5 and 1/5, so chance = .68
    assert fleiss_kappa(np.array([[2, 0], [2, 1]])) == pytest.approx((2 / 3 - 0.68) / 0.32)


def log_of(*outcomes: tuple[str, str, tuple[str, str], tuple[int, int]]) -> Pairs:
    return Pairs.of(
        judgment(k, segment=segment, judge=judge, systems=systems, ranks=ranks)
        for k, (segment, judge, systems, ranks) in enumerate(outcomes)
    )


def test_only_the_first_outcome_of_a_judge_counts_in_either_order_of_the_systems() -> None:
    pairs = log_of(
        ("s", "x", ("a", "b"), (1, 2)),
        ("s", "x", ("a", "b"), (2, 1)),
        ("s", "y", ("b", "a"), (2, 1)),
        ("s", "z", ("b", "a"), (1, 1)),
        ("t", "x", ("a", "b"), (1, 2)),
    )
    assert sorted(outcome_counts(pairs).tolist()) == [[1, 0, 0], [2, 1, 0]]


def test_the_names_of_the_systems_do_not_matter() -> None:
    counts = np.array([[3, 0, 0], [2, 1, 0], [0, 1, 2]])
    turned = counts.copy()
    turned[0] = turned[0, ::-1]
    assert fleiss_kappa_of_outcomes(turned) == fleiss_kappa_of_outcomes(counts)
    # P_i = 1, 1/3, 1/3; p = 7/18, 2/9, 7/18
    chance = 2 * (7 / 18) ** 2 + (2 / 9) ** 2
    assert fleiss_kappa_of_outcomes(counts) == pytest.approx((5 / 9 - chance) / (1 - chance))


def test_rows_have_fleiss_kappa_between_judges_and_the_words_for_kappa() -> None:
    logs = {
        name: [
            judgment(k, campaign=name, segment=segment, judge=judge, ranks=ranks)
            for k, (segment, judge, ranks) in enumerate(
                [("s", "x", (1, 2)), ("s", "y", (1, 2)), ("t", "x", (1, 1)), ("t", "y", last), ("u", "x", (1, 2))]
            )
        ]
        for name, last in (("c", (1, 1)), ("d", (2, 1)))
    }
    rows = {(row.campaign, row.kind): row for row in agreement_rows(logs, {}, rule="strict") if row.collapsed}
    assert rows["c", "inter"].fleiss_kappa == pytest.approx(1.0)
    assert rows["c", "inter"].fleiss_items == 2
    assert rows["c", "inter"].strength == "almost perfect"
    assert rows["c", "intra"].fleiss_kappa is None
    assert rows["c", "intra"].strength is None
    # all campaigns: P_i = 1, 1, 1, 0 and p_= = 3/8, so chance = (3/8)² + 2 (5/16)²
    chance = (3 / 8) ** 2 + 2 * (5 / 16) ** 2
    assert rows[None, "inter"].fleiss_kappa == pytest.approx((0.75 - chance) / (1 - chance))


@pytest.mark.parametrize(
    ("kappa", "words"),
    [
        (-0.01, "poor"),
        (0.0, "slight"),
        (0.2, "slight"),
        (0.21, "fair"),
        (0.41, "moderate"),
        (0.61, "substantial"),
        (0.81, "almost perfect"),
        (1.0, "almost perfect"),
    ],
)
def test_the_words_are_those_of_landis_and_koch(kappa: float, words: str) -> None:
    assert strength_of(kappa) == words
