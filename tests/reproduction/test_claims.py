"""A verdict follows from the numbers, so other results make other sentences."""

from __future__ import annotations

import pytest

from reproduction.claims import (
    Claim,
    Expected,
    claims_table,
    count_verdicts,
    describe,
    error_of_runs,
    format_signed,
    is_sure,
    judge,
    subtract,
)
from reproduction.sections import SECTIONS
from reproduction.stored import read_results
from streams.lab.experiments import Estimate, Result


@pytest.mark.parametrize(
    ("expected", "mean", "verdict"),
    [
        ("above", 0.021, "holds"),
        ("above", 0.019, "not seen"),
        ("above", -0.019, "not seen"),
        ("above", -0.021, "reversed"),
        ("below", -0.021, "holds"),
        ("below", 0.021, "reversed"),
        ("equal", 0.019, "no difference"),
        ("equal", -0.021, "differs"),
    ],
)
def test_a_verdict_is_sure_beyond_two_standard_errors(expected: Expected, mean: float, verdict: str) -> None:
    assert judge(expected, Estimate(mean, 0.01, 10)) == verdict


def test_a_value_without_an_error_is_sure_unless_it_is_zero() -> None:
    assert is_sure(Estimate(0.001, None, 1))
    assert not is_sure(Estimate(0.0, None, 1))


def test_differences_are_told_in_words_with_their_error() -> None:
    assert describe(Estimate(0.0124, 0.004, 5)) == "higher by .012 ± .004"
    assert describe(Estimate(-0.0124, 0.004, 5)) == "lower by .012 ± .004"
    assert describe(Estimate(0.005, 0.004, 5)) == "no difference beyond two standard errors (+.005 ± .004)"
    assert format_signed(Estimate(0.5, None, 1), 1) == "+.5"


def test_the_errors_of_both_sides_count() -> None:
    gap = subtract(Estimate(0.5, 0.03, 9), Estimate(0.4, 0.04, 9))
    assert gap.mean == pytest.approx(0.1)
    assert gap.error == pytest.approx(0.05)
    assert subtract(Estimate(0.5, 0.03, 9), Estimate(0.4, None, 1)).error == pytest.approx(0.03)
    assert subtract(Estimate(0.5, None, 9), Estimate(0.4, None, 1)).error is None
    assert error_of_runs(Estimate(0.0, 0.001, 400), 4) == pytest.approx(0.01)
    assert error_of_runs(Estimate(0.0, None, 1), 4) is None


def claim(ours: Estimate, theirs: Estimate | None = None) -> Claim:
    return Claim(
        paper="sakaguchi2014", quote="accuracy", measured="m", expected="above", ours=ours, theirs=theirs, digits=2
    )


def test_the_table_shows_the_sentence_once_and_both_numbers() -> None:
    first = claim(Estimate(0.01, 0.01, 4), Estimate(0.08, 0.02, 10))
    second = claim(Estimate(0.05, 0.01, 4), Estimate(0.04, None, 10))
    rows = claims_table([first, second, claim(Estimate(0.05, 0.01, 4))]).texts()
    assert rows[0][0].startswith("“[TrueSkill] outperforms Expected Win")
    assert rows[0][2:] == ("+.08 ± .02", "+.01 ± .01", "not seen", "lower by .07 ± .02")
    assert (rows[1][0], rows[1][5]) == ("”", "same (+.01 ± .01), our error only")
    assert rows[2][2:] == ("not given", "+.05 ± .01", "holds", "")
    assert count_verdicts([first, second])["holds"] == 1


def test_other_results_make_another_verdict() -> None:
    section = next(one for one in SECTIONS if one.name == "ways")
    results = read_results(section.name).results
    before = [one.verdict for one in section.claims(results)]
    turned = [Result(one.cell, one.measured | {"accuracy": 1.0 - one.measured["accuracy"]}) for one in results]
    after = [one.verdict for one in section.claims(turned)]
    swap = {"holds": "reversed", "reversed": "holds"}
    assert "holds" in before
    assert after == [swap.get(verdict, verdict) for verdict in before]
