"""The match policies by name; a new one is its own file and a line here."""

from __future__ import annotations

from streams.errors import ParameterError, suggestion
from streams.matching.base import Match, Policy
from streams.matching.information import OrderInformation
from streams.matching.segments import choose_segments
from streams.matching.stopping import Outlook, outlook
from streams.matching.uniform import Uniform
from streams.matching.variance import LargestVariance

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (Uniform(), LargestVariance(), OrderInformation())}


def policy(name: str) -> Policy:
    """Find a policy.

    >>> policy("variance").name
    'variance'
    """
    if name not in POLICIES:
        raise ParameterError(f"no match policy {name!r}; {suggestion(name, POLICIES)}")
    return POLICIES[name]


__all__ = ["POLICIES", "Match", "Outlook", "Policy", "choose_segments", "outlook", "policy"]
