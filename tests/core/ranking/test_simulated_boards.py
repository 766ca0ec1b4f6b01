"""Boards of simulated campaigns: the short form of benchmarks/board.py."""

from __future__ import annotations

import numpy as np

from benchmarks.board import check_intervals, check_rows
from benchmarks.board_simulations import BETA, neighbours
from streams.core.ranking.settled import settle


def test_ranges_and_lines_hold_where_neighbours_meet() -> None:
    ranks, scores, differences, wrong, lines = [], [], [], 0, 0
    for seed in range(8):
        simulation = neighbours(8, 2.0, np.random.default_rng(seed), turns=4)
        board = settle(simulation.grow(600), beta=BETA)
        covered, false_line, drawn = check_rows(
            board.rows(), dict(zip(board.counts.systems, simulation.truth.tolist(), strict=True))
        )
        score, difference = check_intervals(board, simulation.truth)
        ranks.append(covered)
        scores.append(score)
        differences.append(difference)
        wrong += false_line
        lines += drawn
    assert np.mean(ranks) > 0.94
    assert np.mean(scores) > 0.88
    assert np.mean(differences) > 0.88
    assert wrong <= 1
    assert lines > 16
