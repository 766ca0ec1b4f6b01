"""Sessions of browsers. The cookie is a random id; the ledger has its hash, so that all monitors know the session."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from streams.errors import StoreUnavailable

if TYPE_CHECKING:
    from streams.monitor.backends.base import Backend

SESSION_SECONDS = 12 * 3600
MOST_KNOWN = 10_000  # sessions that are checked in memory; others are looked up for each request


class Sessions:
    """Opens, finds and ends sessions. If the store is away, the sessions that were in use go on."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._known: OrderedDict[str, str] = OrderedDict()  # session -> token, both by hash

    async def open(self, token: str) -> str:
        """Return the cookie of a new session of a token."""
        cookie = token_urlsafe(32)
        ledger = self._backend.ledger
        await self._backend.run(ledger.add_session, hash_of_cookie(cookie), token, seconds=SESSION_SECONDS)
        return cookie

    async def token_of(self, session: str) -> str | None:
        """Return the token of a session, or None if the session has ended. Both are hashes."""
        if session not in self._known:
            (token,) = await self._backend.run(self._backend.ledger.session_tokens, [session])
            if token is None:
                return None
            self._known[session] = token
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return self._known.get(session)

    async def end(self, session: str) -> None:
        """End a session. Other monitors notice when they refresh."""
        self._known.pop(session, None)
        await self._backend.run(self._backend.ledger.end_session, session)

    async def refresh(self) -> None:
        """Forget the sessions that have ended."""
        sessions = list(self._known)
        if not sessions:
            return
        with suppress(StoreUnavailable):
            tokens = await self._backend.run(self._backend.ledger.session_tokens, sessions)
            for session, token in zip(sessions, tokens, strict=True):
                if token is None:
                    self._known.pop(session, None)

    def is_open(self, session: str) -> bool:
        """Return whether a session that was found has not ended since."""
        return session in self._known


def hash_of_cookie(cookie: str) -> str:
    """Return the hash of a cookie, under which its session is kept."""
    return sha256(cookie.encode(errors="replace")).hexdigest()
