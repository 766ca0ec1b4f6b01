"""The online bootstrap: resampled copies of a campaign's model, from which the rank ranges of GRM come."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from streams.core import kernels
from streams.core.kernels.elementary import exp
from streams.core.ranking import sampled_ranges
from streams.errors import StoreOutdated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.core.models import JudgmentBatch, Model, PairParameters

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Bootstrap:
    """Replicas of TrueSkill, updated with every judgment: `count` by judgment, and as many by judge.

    The weight of a judgment in a replica is Poisson(1), drawn by a hash of the replica's number and of the judgment's
    id, or of the judge's pseudonym (Oza and Russell 2001). So a judgment has the same weights in every run and in every
    split into batches. In a replica by judge all judgments of a judge have the same weight: it is what other judges of
    this kind might have said.
    """

    def __init__(self, count: int, parameters: PairParameters) -> None:
        self._prior = (parameters.mean, parameters.deviation * parameters.deviation)
        self._beta, self._margin = parameters.beta, parameters.margin
        self._count = count
        # First the replicas by judgment, then those by judge.
        self._mean: Floats = np.empty((2 * count, 0))
        self._variance: Floats = np.empty((2 * count, 0))

    @classmethod
    def for_model(cls, model: Model, count: int) -> Bootstrap | None:
        """Return `count` replicas beside a model, or None if there are none or the model offers no bootstrap."""
        parameters = model.bootstrap_parameters()
        return cls(count, parameters) if count and parameters is not None else None

    def grow(self, systems: int) -> None:
        """Make room for a number of systems. Little is reserved: with 200 replicas of each kind, one takes 6 kB."""
        rows, had = self._mean.shape
        if systems > had:
            room = max(systems, 2 * had) - had
            self._mean = np.hstack([self._mean, np.full((rows, room), self._prior[0])])
            self._variance = np.hstack([self._variance, np.full((rows, room), self._prior[1])])

    def apply(self, batch: JudgmentBatch, keys: Ints, judges: Sequence[str]) -> None:
        """Update with rankings, in order. `keys` are checksums of their ids, and `judges` the names of all judges."""
        known, judge = np.unique(batch.judges, return_inverse=True)
        judge_keys = np.array([crc32(judges[k].encode()) for k in known.tolist()], np.int64)
        kernels.compiled("bootstrap").rate_replicas(
            self._mean,
            self._variance,
            np.hstack([weights(keys, self._count), weights(judge_keys, self._count)[judge]]),
            batch.systems,
            batch.ranks,
            batch.starts,
            self._beta,
            self._margin,
        )

    def ranges(self, systems: Sequence[int]) -> tuple[Ints, Ints]:
        """Return the best and the worst place of each system if the same judges were asked again.

        The outermost 2.5 % of the replicas are left out. Systems with equal scores in a replica share all of their
        places there.
        """
        return sampled_ranges(self._mean[: self._count, list(systems)])

    def judge_ranges(self, systems: Sequence[int]) -> tuple[Ints, Ints]:
        """Return the same for other judges of this kind."""
        return sampled_ranges(self._mean[self._count :, list(systems)])

    def dump_row(self, system: int) -> bytes:
        """Return a system's exact state in all replicas: means, then variances, as little-endian doubles."""
        return np.concatenate([self._mean[:, system], self._variance[:, system]]).astype("<f8").tobytes()

    def load_row(self, system: int, row: bytes) -> None:
        """Load a system's state."""
        if len(row) != 16 * len(self._mean):
            raise StoreOutdated("an earlier version kept no bootstrap replicas by judge")
        self._mean[:, system], self._variance[:, system] = np.frombuffer(row, "<f8").reshape(2, -1)


def weights(keys: Ints, replicas: int) -> NDArray[np.uint8]:
    """Return Poisson(1) weights by judgment and replica. A hash of 64 bits yields four weights of 16 bits each.

    >>> weights(np.array([5, 5]), 3).tolist()[0] == weights(np.array([5]), 3).tolist()[0]
    True
    """
    blocks = -(-replicas // 4)
    counter = np.arange(1, blocks + 1, dtype=np.uint64) * _GOLDEN
    hashed = _mix(_mix(keys.astype(np.uint64)[:, None]) + counter[None, :])
    sixteens = hashed.astype("<u8").view("<u2")
    drawn: NDArray[np.uint8] = _POISSON[sixteens[:, :replicas]]
    return drawn


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the last step of splitmix64: every bit of the result depends on every bit of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _poisson_of_16_bits() -> NDArray[np.uint8]:
    """Return a count for each of 65,536 values. The counts are Poisson(1) to 1 in 65,536."""
    probabilities = exp(-1.0) / np.cumprod([1.0, *range(1, 9)])
    edges = np.round(np.cumsum(probabilities) * 65536).astype(int)
    return np.searchsorted(edges, np.arange(65536), side="right").astype(np.uint8)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_POISSON = _poisson_of_16_bits()
