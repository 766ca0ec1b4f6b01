"""Controls: found by consensus, failed by being wrong or undecided, and judged by the published rule."""

from __future__ import annotations

from streams.events import Judgment
from streams.judges import Control, ControlResult, control_results, controls, failing
from tests.builders import judgment

RESEARCHERS = {f"researcher-{i}" for i in range(8)}


def researchers(prefer_a: int, prefer_b: int) -> list[Judgment]:
    votes = [(1, 2)] * prefer_a + [(2, 1)] * prefer_b
    return [judgment(k, judge=f"researcher-{k}", ranks=ranks) for k, ranks in enumerate(votes)]


def test_more_than_five_more_trusted_votes_make_a_control() -> None:
    assert controls(researchers(6, 0), trusted=RESEARCHERS) == {Control("segment", "a", "b")}
    assert controls(researchers(7, 1), trusted=RESEARCHERS) == {Control("segment", "a", "b")}
    assert controls(researchers(6, 1), trusted=RESEARCHERS) == frozenset()
    assert controls(researchers(0, 6), trusted=RESEARCHERS) == {Control("segment", "b", "a")}


def test_only_trusted_votes_count() -> None:
    assert controls(researchers(6, 0), trusted={"researcher-0"}) == frozenset()


def test_the_published_example_gives_the_published_controls() -> None:
    # Bojar et al. (2013), the task of section 3.2: M[i][j] researchers found i better than j.
    matrix = {
        "A": {"E": 3},
        "B": {"A": 5, "D": 1, "E": 5},
        "C": {"A": 6, "B": 6, "E": 6},
        "D": {"A": 6, "B": 8, "C": 5, "E": 6},
    }
    votes = [
        judgment(0, judge="researcher-0", systems=(better, worse))
        for better, row in matrix.items()
        for worse, count in row.items()
        for _ in range(count)
    ]
    found = {(control.better, control.worse) for control in controls(votes, trusted=RESEARCHERS)}
    assert found == {("C", "A"), ("C", "B"), ("C", "E"), ("D", "A"), ("D", "B"), ("D", "E")}


def test_a_wrong_preference_and_a_tie_fail_and_other_segments_do_not_count() -> None:
    known = {Control("segment", "a", "b")}
    answers = [
        judgment(1, judge="x"),
        judgment(2, judge="x", ranks=(2, 1)),
        judgment(3, judge="x", systems=("c", "b", "a"), ranks=(1, 2, 2)),
        judgment(4, judge="x", segment="elsewhere", ranks=(2, 1)),
        judgment(5, judge="y", systems=("b", "a"), ranks=(2, 1)),
    ]
    assert control_results(answers, known) == {"x": ControlResult(3, 2), "y": ControlResult(1, 0)}


def test_the_rule_can_be_set() -> None:
    results = {"x": ControlResult(4, 2)}
    assert failing(results) == frozenset()
    assert failing(results, least=4, share=0.4) == {"x"}
