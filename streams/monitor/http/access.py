"""Who may do what: tokens with scopes for programs, and sessions for browsers that read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiohttp import web

from streams.errors import SettingError
from streams.monitor.http.responses import RequestError
from streams.monitor.http.sessions import Sessions, hash_of_cookie
from streams.monitor.http.tokens import Token, TokenList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.backends.base import Backend
    from streams.settings import Settings
    from streams.wire.events import Judgment

COOKIE = "judgestream"
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="judgestream"'}
BEARER = "bearer "
WRONG_TOKEN = "wrong_token"  # noqa: S105 - a reason


class Viewer(NamedTuple):
    """Who views: the holder of a token, the session of a browser, or anybody where reading is open."""

    token: Token | None = None
    session: str | None = None

    @property
    def campaigns(self) -> tuple[str, ...]:
        """Return the patterns of the campaigns that may be read. Empty if all may be."""
        return () if self.token is None or "*" in self.token.campaigns else self.token.campaigns

    def covers(self, campaign: str) -> bool:
        """Return whether a campaign may be read."""
        return self.token is None or self.token.covers(campaign)


TOKEN = web.RequestKey("token", Token)  # of the request; there is none where a route needs no token and gets none
VIEWER = web.RequestKey("viewer", Viewer)  # of a request that reads


class Access:
    """The tokens and the sessions, and whether reading needs one."""

    def __init__(self, tokens: TokenList, sessions: Sessions, *, open_to_read: bool = True) -> None:
        self.tokens = tokens
        self.sessions = sessions
        self._open_to_read = open_to_read

    @classmethod
    def of(cls, settings: Settings, backend: Backend) -> Access:
        """Read the settings. Raise SettingError if nobody could read."""
        tokens = TokenList(settings.monitor_tokens)
        if settings.monitor_reads == "closed" and not tokens:
            raise SettingError(
                "monitor_reads is 'closed' and monitor_tokens is empty, so nobody could read; "
                "make a token with: judgestream token NAME --scope read"
            )
        return cls(tokens, Sessions(backend), open_to_read=settings.monitor_reads == "open")

    def bearer(self, request: web.Request) -> Token | None:
        """Return the token of a request, or None if it has none. Raise if the token is wrong."""
        header = request.headers.get("Authorization")
        if header is None:
            return None
        secret = header[len(BEARER) :].strip() if header.lower().startswith(BEARER) else ""
        return self.token(secret)

    def token(self, secret: str, *, field: str | None = None) -> Token:
        """Return the token with this secret. Raise if there is none."""
        token = self.tokens.find(secret)
        if token is None:
            raise RequestError(401, WRONG_TOKEN, "this monitor does not know the token", field=field, headers=CHALLENGE)
        return token

    def check(self, token: Token | None, scopes: Sequence[str], campaign: str | None) -> None:
        """Raise if a token has none of the scopes, or not for this campaign, whether or not the campaign exists."""
        if token is None:
            hint = (
                "send `Authorization: Bearer SECRET`"
                if self.tokens
                else "this monitor has no tokens: set JUDGESTREAM_MONITOR_TOKENS to what `judgestream token` prints"
            )
            raise RequestError(401, "token_needed", f"a token is needed; {hint}", headers=CHALLENGE)
        if token.scopes.isdisjoint(scopes):
            needed, has = " or ".join(scopes), ", ".join(sorted(token.scopes))
            message = f"this needs the scope {needed}; the token {token.name!r} has {has}"
            raise RequestError(403, "wrong_scope", message)
        if campaign is not None and not token.covers(campaign):
            patterns = ", ".join(token.campaigns)
            message = f"the token {token.name!r} is for other campaigns: {patterns}"
            raise RequestError(403, "wrong_campaign", message, field="campaign")

    async def viewer(
        self, request: web.Request, token: Token | None, campaign: str | None, scopes: Sequence[str] = ("read",)
    ) -> Viewer:
        """Return who reads. Raise if reading is closed and neither the token nor the session allows it."""
        if self._open_to_read:
            return Viewer()
        session = None
        if token is None:
            session = session_of(request)
            token = self.tokens.by_hash(await self.sessions.token_of(session) or "") if session else None
            if token is None:
                raise RequestError(401, "token_needed", "reading needs a token or a session", headers=CHALLENGE)
        self.check(token, scopes, campaign)
        return Viewer(token, session)

    async def refresh(self) -> None:
        """Notice tokens that were added or removed, and sessions that have ended."""
        self.tokens.refresh()
        await self.sessions.refresh()

    def may_still_read(self, viewer: Viewer) -> bool:
        """Return whether the token and the session of a viewer are in force as they were."""
        if viewer.token is None:
            return True
        same = self.tokens.by_hash(viewer.token.hash) == viewer.token
        return same and (viewer.session is None or self.sessions.is_open(viewer.session))


def session_of(request: web.Request) -> str | None:
    """Return the hash of the request's session cookie. Return None if there is no cookie."""
    cookie = request.cookies.get(COOKIE)
    return hash_of_cookie(cookie) if cookie else None


def check_answers(token: Token, judgments: Sequence[Judgment]) -> None:
    """Raise if a token without the scope publish posts a judgment that answers no match request."""
    if "publish" in token.scopes:
        return
    for number, judgment in enumerate(judgments):
        if judgment.request is None:
            raise RequestError(
                403,
                "wrong_scope",
                f"judgments[{number}] has no `request`; the token {token.name!r} may only answer match requests. "
                "Other judgments need the scope publish",
                field=f"judgments[{number}].request",
            )
