"""Choose a baseline: from pair counts, or before any judgment from the scores of an automatic metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models.base import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class BaselineChoice:
    """The index of the chosen system, the information of every candidate, and the reason."""

    system: int
    information: Floats  # about one other system, from one comparison with the candidate by a judge with a = 1
    reason: str


def choose_baseline(wins: Ints, ties: Ints, *, names: Sequence[str] | None = None) -> BaselineChoice:
    """Choose the baseline with which the others' mean posterior variance falls fastest.

    Under the graded response model, a comparison that is won, tied and lost with probabilities w, t and l has the
    information I = w (1 - w)² + t (l - w)² + l (1 - l)² about the other system (Samejima 1968). I is large if both win
    about equally often, and small if the outcome is clear beforehand. With evenly distributed comparisons, the mean
    variance of the other systems is proportional to the mean of 1 / I, so a candidate's value is the harmonic mean of
    its I. The probabilities are the counted shares: wins[i, j] of i over j, ties on both sides. One extra comparison,
    with the candidate's overall shares, stabilises pairs that hardly met.

    >>> wins = np.array([[0, 9, 5], [1, 0, 1], [5, 9, 0]])
    >>> ties = np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]])
    >>> choose_baseline(wins, ties, names=["a", "b", "c"]).system
    0
    """
    if wins.shape != ties.shape or wins.ndim != 2 or wins.shape[0] != wins.shape[1]:
        raise ParameterError(f"wins and ties have shapes {wins.shape} and {ties.shape}; pass two square tables")
    count = len(wins)
    if count < 2:
        raise ParameterError(f"a baseline needs at least 2 systems; there are {count}")
    others = ~np.eye(count, dtype=np.bool_)
    counts = np.stack([wins, ties, wins.T]).astype(np.float64) * others  # from the view of the row's system
    totals = counts.sum(axis=2)
    overall = (totals + 1.0) / (totals + 1.0).sum(axis=0)
    counts = counts + overall[:, :, None]
    win, tie, loss = counts / counts.sum(axis=0)
    each = win * (1.0 - win) ** 2 + tie * (loss - win) ** 2 + loss * (1.0 - loss) ** 2
    information = (count - 1) / np.where(others, 1.0 / each, 0.0).sum(axis=1)
    best = int(np.argmax(information))
    shares = totals / np.maximum(1.0, totals.sum(axis=0))
    return BaselineChoice(system=best, information=information, reason=_reason(best, shares, information, names))


@dataclass(frozen=True, kw_only=True)
class ScoredBaseline:
    """The index of the chosen system, the distance of every score from the mean score, and the reason."""

    system: int
    distances: Floats
    reason: str


def choose_baseline_by_scores(scores: Floats, *, names: Sequence[str] | None = None) -> ScoredBaseline:
    """Choose the system whose score is closest to the mean of all systems, the first among equals.

    Before the first judgment there are no counts, but there may be scores of a metric such as BLEU. Baselines close to
    the mean score gave good results in Otani et al. (2016), 6.3 and Figure 4: a system in the middle neither wins nor
    loses almost everything.

    >>> choose_baseline_by_scores(np.array([0.31, 0.25, 0.18]), names=["a", "b", "c"]).reason
    'the score of b, 0.25, is closest to the mean of 3 systems, 0.246667'
    """
    if scores.ndim != 1 or len(scores) < 2:
        raise ParameterError(f"a baseline needs the scores of at least 2 systems; there are {scores.size}")
    if not np.isfinite(scores).all():
        raise ParameterError("a score is not a finite number; leave that system out")
    distances = np.abs(scores - scores.mean())
    best = int(np.argmin(distances))
    name = names[best] if names is not None else f"system {best}"
    reason = (
        f"the score of {name}, {scores[best]:.6g}, is closest to the mean of {len(scores)} systems, {scores.mean():.6g}"
    )
    return ScoredBaseline(system=best, distances=distances, reason=reason)


def _reason(best: int, shares: Floats, information: Floats, names: Sequence[str] | None) -> str:
    def name_of(system: int) -> str:
        return names[system] if names is not None else f"system {system}"

    def record(system: int) -> str:
        win, tie, loss = shares[:, system]
        return f"wins {win:.0%}, ties {tie:.0%} and loses {loss:.0%} of its comparisons"

    worst = int(np.argmin(information))
    times = information[best] / information[worst]
    if best == worst:
        return f"comparisons with any system tell the same, so the choice is the first: {name_of(best)}"
    return (
        f"{name_of(best)} {record(best)}. One comparison with it tells {times:.2f} times as much about the other "
        f"system as one with {name_of(worst)}, which {record(worst)}"
    )
