"""Pseudonyms of judges: the only form in which a judge's id is stored or shown."""

from __future__ import annotations

import hmac


class Pseudonyms(dict[str, str]):
    """Pseudonyms by judge id. A missing one is computed from the id and a secret key.

    >>> Pseudonyms(b"key")["alice"] == Pseudonyms(b"key")["alice"] != Pseudonyms(b"other")["alice"]
    True
    """

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, judge: str) -> str:
        pseudonym = self[judge] = hmac.digest(self._key, judge.encode(), "sha256")[:10].hex()
        return pseudonym
