"""Remember the conversations of a log that were read already, in bounded memory."""

from __future__ import annotations

from datetime import UTC
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Judgment

SEPARATOR = "\x1f"  # between the parts of a conversation's key

_REMEMBERED = 200_000  # at least this many are known, and at most twice as many
_OF_ROW = ("id", "segment", "judge", "at", "duration_ms")  # fields that each row has for itself
_encoder = msgspec.json.Encoder()


def shared_fields(judgment: Judgment, *, without: tuple[str, ...] = ()) -> bytes:
    """Return what judgments with the same verdict share, as the inside of a JSON object."""
    fields, own = msgspec.to_builtins(judgment), (*_OF_ROW, *without)
    return _encoder.encode({name: value for name, value in fields.items() if name not in own})[1:-1]


def conversation_key(conversation: str, judgment: Judgment) -> int:
    """Return a key for a conversation with this judgment. A log that repeats it has the same key again."""
    at = judgment.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    head = SEPARATOR.join((conversation, judgment.judge, at, "")).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(head + shared_fields(judgment), digest_size=8).digest(), "little", signed=True)


class RecentConversations:
    """The keys of the last conversations of a log. The oldest ones are forgotten first.

    >>> recent = RecentConversations()
    >>> recent.count_new([7, 8]), recent.count_new([9, 7, 10]), recent.count_new([10])
    (2, 1, 1)
    """

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._new: set[int] = set()
        self._old: set[int] = set()

    def count_new(self, keys: Sequence[int]) -> int:
        """Remember conversations up to the first that was read before. Return how many were new."""
        for count, key in enumerate(keys):
            if key in self._new or key in self._old:
                return count
            if len(self._new) >= self._remembered:
                self._old, self._new = self._new, set()
            self._new.add(key)
        return len(keys)
