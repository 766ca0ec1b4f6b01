"""What one more judgment of each pair is worth for the order, from the pair counts alone."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from streams.core import kernels
from streams.core.kernels import lookahead as at

if TYPE_CHECKING:
    from streams.core.matching.base import Flags, Floats, Ints, Meetings

BETA = 1.118  # noise of one performance; the unit of the policy's own scale
STEPS = 30  # at most; about ten are usual
LARGE = 150  # systems from which LAPACK is used: loops would be slower
LARGE_STEPS = 2500  # divided by the systems: a fit of 1,000 systems takes two steps, of 0.1 s each
REPAID = 2000  # updates of one pair that take as long as the plain loops of n systems, divided by n³


def expected_gains(meetings: Meetings, is_candidate: Flags, asked: Ints) -> Floats:
    """Return the expected gain of one judgment of each two systems, a symmetric matrix. Only candidates gain.

    The gain is the expected fall, to first order, of the sum of p (1 - p) over the pairs of candidates, times 2 pi,
    where p is the probability that the pair is in the wrong order. The result depends on the counts alone. `asked` is
    how often each two systems are in requests without an answer, which count as answered.

    >>> from streams.core.matching.base import Meetings
    >>> none = np.zeros((3, 3), np.int64)
    >>> gains = expected_gains(Meetings(none, none), np.ones(3, np.bool_), none)
    >>> bool(gains[0, 1] == gains[0, 2] > 0.0 == gains[0, 0])
    True
    """
    wins, ties = np.ascontiguousarray(meetings.wins), np.ascontiguousarray(meetings.ties)
    size, c = len(wins), sqrt(2.0) * BETA
    kernel: Any = kernels.suited("lookahead", REPAID * size**3)
    room, vectors = np.zeros((at.LAYERS, size, size)), np.zeros((at.VECTORS, size))
    fitted = np.array(at.FIRST_FIT)
    if size < LARGE:
        kernel.fit_and_look_ahead(wins, ties, asked, is_candidate, c, STEPS, fitted, room, vectors)
    else:
        _fit_large(kernel, wins, ties, asked, c, fitted, room, vectors)
        _look_ahead_large(kernel, is_candidate, c, fitted, room, vectors)
    gains: Floats = room[at.GAIN]
    return gains


def _fit_large(
    kernel: Any, wins: Ints, ties: Ints, asked: Ints, c: float, fitted: Floats, room: Floats, vectors: Floats
) -> None:
    """Do the same as the kernel's `fit`, with LAPACK. Very large fits end after a few steps."""
    for _ in range(min(STEPS, max(2, LARGE_STEPS // len(wins)))):
        kernel.linearise(wins, ties, asked, c, fitted, room, vectors)
        room[at.COVARIANCE] = np.linalg.inv(room[at.COVARIANCE])
        if kernel.solve(fitted, room, vectors) < at.NEAR:
            return


def _look_ahead_large(
    kernel: Any, is_candidate: Flags, c: float, fitted: Floats, room: Floats, vectors: Floats
) -> None:
    """Do the same as the kernel's `look_ahead`, with BLAS."""
    kernel.foresee(is_candidate, c, fitted, room, vectors)
    np.matmul(room[at.SLOPES], room[at.COVARIANCE], out=room[at.MOVES])
    np.matmul(room[at.MOVES], room[at.SLOPES], out=room[at.SPREADS])
    kernel.weigh(is_candidate, fitted, room, vectors)
    np.matmul(room[at.SLOPES], room[at.MOVES], out=room[at.SPREADS])
    np.matmul(room[at.MOVES].T, room[at.SPREADS], out=room[at.BOTH])
    kernel.gain(is_candidate, room)
