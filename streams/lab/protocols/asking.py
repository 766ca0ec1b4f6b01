"""The active protocol: a policy requests matches, and a pool of judgments answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.compiler import WORTH_LOADING
from streams.core import kernels
from streams.core.matching import Meetings
from streams.core.methods.pairs import LOSS, TIE, WIN
from streams.core.models import JudgmentBatch
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.matching import Policy
    from streams.core.methods.pairs import Pairs
    from streams.core.models import Model
    from streams.core.models.base import Ints


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The matches in the order of the requests, with their outcomes."""

    a: Ints
    b: Ints
    outcome: Ints


def ask(policy: Policy, model: Model, pool: Pairs, matches: int, random: np.random.Generator) -> Asked:
    """Request matches one by one. The model learns each answer: a random outcome of that pair in the pool.

    If the pool does not have the pair, the policy is asked again, at most ten times the number of systems.

    >>> from streams.core.methods.pairs import Pairs
    >>> from streams.core.matching import find_policy
    >>> from streams.core.models import create
    >>> asked = ask(find_policy("variance"), create("trueskill", {}), Pairs.parse(">>>"), 4, np.random.default_rng(1))
    >>> [(int(a), int(outcome)) for a, outcome in zip(asked.a, asked.outcome)][0]  # the first of two equals
    (0, 0)
    """
    wins, ties = pool.counts()
    met = wins + wins.T + ties
    size = len(pool.systems)
    model.grow(size, 1, 1)
    if matches * size > WORTH_LOADING // 4:
        kernels.compiled("pairs")
    meetings = Meetings(np.zeros((size, size), np.int64), np.zeros((size, size), np.int64))
    rows = np.empty((matches, 3), np.int64)
    for k in range(matches):
        a, b = _request(policy, model, met, meetings, random)
        drawn = random.random() * met[a, b]
        outcome = WIN if drawn < wins[a, b] else LOSS if drawn < wins[a, b] + wins[b, a] else TIE
        if outcome == TIE:
            meetings.ties[[a, b], [b, a]] += 1
        else:
            meetings.wins[(a, b) if outcome == WIN else (b, a)] += 1
        rows[k] = a, b, outcome
        model.apply(_match(a, b, outcome))
    return Asked(a=rows[:, 0], b=rows[:, 1], outcome=rows[:, 2])


def _request(
    policy: Policy, model: Model, met: Ints, meetings: Meetings, random: np.random.Generator
) -> tuple[int, int]:
    """Return the first pair that the policy requests and the pool has."""
    for count in (1, 10 * len(met)):  # nearly always the first one is there
        matches = policy.choose(
            model, candidates=range(len(met)), pending=[], count=count, random=random, meetings=meetings
        )
        for match in matches:
            a, b = match.systems
            if met[a, b]:
                return a, b
    raise ParameterError(f"policy {policy.name!r} requests pairs that the log does not have; choose another policy")


_STARTS, _NOBODY, _NO_SCORE = np.array([0, 2]), np.zeros(1, np.int64), np.full(1, np.nan)


def _match(a: int, b: int, outcome: int) -> JudgmentBatch:
    ranks = np.array([2 if outcome == LOSS else 1, 2 if outcome == WIN else 1])
    return JudgmentBatch(
        systems=np.array([a, b]), ranks=ranks, starts=_STARTS, judges=_NOBODY, segments=_NOBODY, scores=_NO_SCORE
    )
