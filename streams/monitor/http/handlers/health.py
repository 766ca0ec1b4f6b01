"""Handlers for those who operate the monitor: status, health checks, metrics and the API's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from streams.monitor.http.responses import JSON, REVALIDATED, UNCACHED, json_response

if TYPE_CHECKING:
    from streams.monitor.http.app import Site


async def status(site: Site, _: web.Request) -> web.Response:
    """The state of the monitor and of the workers, with what is wrong and what to do."""
    return json_response(await site.status())


async def live(site: Site, _: web.Request) -> web.Response:
    """Whether the monitor runs, or needs a restart."""
    problem = site.monitor.failure()
    return web.Response(text=f"{problem or 'ok'}\n", status=503 if problem else 200, headers=UNCACHED)


async def ready(site: Site, _: web.Request) -> web.Response:
    """Whether the monitor runs, Kafka and Redis answer, and the workers do their work."""
    problems = "\n".join(map(str, site.monitor.problems()))
    return web.Response(text=f"{problems or 'ok'}\n", status=503 if problems else 200, headers=UNCACHED)


async def metrics(site: Site, request: web.Request) -> web.Response:
    """Metrics for Prometheus."""
    text, content_type = site.metrics.exposition(request.headers.get("Accept", ""))
    return web.Response(body=text, headers={**UNCACHED, "Content-Type": content_type})


async def openapi(site: Site, _: web.Request) -> web.Response:
    """The OpenAPI document of this API."""
    return web.Response(body=site.openapi, content_type=JSON, headers=REVALIDATED)
