"""The online bootstrap: every judgment updates each replica as often as its weight says."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.pairs import rated_pair


@jit
def rate_replicas(
    mean: Any, variance: Any, weights: Any, systems: Any, ranks: Any, starts: Any, beta: float, margin: float
) -> None:
    """Apply rankings in order; in replica r the k-th counts weights[k, r] times, mean[r] is its state."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                i, j, order = systems[a], systems[b], ranks[a] - ranks[b]
                for r in range(len(mean)):
                    times = weights[k, r]
                    if times == 0:
                        continue
                    m_i, s_i, m_j, s_j = mean[r, i], variance[r, i], mean[r, j], variance[r, j]
                    for _ in range(times):
                        m_i, s_i, m_j, s_j = rated_pair(m_i, s_i, m_j, s_j, order, beta, margin)
                    mean[r, i], variance[r, i], mean[r, j], variance[r, j] = m_i, s_i, m_j, s_j
