"""The rule for campaign names. Every check of a name, and every message about one, uses it."""

from __future__ import annotations

import re

from streams.wire.limits import MAX_NAME

# The last part refuses a line feed at the end, which `$` alone accepts.
CAMPAIGN_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)"
CAMPAIGN_RULE = (
    f"a campaign name has 1 to {MAX_NAME} letters, digits, '.', '_' and '-', and starts with a letter or a digit"
)

_PATTERN = re.compile(CAMPAIGN_PATTERN)
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._-]+")


def is_campaign_name(text: str) -> bool:
    """Return whether a campaign may have this name.

    >>> is_campaign_name("wmt13.fr-en"), is_campaign_name("../../etc")
    (True, False)
    """
    return len(text) <= MAX_NAME and _PATTERN.search(text) is not None


def replace_forbidden(text: str) -> str:
    """Return a text with '-' in place of the characters that a campaign name may not have.

    >>> replace_forbidden("my votes (1)")
    'my-votes-1-'
    """
    return _NOT_ALLOWED.sub("-", text)


def to_campaign_name(text: str) -> str:
    """Return a text as a campaign name. The result is empty if nothing of the text can be used.

    >>> to_campaign_name("_my votes")
    'my-votes'
    """
    return replace_forbidden(text).lstrip("._-")[:MAX_NAME]
