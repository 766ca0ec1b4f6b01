"""The measures of `judgestream measure`, against hand computation and the definitions of the WMT13 findings."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from streams.errors import ParameterError
from streams.lab.measures.classes import label_scores
from streams.lab.measures.correlation import spearman
from streams.lab.measures.delta_avg import delta_avg
from streams.lab.measures.errors import mean_absolute_error, root_mean_squared_error


def test_errors_are_those_of_a_hand_computation() -> None:
    predicted, gold = np.array([3.0, -0.5, 2.0, 7.0]), np.array([2.5, 0.0, 2.0, 8.0])
    assert mean_absolute_error(predicted, gold) == 0.5  # (.5 + .5 + 0 + 1) / 4
    assert root_mean_squared_error(predicted, gold) == pytest.approx(sqrt(0.375))  # (.25 + .25 + 0 + 1) / 4


def test_labels_are_scored_as_in_the_example_of_the_findings() -> None:
    # Section 6.6: of 30 words to keep, 10 were predicted so, and of 70 to change, 40.
    gold = ["K"] * 30 + ["C"] * 70
    predicted = ["K"] * 10 + ["C"] * 20 + ["K"] * 30 + ["C"] * 40
    found = label_scores(predicted, gold)
    change, keep = found.classes
    assert (keep.true_positives, keep.false_positives, keep.false_negatives) == (10, 30, 20)
    assert (change.true_positives, change.false_positives, change.false_negatives) == (40, 20, 30)
    assert (keep.precision, keep.recall) == (10 / 40, 10 / 30)
    assert keep.f1 == pytest.approx(2 * (1 / 4) * (1 / 3) / (1 / 4 + 1 / 3))
    assert change.f1 == pytest.approx(2 * (2 / 3) * (4 / 7) / (2 / 3 + 4 / 7))
    assert found.macro_f1 == pytest.approx((keep.f1 + change.f1) / 2)
    # precision = (10 + 40) / ((10 + 30) + (40 + 20)), and recall is the same
    assert found.micro_f1 == found.accuracy == 0.5


def test_one_class_for_everything_scores_as_the_baseline_of_tables_19_and_20() -> None:
    # 71 % of the words are to be kept: accuracy .71, F1 .83 and 0, macro F1 .42 for two classes and .28 for three.
    two = label_scores(["K"] * 100, ["K"] * 71 + ["C"] * 29)
    three = label_scores(["K"] * 100, ["K"] * 71 + ["S"] * 27 + ["D"] * 2)
    assert [round(one.f1, 2) for one in two.classes] == [0.0, 0.83]
    assert (two.accuracy, round(two.macro_f1, 2)) == (0.71, 0.42)
    assert (round(three.micro_f1, 2), round(three.macro_f1, 2)) == (0.71, 0.28)


def test_a_class_that_is_only_predicted_counts_with_an_f1_of_zero() -> None:
    found = label_scores(["a", "b"], ["a", "a"])
    assert [(one.label, round(one.f1, 3)) for one in found.classes] == [("a", 0.667), ("b", 0.0)]
    assert found.macro_f1 == pytest.approx(1 / 3)


def test_delta_avg_is_the_definition_of_the_findings_by_sums() -> None:
    random = np.random.default_rng(3)
    for size in (4, 7, 12, 25):
        hypothesis, values = random.permutation(size).astype(float), random.normal(size=size)
        ranked = [values[k] for k in sorted(range(size), key=lambda k: -hypothesis[k])]
        deltas = []
        for n in range(2, size // 2 + 1):
            heads = [ranked[: k * (size // n)] for k in range(1, n)]
            deltas.append(sum(sum(head) / len(head) for head in heads) / (n - 1) - sum(ranked) / size)
        assert delta_avg(hypothesis, values) == pytest.approx(sum(deltas) / len(deltas))


def test_equal_values_share_their_mean_rank() -> None:
    # ranks 1.5, 1.5, 3, 4 against 1, 2, 3, 4: rho = 4.5 / sqrt(4.5 * 5)
    assert spearman(np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(sqrt(0.9))


@pytest.mark.parametrize("measure", [mean_absolute_error, root_mean_squared_error])
def test_two_columns_of_different_length_are_refused(measure: object) -> None:
    assert callable(measure)
    with pytest.raises(ParameterError, match="pass one or more of each"):
        measure(np.zeros(2), np.zeros(3))


def test_labels_without_a_partner_are_refused() -> None:
    with pytest.raises(ParameterError, match="2 predicted and 1 gold labels"):
        label_scores(["a", "b"], ["a"])
