"""The match policies by name. To add one, write its file and add it to POLICIES."""

from __future__ import annotations

from streams.core.matching.assessments import choose_output, choose_systems
from streams.core.matching.base import Match, Meetings, Policy
from streams.core.matching.information import OrderInformation
from streams.core.matching.segments import choose_segments
from streams.core.matching.uniform import UniformPolicy
from streams.core.matching.variance import LargestVariance
from streams.errors import ParameterError, suggestion

POLICIES: dict[str, Policy] = {
    policy.name: policy for policy in (UniformPolicy(), LargestVariance(), OrderInformation())
}


def find_policy(name: str) -> Policy:
    """Return the policy with this name, or raise ParameterError.

    >>> find_policy("variance").name
    'variance'
    """
    if name not in POLICIES:
        raise ParameterError(f"no match policy {name!r}; {suggestion(name, POLICIES)}")
    return POLICIES[name]


__all__ = [
    "POLICIES",
    "Match",
    "Meetings",
    "Policy",
    "choose_output",
    "choose_segments",
    "choose_systems",
    "find_policy",
]
