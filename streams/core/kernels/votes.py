"""Count how often each judge gave each outcome to each two systems, in a hash table, and sort the votes."""

from __future__ import annotations

from typing import Any

from streams.compiler import inlined, jit

SIGNATURES = {
    "count_votes": "q1 q1 q1 q1 q1 q1 q1 q1 q -> q",
    "insert_votes": "q1 q1 q1 q1 q1",
    "sort_votes": "q2 q2 q1",
}

# A vote as one number: judge, first, second, outcome, size.
SYSTEM_BITS, OUTCOME_BITS, SIZE_BITS = 12, 2, 8
PRIME = 2**31 - 1
DIGIT_BITS = 11  # of the numbers that are sorted


@inlined
def vote_slot(keys: Any, key: int, seed: Any) -> int:
    """Return the slot of a vote, or the free slot for it. Free slots are -1. Their number is a power of two."""
    last = len(keys) - 1
    slot = (seed[0] * (key & PRIME) + seed[1] * (key >> 31 & PRIME)) % PRIME & last
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & last
    return int(slot)


@jit
def count_votes(
    keys: Any, counts: Any, used: Any, seed: Any, judges: Any, systems: Any, ranks: Any, starts: Any, begin: int
) -> int:
    """Count the pairs of rankings from `begin` on. Return the first ranking for which the table must grow."""
    for k in range(begin, len(starts) - 1):
        first, last = starts[k], starts[k + 1]
        size = last - first
        if 2 * (used[0] + size * (size - 1) // 2) > len(keys):
            return k
        for a in range(first, last):
            for b in range(a + 1, last):
                outcome = 2 if ranks[a] < ranks[b] else 0 if ranks[a] > ranks[b] else 1
                key = (((judges[k] << SYSTEM_BITS) + systems[a]) << SYSTEM_BITS) + systems[b]
                key = (((key << OUTCOME_BITS) + outcome) << SIZE_BITS) + size
                slot = vote_slot(keys, key, seed)
                used[0] += 1 if keys[slot] < 0 else 0
                keys[slot] = key
                counts[slot] += 1
    return len(starts) - 1


@jit
def insert_votes(keys: Any, counts: Any, seed: Any, known: Any, known_counts: Any) -> None:
    """Insert counted votes into an empty table with room for them."""
    for k in range(len(known)):
        slot = vote_slot(keys, known[k], seed)
        keys[slot], counts[slot] = known[k], known_counts[k]


@jit
def sort_votes(votes: Any, other: Any, ends: Any) -> None:
    """Sort the columns of `votes`, each a number that is not negative and its count, by the number.

    It is a radix sort, digit by digit from the last one. A digit that all numbers share is passed over. `other` has the
    same size, and `ends` one place per digit. Both are work space.
    """
    differing, last = 0, (1 << DIGIT_BITS) - 1
    for k in range(votes.shape[1]):
        differing |= votes[0, k] ^ votes[0, 0]
    for shift in range(0, 63, DIGIT_BITS):
        if differing >> shift & last == 0:
            continue
        for digit in range(len(ends)):
            ends[digit] = 0
        for k in range(votes.shape[1]):
            ends[votes[0, k] >> shift & last] += 1
            other[0, k], other[1, k] = votes[0, k], votes[1, k]
        for digit in range(1, len(ends)):
            ends[digit] += ends[digit - 1]
        for k in range(votes.shape[1] - 1, -1, -1):
            digit = other[0, k] >> shift & last
            ends[digit] -= 1
            votes[0, ends[digit]], votes[1, ends[digit]] = other[0, k], other[1, k]
