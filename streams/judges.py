"""Judges under test: controls on which those who are trusted agree, and who fails them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from streams.events import Judgment


class Control(NamedTuple):
    """A pair of outputs of one segment of which one is plainly better."""

    segment: str
    better: str
    worse: str


class ControlResult(NamedTuple):
    """How a judge did: `failed` of the controls `met` were not won by the better output, be it by a tie."""

    met: int
    failed: int


def controls(judgments: Iterable[Judgment], *, trusted: Collection[str], consensus: int = 5) -> frozenset[Control]:
    """Find the pairs on which trusted judges preferred one output more than `consensus` times more often.

    Bojar et al. (2013), section 3.2: |M_ij - M_ji| > 5, where M_ij counts the researchers who found i better than j.
    """
    preferred: Counter[Control] = Counter()
    for judgment in judgments:
        if judgment.judge in trusted:
            preferred.update(control for control, order in _pairs(judgment) if order < 0)
    return frozenset(
        control
        for control, count in preferred.items()
        if count - preferred[control._replace(better=control.worse, worse=control.better)] > consensus
    )


def control_results(judgments: Iterable[Judgment], known: Collection[Control]) -> dict[str, ControlResult]:
    """Count, for each judge who met any, the controls met and failed."""
    met: defaultdict[str, int] = defaultdict(int)
    failed: defaultdict[str, int] = defaultdict(int)
    for judgment in judgments:
        for control, order in _pairs(judgment):
            if control in known:
                met[judgment.judge] += 1
                failed[judgment.judge] += order >= 0
    return {judge: ControlResult(count, failed[judge]) for judge, count in met.items()}


def failing(results: Mapping[str, ControlResult], *, least: int = 10, share: float = 0.5) -> frozenset[str]:
    """Name the judges who met at least so many controls and failed more than this share of them.

    >>> sorted(failing({"a": ControlResult(10, 6), "b": ControlResult(10, 5), "c": ControlResult(9, 9)}))
    ['a']
    """
    return frozenset(judge for judge, (met, failed) in results.items() if met >= least and failed > share * met)


def _pairs(judgment: Judgment) -> Iterator[tuple[Control, int]]:
    """Give each pair both ways round, with the order of its first: below 0 is better, 0 is a tie."""
    for (a, rank_a), (b, rank_b) in combinations(zip(judgment.systems, judgment.ranks or (), strict=False), 2):
        yield Control(judgment.segment, a, b), rank_a - rank_b
        yield Control(judgment.segment, b, a), rank_b - rank_a
