"""What every request and response passes: limits, tokens, headers and metrics."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from aiohttp import hdrs, web

from streams.errors import BrokerUnavailable, RecordError, StoreCorrupt, StoreUnavailable
from streams.monitor.http.access import TOKEN, VIEWER, WRONG_TOKEN
from streams.monitor.http.hosts import KnownHosts
from streams.monitor.http.limits import Mistakes, Quota
from streams.monitor.http.responses import HEADERS, REVALIDATED, RequestError, error_response, refusal, too_many
from streams.monitor.http.routes import EVENTS
from streams.monitor.state.lookup import UnknownCampaign
from streams.wire.quarantine import describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from streams.metrics import MonitorMetrics
    from streams.monitor.http.access import Access
    from streams.monitor.http.addresses import ClientAddresses
    from streams.monitor.http.connections import Connections
    from streams.monitor.http.routes import Route
    from streams.settings import Settings

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

log = logging.getLogger(__name__)

WARNINGS_PER_SECOND = 0.5
REASONS = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
ANYBODY = "*"
STATIC = "/static/"
TOO_FAST = "too many requests; wait, or send more judgments per request"
IDENTITY = "identity"
PROBES = ("/healthz", "/readyz")  # an orchestrator asks for them by any name
SMALL_BODY = 4096  # bytes, where no token is needed


class RequestGuard:
    """Checks requests before the handlers, and completes responses after them."""

    def __init__(
        self,
        settings: Settings,
        *,
        access: Access,
        addresses: ClientAddresses,
        connections: Connections,
        metrics: MonitorMetrics,
    ) -> None:
        self._access = access
        self._addresses = addresses
        self._connections = connections
        self._hosts = KnownHosts(settings)
        self._body_seconds = settings.monitor_request_seconds
        self._metrics = metrics
        self._quota = Quota(rate=settings.monitor_rate)
        self.mistakes = Mistakes()
        self._warnings = Quota(rate=WARNINGS_PER_SECOND)
        self._origins = frozenset(filter(None, (part.strip() for part in settings.monitor_origins.split(","))))
        self._body_bytes = settings.monitor_body_bytes

    def protect(self, route: Route, handler: Handler) -> Handler:
        """Return a handler that refuses requests over the limit or without the needed token."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            try:
                await self._check(route, request)
                return await handler(await self._with_body(route, request))
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

    async def _with_body(self, route: Route, request: web.Request) -> web.Request:
        """Return the request with its body read. Raise if the body is too large, or if it comes too slowly."""
        if route.body is None:
            return request
        if route.needs == "open":
            request = request.clone(client_max_size=SMALL_BODY)
        try:
            async with asyncio.timeout(self._body_seconds):
                await request.read()
        except TimeoutError:
            message = f"the body did not arrive within {self._body_seconds:g} seconds"
            raise RequestError(408, "too_slow", message) from None
        return request

    async def _slow_down(self, sender: str) -> None:
        """Delay the answer to a wrong token. Raise at once if many answers to the same address wait already."""
        now = time.monotonic()
        seconds = self.mistakes.add(sender, now)
        if not seconds:
            return
        if not self._warnings.wait(sender, now):
            log.warning("many wrong tokens from %s; further ones have to wait", sender)
        with self.mistakes.waiting.hold(sender) as full:
            if full:
                raise too_many("too many wrong tokens", seconds=seconds) from None
            await asyncio.sleep(seconds)

    def _limit(self, sender: str) -> None:
        if seconds := self._quota.wait(sender, time.monotonic()):
            raise too_many(TOO_FAST, seconds=seconds)

    # -- responses ------------------------------------------------------------------------------------

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Return a response for every request, and count it."""
        began = time.perf_counter()
        self._connections.begin(request)
        try:
            response = self._preflight(request) or await self._respond(request, handler)
        finally:
            self._connections.end(request)
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
            self._check_headers(request)
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

    def _check_headers(self, request: web.Request) -> None:
        """Raise for a name that is not the monitor's, and for a compressed body, before the body is read."""
        if request.path not in PROBES:
            self._hosts.check(request.headers.get(hdrs.HOST))
        if request.headers.get(hdrs.CONTENT_ENCODING, IDENTITY).lower() != IDENTITY:
            message = "the body is compressed; send it without Content-Encoding"
            raise RequestError(415, "unsupported_encoding", message, field="Content-Encoding")

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
