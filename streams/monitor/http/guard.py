"""What every request and response passes: limits, tokens, headers and metrics."""

from __future__ import annotations

import asyncio
import logging
import time
from math import ceil
from typing import TYPE_CHECKING

from aiohttp import hdrs, web

from streams.errors import BrokerUnavailable, RecordError, StoreCorrupt, StoreUnavailable
from streams.monitor.http.access import TOKEN, VIEWER, WRONG_TOKEN
from streams.monitor.http.addresses import ClientAddresses
from streams.monitor.http.limits import Mistakes, Quota
from streams.monitor.http.responses import HEADERS, REVALIDATED, RequestError, error_response, refusal
from streams.monitor.http.routes import EVENTS
from streams.monitor.state.lookup import UnknownCampaign
from streams.wire.quarantine import describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from streams.metrics import MonitorMetrics
    from streams.monitor.http.access import Access
    from streams.monitor.http.routes import Route
    from streams.settings import Settings

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

log = logging.getLogger(__name__)

WARNINGS_PER_SECOND = 0.5
REASONS = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
ANYBODY = "*"
STATIC = "/static/"


class RequestGuard:
    """Checks requests before the handlers, and completes responses after them."""

    def __init__(self, settings: Settings, access: Access, metrics: MonitorMetrics) -> None:
        self._access = access
        self._metrics = metrics
        self._quota = Quota(rate=settings.monitor_rate)
        self._addresses = ClientAddresses(settings.monitor_proxies)
        self.mistakes = Mistakes()
        self._warnings = Quota(rate=WARNINGS_PER_SECOND)
        self._origins = frozenset(filter(None, (part.strip() for part in settings.monitor_origins.split(","))))
        self._body_bytes = settings.monitor_body_bytes

    def protect(self, route: Route, handler: Handler) -> Handler:
        """Return a handler that refuses requests over the limit or without the needed token."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            try:
                await self._check(route, request)
                return await handler(request)
            except RequestError as error:
                if error.problem.reason == WRONG_TOKEN:
                    await self._slow_down(self._addresses.of(request))
                raise

        return guarded

    async def _check(self, route: Route, request: web.Request) -> None:
        token = self._access.bearer(request)
        if token is not None:
            request[TOKEN] = token
        if route.limited:
            self._limit(token.name if token else self._addresses.of(request))
        if route.needs == "open":
            return
        campaign = request.match_info.get("campaign")
        if route.needs == "read":
            request[VIEWER] = await self._access.viewer(request, token, campaign, route.scopes)
        else:
            self._access.check(token, route.scopes, campaign)
            log.debug("%s, by the token %s", route.name, request[TOKEN].name)

    async def _slow_down(self, sender: str) -> None:
        """Delay the answer to a wrong token. Raise at once if many answers to the same address wait already."""
        now = time.monotonic()
        seconds = self.mistakes.add(sender, now)
        if not seconds:
            return
        if not self._warnings.wait(sender, now):
            log.warning("many wrong tokens from %s; further ones have to wait", sender)
        with self.mistakes.slot(sender) as free:
            if not free:
                raise _too_many(seconds) from None
            await asyncio.sleep(seconds)

    def _limit(self, sender: str) -> None:
        if seconds := self._quota.wait(sender, time.monotonic()):
            raise _too_many(seconds)

    # -- responses ------------------------------------------------------------------------------------

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Return a response for every request, and count it."""
        began = time.perf_counter()
        response = self._preflight(request) or await self._respond(request, handler)
        resource = request.match_info.route.resource
        streamed = response.content_type == EVENTS
        self._metrics.count_request(
            route=resource.canonical if resource else None,
            method=request.method,
            status=response.status,
            seconds=None if streamed else time.perf_counter() - began,
        )
        return response

    async def _respond(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except RequestError as error:
            return error_response(error)
        except UnknownCampaign as error:
            return error_response(RequestError(404, "unknown_campaign", str(error), field="campaign"))
        except RecordError as error:
            return error_response(refusal(error))
        except (StoreUnavailable, StoreCorrupt, BrokerUnavailable) as error:
            return error_response(RequestError(503, "unavailable", str(error), headers={"Retry-After": "2"}))
        except web.HTTPException as error:
            headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else None
            message = error.reason
            if error.status == 405:
                message = f"{request.method} is not possible on this path; use {error.headers['Allow']}"
            if error.status == 413:
                message = f"the request has more than {self._body_bytes} bytes; send fewer judgments per request"
            return error_response(
                RequestError(error.status, REASONS.get(error.status, "bad_request"), message, headers=headers)
            )
        except Exception as error:
            # A fault in the code that reads one campaign must not look like a server that is away.
            log.exception("%s %s failed", request.method, request.path)
            message = f"unexpected error ({describe_error(error)}); the monitor's log has the traceback"
            return error_response(RequestError(500, "internal_error", message))

    async def prepare(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add the common headers."""
        response.headers.update(HEADERS)
        if request.path.startswith(STATIC):
            response.headers.update(REVALIDATED)
        origin = request.headers.get(hdrs.ORIGIN)
        if self._origins:
            response.headers[hdrs.VARY] = hdrs.ORIGIN
        if origin is not None and (origin in self._origins or ANYBODY in self._origins):
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin

    def _preflight(self, request: web.Request) -> web.Response | None:
        """Return the response to a CORS preflight request."""
        if request.method != hdrs.METH_OPTIONS or not self._origins or hdrs.ORIGIN not in request.headers:
            return None
        allowed = {
            hdrs.ACCESS_CONTROL_ALLOW_METHODS: "GET, POST",
            hdrs.ACCESS_CONTROL_ALLOW_HEADERS: "Authorization, Content-Type",
            hdrs.ACCESS_CONTROL_MAX_AGE: "600",
        }
        return web.Response(status=204, headers=allowed)


def _too_many(seconds: float) -> RequestError:
    headers = {"Retry-After": str(max(1, ceil(seconds)))}
    return RequestError(
        429, "too_many_requests", "too many requests; wait, or send more judgments per request", headers=headers
    )
