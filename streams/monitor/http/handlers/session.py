"""Handlers of the session, with which a browser may read where reading needs a token."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web
from msgspec import Struct

from streams.monitor.http.access import COOKIE, SESSION_SECONDS, WRONG_TOKEN
from streams.monitor.http.responses import UNCACHED, RequestError

if TYPE_CHECKING:
    from streams.monitor.http.app import Site


class TokenBody(Struct, frozen=True, kw_only=True):
    """The token that opens a session."""

    token: str


async def open_session(site: Site, request: web.Request) -> web.Response:
    """Set a cookie for a browser. It allows reading only."""
    try:
        body = msgspec.json.decode(await request.read(), type=TokenBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError(422, "invalid_json", 'send {"token": "SECRET"}', field="token") from None
    name = site.access.name_of(body.token)
    if name is None:
        raise RequestError(401, WRONG_TOKEN, "this monitor does not know the token", field="token")
    response = web.Response(status=204, headers=UNCACHED)
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    response.set_cookie(
        COOKIE,
        site.access.session(name, now=time.time()),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="Strict",
        secure=secure,
    )
    return response


async def close_session(_: Site, __: web.Request) -> web.Response:
    """Remove the cookie."""
    response = web.Response(status=204, headers=UNCACHED)
    response.del_cookie(COOKIE, samesite="Strict", httponly=True)
    return response
