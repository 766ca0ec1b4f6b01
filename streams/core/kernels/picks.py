"""The choice of matches by their gains, one after the other: the loop behind the default policy."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit

SIGNATURES = {"pick_matches": "d2 ?1 q2 d1 d d q2 ?1"}

HALF = 2  # while fewer than half of all pairs are outstanding, none is asked for twice


@jit
def pick_matches(
    gains: Any, candidates: Any, asked: Any, draws: Any, jitter: float, chance: float, picked: Any, by_chance: Any
) -> None:
    """Fill each row of `picked` with the systems of a match, and tell whether it is one by chance.

    `asked` is how often each two systems are in requests without an answer; the matches are added to it. `draws` are
    uniform numbers: one per pair, which lowers its gain by up to `jitter`, and then two per match.
    """
    size, systems, requests, draw = len(gains), 0, 0, 0
    for a in range(size):
        systems += 1 if candidates[a] else 0
        for b in range(a + 1, size):
            gains[a, b] *= 1.0 - jitter * draws[draw]
            gains[b, a] = gains[a, b]
            draw += 1
            if candidates[a] and candidates[b]:
                requests += asked[a, b]
    limit = 0
    for k in range(len(picked)):
        limit = max(limit, 1 + HALF * 2 * requests // (systems * (systems - 1)))
        a, b, free = best_pair(gains, candidates, asked, limit)
        while free == 0:
            limit += 1
            a, b, free = best_pair(gains, candidates, asked, limit)
        by_chance[k] = draws[draw] < chance
        if by_chance[k]:
            a, b = free_pair(candidates, asked, limit, int(draws[draw + 1] * free))
        draw += 2
        picked[k, 0], picked[k, 1] = a, b
        for place in range(2, picked.shape[1]):
            picked[k, place] = best_addition(gains, candidates, picked[k], place)
        for i in range(picked.shape[1]):
            for j in range(i + 1, picked.shape[1]):
                asked[picked[k, i], picked[k, j]] += 1
                asked[picked[k, j], picked[k, i]] += 1
                requests += 1


@jit
def best_pair(gains: Any, candidates: Any, asked: Any, limit: int) -> tuple[int, int, int]:
    """Return the pair of candidates that gains most of those asked for less often than the limit, and their number."""
    first, second, free, most = -1, -1, 0, 0.0
    for a in range(len(gains)):
        if not candidates[a]:
            continue
        for b in range(a + 1, len(gains)):
            if candidates[b] and asked[a, b] < limit:
                if free == 0 or gains[a, b] > most:
                    first, second, most = a, b, float(gains[a, b])
                free += 1
    return first, second, free


@jit
def free_pair(candidates: Any, asked: Any, limit: int, place: int) -> tuple[int, int]:
    """Return the pair at a place, counted from 0, among the candidates' pairs that are asked for less often."""
    for a in range(len(candidates)):
        for b in range(a + 1, len(candidates)):
            if candidates[a] and candidates[b] and asked[a, b] < limit:
                if place == 0:
                    return a, b
                place -= 1
    return -1, -1


@jit
def best_addition(gains: Any, candidates: Any, match: Any, count: int) -> int:
    """Return the candidate that gains most with the first systems of a match, and is not one of them."""
    best, most = -1, 0.0
    for system in range(len(gains)):
        total, fits = 0.0, candidates[system]
        for place in range(count):
            total += gains[match[place], system]
            fits = fits and match[place] != system
        if fits and (best < 0 or total > most):
            best, most = system, total
    return best
