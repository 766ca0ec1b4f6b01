"""The leaderboard: rows in the order of the means, with ranges and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.events import Row
from streams.ranking.ranges import clusters, rank_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


def rows(
    names: Sequence[str], mean: NDArray[np.float64], deviation: NDArray[np.float64], judgments: Sequence[int]
) -> tuple[Row, ...]:
    """Order systems by mean, the name deciding between equals, and give each its place and its range.

    >>> import numpy as np
    >>> [row.system for row in rows(["a", "b"], np.array([0.0, 1.0]), np.array([1.0, 1.0]), [3, 3])]
    ['b', 'a']
    """
    order = sorted(range(len(names)), key=lambda i: (-mean[i], names[i]))
    best, worst = rank_ranges(mean[order], deviation[order])
    return tuple(
        Row(
            system=names[i],
            rank=place + 1,
            rank_low=int(best[place]),
            rank_high=int(worst[place]),
            cluster=int(cluster),
            score=float(mean[i]),
            deviation=float(deviation[i]),
            judgments=judgments[i],
        )
        for (place, i), cluster in zip(enumerate(order), clusters(best, worst) if order else (), strict=True)
    )
