"""The form of every answer: JSON, errors with a reason, a field and a message, and the headers that all carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web
from msgspec import Struct

from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON = "application/json"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
UNCACHED = {"Cache-Control": "no-store"}


class Problem(Struct, frozen=True, kw_only=True):
    """Why a request was not answered as asked."""

    reason: str
    field: str | None
    message: str


class ErrorPayload(Struct, frozen=True, kw_only=True):
    """What every error answers with."""

    error: Problem


class RequestError(Exception):
    """A request that is answered with an error."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = Problem(reason=reason, field=field, message=message)
        self.headers = headers or {}


def answer(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer with JSON."""
    return web.Response(body=encode(value), status=status, content_type=JSON, headers={**UNCACHED, **(headers or {})})


def error_response(refused: RequestError) -> web.Response:
    """Answer with an error."""
    return answer(ErrorPayload(error=refused.problem), status=refused.status, headers=refused.headers)
