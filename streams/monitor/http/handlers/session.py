"""Handlers of the session, with which a browser may read where reading needs a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from aiohttp import web
from msgspec import Struct

from streams.monitor.http.access import COOKIE, session_of
from streams.monitor.http.responses import UNCACHED, RequestError
from streams.monitor.http.sessions import SESSION_SECONDS

if TYPE_CHECKING:
    from streams.monitor.http.app import Site


class TokenBody(Struct, frozen=True, kw_only=True):
    """The token that opens a session."""

    token: str


async def open_session(site: Site, request: web.Request) -> web.Response:
    """Open a session for a browser that reads. Its token needs the scope read. The cookie allows nothing else."""
    try:
        body = msgspec.json.decode(await request.read(), type=TokenBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError(422, "invalid_json", 'send {"token": "SECRET"}', field="token") from None
    token = site.access.token(body.token, field="token")
    site.access.check(token, ("read",), None)
    response = web.Response(status=204, headers=UNCACHED)
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    response.set_cookie(
        COOKIE,
        await site.access.sessions.open(token.hash),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="Strict",
        secure=secure,
    )
    return response


async def close_session(site: Site, request: web.Request) -> web.Response:
    """End the session and its event streams, and remove the cookie."""
    if session := session_of(request):
        await site.access.sessions.end(session)
        site.end_streams()
    response = web.Response(status=204, headers=UNCACHED)
    response.del_cookie(COOKIE, samesite="Strict", httponly=True)
    return response
