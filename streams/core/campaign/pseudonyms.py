"""Pseudonyms of judges: the only form in which a judge is stored or shown.

On the wire a judge is an id, or `~` and a pseudonym. Whoever has the key can make the pseudonym before Kafka has it.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from streams.core.ranking.grouped_counts import group_of

if TYPE_CHECKING:
    from streams.wire.events import Judgment

MARK = "~"  # before a pseudonym on the wire
BYTES = 10
MOST_CACHED = 100_000
_PSEUDONYM = re.compile(f"[0-9a-f]{{{2 * BYTES}}}")


def is_pseudonym(text: str) -> bool:
    """Return whether a text has the form of a pseudonym, which an id may have too.

    >>> is_pseudonym("0123456789abcdef0123"), is_pseudonym("alice")
    (True, False)
    """
    return _PSEUDONYM.fullmatch(text) is not None


def is_wire_pseudonym(judge: str) -> bool:
    """Return whether a judge on the wire is a pseudonym, and not an id."""
    return judge.startswith(MARK) and is_pseudonym(judge[1:])


def wire_pseudonym(judge: str, key: str) -> str:
    """Return a judge as a producer should send it: `~` and the pseudonym. `key` is the workers' `judge_key`.

    >>> wire_pseudonym("alice", "a secret")
    '~cbfd45eeb0e1deb08438'
    >>> wire_pseudonym("~cbfd45eeb0e1deb08438", "a secret")
    '~cbfd45eeb0e1deb08438'
    """
    return MARK + Pseudonyms(key.encode())[judge]


def forgotten_name(campaign: str, command: str, judge: str) -> str:
    """Return the name of a judge, given by pseudonym, whom a command has forgotten. It has the form of a pseudonym.

    It is made of the id of the command, and says nothing of the judge except in which of 32 groups they were counted.
    So a log in which it stands in the place of the judge gives the same state.
    """
    group = group_of(judge)
    for number in count():
        name = sha256(f"forgotten\0{campaign}\0{command}\0{number}".encode()).digest()[:BYTES].hex()
        if group_of(name) == group:
            return name
    raise AssertionError


class Pseudonyms(dict[str, str]):
    """Pseudonyms by judge, as on the wire. A missing one is computed from the id and a secret key.

    >>> Pseudonyms(b"key")["alice"] == Pseudonyms(b"key")["alice"] != Pseudonyms(b"other")["alice"]
    True
    >>> Pseudonyms(b"key")["~0123456789abcdef0123"]
    '0123456789abcdef0123'
    """

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, judge: str) -> str:
        if len(self) >= MOST_CACHED:
            self.clear()
        if is_wire_pseudonym(judge):
            pseudonym = judge[1:]
        else:
            pseudonym = hmac.digest(self._key, judge.encode(), "sha256")[:BYTES].hex()
        self[judge] = pseudonym
        return pseudonym

    def replace_judge(self, judgment: Judgment) -> Judgment:
        """Return a judgment with the pseudonym of its judge, as it should be published."""
        return msgspec.structs.replace(judgment, judge=MARK + self[judgment.judge])
