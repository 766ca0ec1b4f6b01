"""The online bootstrap: a judgment updates each replica as many times as its weight."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.pairs import pair_update


@jit
def rate_replicas(
    mean: Any, variance: Any, weights: Any, systems: Any, ranks: Any, starts: Any, beta: float, margin: float
) -> None:
    """Apply rankings in order. In replica r, with the state mean[r], ranking k counts weights[k, r] times."""
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
                        m_i, s_i, m_j, s_j = pair_update(m_i, s_i, m_j, s_j, order, beta, margin)
                    mean[r, i], variance[r, i], mean[r, j], variance[r, j] = m_i, s_i, m_j, s_j
