"""Truths: outcomes from skills and from real logs, and errors for unknown pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from streams.core.ranking import PairCounts
from streams.crowd import WMT13_FR_EN, Competition, Oracle, Skills, Truth
from streams.errors import FormatError, ParameterError
from tests.builders import crowd_log, judgment

LOG = crowd_log(400, systems=4, ways=3)
ORACLE = Oracle("log", PairCounts.of(LOG))
TRUTHS: dict[str, Truth] = {
    "win rates": Competition.load(WMT13_FR_EN),
    "skills": Skills.draw(5, random=np.random.default_rng(1)),
    "oracle": ORACLE,
}


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_the_outcomes_of_every_pair_are_probabilities_and_mirror_each_other(truth: Truth) -> None:
    for a in truth.systems:
        for b in truth.systems:
            if a != b:
                there, back = truth.outcome(a, b), truth.outcome(b, a)
                assert sum(there) == pytest.approx(1)
                assert min(there) >= 0
                assert tuple(there) == pytest.approx((back.loss, back.tie, back.win), abs=0.01)


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_a_system_that_is_not_known_is_named(truth: Truth) -> None:
    with pytest.raises(ParameterError, match="'stranger'"):
        truth.outcome("stranger", truth.systems[0])


def test_an_oracle_has_the_shares_of_the_log() -> None:
    met = [
        (ranks["system-0"] < ranks["system-2"], ranks["system-0"] == ranks["system-2"])
        for each in LOG
        if {"system-0", "system-2"} <= set(each.systems)
        for ranks in [dict(zip(each.systems, each.ranks or (), strict=True))]
    ]
    wins, ties = (sum(column) / len(met) for column in zip(*met, strict=True))
    assert ORACLE.outcome("system-0", "system-2") == pytest.approx((wins, ties, 1 - wins - ties))


def test_an_oracle_does_not_make_up_a_match_that_never_was() -> None:
    log = [judgment(1, systems=("a", "b")), judgment(2, systems=("b", "c"))]
    with pytest.raises(ParameterError, match="no judgment compares 'a' with 'c'"):
        Oracle("log", PairCounts.of(log)).outcome("a", "c")


def test_the_better_skill_wins_more_often_and_equal_ones_tie_in_a_fifth() -> None:
    skills = Skills({"a": 1.0, "b": 0.0, "c": 0.0})
    assert skills.outcome("a", "b").win > 3 * skills.outcome("a", "b").loss
    assert skills.outcome("b", "c") == pytest.approx((0.4, 0.2, 0.4))


def test_the_systems_stand_in_the_order_of_their_skills() -> None:
    assert Skills({"worst": -1.0, "best": 2.0, "middle": 0.0}).systems == ("best", "middle", "worst")


def test_skills_are_read_from_a_csv(tmp_path: Path) -> None:
    file = tmp_path / "skills.csv"
    file.write_text('uedin,0.5\n"a, b",-1\n\n')
    assert Skills.read(file).skills == {"uedin": 0.5, "a, b": -1.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,1\nb\n", "skills.csv:2: 'b' is not system,skill"),
        ("a,1\nb,high\n", "skills.csv:2: 'b,high' is not system,skill"),
        ("a,1\nb,nan\n", "skills.csv:2: 'b,nan' is not system,skill"),
        ("a,1\na,2\n", "skills.csv:2: the system 'a' is listed twice"),
        ("a,1\n", "a match needs two systems"),
    ],
)
def test_a_wrong_line_of_skills_is_named(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "skills.csv"
    file.write_text(text)
    with pytest.raises(FormatError, match=words):
        Skills.read(file)


def test_skills_that_can_not_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"nowhere\.csv: can't be read"):
        Skills.read(tmp_path / "nowhere.csv")
