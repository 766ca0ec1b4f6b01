"""The match policies by name; a new one is its own file and a line here."""

from __future__ import annotations

from streams.errors import ParameterError, suggestion
from streams.matching.base import Match, Policy
from streams.matching.variance import LargestVariance

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (LargestVariance(),)}


def policy(name: str) -> Policy:
    """Find a policy.

    >>> policy("variance").name
    'variance'
    """
    if name not in POLICIES:
        raise ParameterError(f"no match policy {name!r}; {suggestion(name, POLICIES)}")
    return POLICIES[name]


__all__ = ["POLICIES", "Match", "Policy", "policy"]
