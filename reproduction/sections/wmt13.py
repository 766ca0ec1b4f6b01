"""WMT13 French-English as two of the papers print it: names, clusters and stars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproduction.papers import read_published
from reproduction.stored import read_results
from streams.agreement.head_to_head import HeadToHead
from streams.core.ranking import clusters
from streams.lab.experiments.official import table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Result

FINDINGS = "findings2013"


def names_in_log() -> tuple[str, ...]:
    """Return the systems as the log names them, in the official order."""
    return tuple(read_published(FINDINGS)["table6"]["log_names"])


def cluster_numbers(ranges: Sequence[str]) -> list[int]:
    """Return the clusters that published rank ranges make.

    >>> cluster_numbers(["1", "2-3", "2-3", "4"])
    [1, 2, 2, 3]
    """
    ends = [text.partition("-") for text in ranges]
    best = np.array([int(low) for low, _, _ in ends])
    worst = np.array([int(high or low) for low, _, high in ends])
    return [int(number) for number in clusters(best, worst)]


@dataclass(frozen=True, kw_only=True)
class StarCount:
    """How many pairs of systems have the same star in Table 25 and here, † and ‡ taken as one.

    The text of the findings that we compare with has only one of the two signs in each of its ten tables, so it does
    not tell them apart.
    """

    pairs: int
    same: int
    differing: tuple[str, ...]  # two systems, with both stars and our p


def count_stars(result: Result, *, sides: int = 1) -> StarCount:
    """Compare the stars of the head-to-head table. A pair counts once, though it has two cells."""
    theirs, one_sided = read_published(FINDINGS)["table25"], table_of(result)
    names = theirs["systems"]
    table = HeadToHead(systems=one_sided.systems, shares=one_sided.shares, p=np.minimum(1.0, sides * one_sided.p))
    couples = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    differing = []
    for i, j in couples:
        ours, told = table.star(i, j), theirs["rows"][i][j].lstrip(".0123456789")
        if ours.replace("‡", "†") != told.replace("‡", "†"):
            differing.append(
                f"{names[i]} and {names[j]} (ours {ours or 'none'}, p = {table.p[i, j]:.3f}; theirs {told or 'none'})"
            )
    return StarCount(pairs=len(couples), same=len(couples) - len(differing), differing=tuple(differing))


def stars_sentence() -> str:
    """Return the result of the comparison, for every page that reports it."""
    (one,) = read_results("official").results
    found = count_stars(one)
    return (
        f"{found.same} of {found.pairs} pairs of systems have the same star, with † and ‡ taken as one. "
        f"The exception: {'; '.join(found.differing)}."
        if found.differing
        else f"All {found.pairs} pairs of systems have the same star, with † and ‡ taken as one."
    )
