"""The form of every response: JSON, errors with a reason, a field and a message, and common headers."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from aiohttp import web
from msgspec import Struct

from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.errors import RecordError

JSON = "application/json"
RETRY_SECONDS = 2
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
# The statuses of refused judgments. For any other reason, the judgment itself is wrong: 422.
STATUSES = {"judge_excluded": 403, "unknown_campaign": 404, "campaign_closed": 409, "other_judge": 403}
UNCACHED = {"Cache-Control": "no-store"}
REVALIDATED = {"Cache-Control": "no-cache"}  # the browser asks whether its copy is still the newest


class Problem(Struct, frozen=True, kw_only=True):
    """Why a request failed."""

    reason: str
    field: str | None
    message: str


class ErrorPayload(Struct, frozen=True, kw_only=True):
    """The body of every error."""

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


def too_many(message: str, *, seconds: float) -> RequestError:
    """Return the error of a sender that has to wait."""
    return RequestError(429, "too_many_requests", message, headers={"Retry-After": str(max(1, ceil(seconds)))})


def too_busy(message: str) -> RequestError:
    """Return the error of a monitor that has no room."""
    return RequestError(503, "unavailable", message, headers={"Retry-After": str(RETRY_SECONDS)})


def json_response(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return a response with a JSON body."""
    return web.Response(body=encode(value), status=status, content_type=JSON, headers={**UNCACHED, **(headers or {})})


def refusal(error: RecordError) -> RequestError:
    """Return the error of a request with an event that is refused. A worker rejects it for the same reason."""
    return RequestError(STATUSES.get(error.reason, 422), error.reason, error.message, field=error.field)


def error_response(error: RequestError) -> web.Response:
    """Return the response to a request that failed."""
    response = json_response(ErrorPayload(error=error.problem), status=error.status, headers=error.headers)
    if error.status == 408:
        response.force_close()  # the rest of the request may still come
    return response
