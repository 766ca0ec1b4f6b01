"""Krippendorff's alpha against his worked example, and its bounds."""

from __future__ import annotations

import numpy as np
import pytest

from streams.agreement.agreement_rows import agreement_rows
from streams.agreement.alpha import nominal_alpha, outcome_alpha, score_alpha
from streams.agreement.fleiss import fleiss_kappa_of_outcomes
from streams.agreement.score_agreement import score_agreement_rows
from streams.wire.events import EPOCH, Judgment
from tests.builders import judgment

# Four observers, twelve units (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C).
EXAMPLE = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
VALUES = [line.split() for line in EXAMPLE.split("\n") if line]
SCORES = [(unit, float(cell)) for line in VALUES for unit, cell in enumerate(line) if cell != "."]
UNITS, GIVEN = np.array([unit for unit, _ in SCORES]), np.array([score for _, score in SCORES])


def test_the_published_example_comes_out_on_every_level() -> None:
    counts = np.zeros((12, 5), np.int64)
    for unit, score in SCORES:
        counts[unit, int(score) - 1] += 1
    nominal = nominal_alpha(counts, np.arange(12))
    assert nominal.value == pytest.approx(0.743, abs=0.0005)
    assert nominal.units == 11  # one unit has one observer
    assert score_alpha(UNITS, GIVEN, UNITS, level="ordinal").value == pytest.approx(0.815, abs=0.0005)
    interval = score_alpha(UNITS, GIVEN, UNITS, level="interval")
    assert interval.value == pytest.approx(0.849, abs=0.0005)
    assert interval.units == 11
    assert interval.low < interval.value < interval.high <= 1.0


def test_alpha_does_not_depend_on_the_scale_and_ordinal_not_on_its_steps() -> None:
    for level in ("interval", "ordinal"):
        expected = score_alpha(UNITS, GIVEN, UNITS, level=level)
        assert score_alpha(UNITS, 1e6 + 20 * GIVEN, UNITS, level=level) == pytest.approx(expected)
    assert score_alpha(UNITS, GIVEN**5, UNITS, level="ordinal") == pytest.approx(
        score_alpha(UNITS, GIVEN, UNITS, level="ordinal")
    )


def test_there_is_no_alpha_without_two_judges_or_with_one_value() -> None:
    alone = np.arange(4)
    assert np.isnan(score_alpha(alone, np.ones(4), alone, level="interval").value)
    same = score_alpha(np.array([0, 0, 1, 1]), np.ones(4), np.array([0, 0, 1, 1]), level="interval")
    assert np.isnan(same.value)
    assert same.units == 2
    assert np.isnan(nominal_alpha(np.array([[2, 0], [3, 0]]), np.arange(2)).value)
    one_group = score_alpha(UNITS, GIVEN, np.zeros_like(UNITS), level="interval")
    assert one_group.value == pytest.approx(0.849, abs=0.0005)
    assert np.isnan(one_group.low)


def test_the_bounds_hold_the_true_value_as_often_as_they_say() -> None:
    """Two judges see the same output with noise of the same variance: alpha is one half."""
    random = np.random.default_rng(3)
    units = np.repeat(np.arange(80), 2)
    held = 0
    for _ in range(60):
        values = random.normal(0, 1, 80)[units] + random.normal(0, 1, 160)
        found = score_alpha(units, values, units, level="interval")
        held += found.low <= 0.5 <= found.high
    assert 50 <= held <= 60


def test_alpha_of_outcomes_is_nearly_fleiss_kappa_if_items_have_as_many_judges() -> None:
    """Both compare with chance; alpha corrects for the number of values."""
    random = np.random.default_rng(1)
    counts = random.multinomial(3, [0.6, 0.1, 0.3], 500)
    assert outcome_alpha(counts, np.arange(500)).value == pytest.approx(fleiss_kappa_of_outcomes(counts), abs=0.001)


def test_a_log_of_rankings_has_alpha_beside_kappa() -> None:
    log = [
        judgment(4 * k + j, systems=("a", "b"), ranks=(1, 2) if k % 3 else (2, 1), segment=f"s{k}", judge=f"j{j}")
        for k in range(10)
        for j in range(2)
    ]
    flipped = [*log[:-1], judgment(999, systems=("a", "b"), ranks=(1, 2), segment="s9", judge="j1")]
    for judgments, expected in ((log, 1.0), (flipped, 1 - 0.1 / (20 / 39))):
        inter = next(row for row in agreement_rows({"c": judgments}, {}) if row.kind == "inter")
        intra = next(row for row in agreement_rows({"c": judgments}, {}) if row.kind == "intra")
        assert inter.alpha == pytest.approx(expected)  # 1 of 10 items differs; 40 values in both directions
        assert inter.alpha_low is not None
        assert inter.alpha_low <= expected
        assert intra.alpha is None
    two = agreement_rows({"c": log, "d": flipped}, {})
    every = next(row for row in two if row.campaign is None and row.kind == "inter")
    assert every.alpha == pytest.approx(1 - 0.05 / (40 / 79))


def test_a_log_of_scores_has_one_row_per_campaign_and_level() -> None:
    observers = [
        Judgment(id=f"{o}-{u}", campaign="c", segment=str(u), judge=str(o), systems=("s",), score=float(cell), at=EPOCH)
        for o, line in enumerate(VALUES)
        for u, cell in enumerate(line)
        if cell != "."
    ]
    again = Judgment(id="x", campaign="c", segment="0", judge="0", systems=("s",), score=5.0, at=EPOCH)
    rows = score_agreement_rows({"c": [*observers, again], "rankings": [judgment(1)]})
    assert [(row.campaign, row.level, row.judges, row.outputs, row.compared) for row in rows] == [
        ("c", "interval", 4, 12, 11),
        ("c", "ordinal", 4, 12, 11),
    ]
    assert [row.alpha for row in rows] == pytest.approx([0.849, 0.815], abs=0.0005)
