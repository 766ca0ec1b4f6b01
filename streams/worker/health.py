"""The worker's own HTTP server: /healthz reports whether it is alive, /readyz whether it is ready, and /metrics."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from aiohttp import web
from mode import Service

from streams.errors import SettingError

if TYPE_CHECKING:
    from streams.metrics import WorkerMetrics
    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)


class HealthServer(Service):
    """Answers on `host:port` for as long as the worker runs."""

    mundane_level = "debug"

    def __init__(self, status: WorkerStatus, metrics: WorkerMetrics, *, host: str, port: int) -> None:
        super().__init__()
        self._status = status
        self._metrics = metrics
        metrics.ready.set_function(lambda: status.find_readiness_problem() is None)
        metrics.assigned.set_function(lambda: status.assigned)
        metrics.open.set_function(lambda: status.open)
        metrics.stopped.set_function(lambda: len(status.stopped))
        metrics.quarantined.set_function(lambda: len(status.quarantined) - len(status.reruns))
        metrics.reruns.set_function(lambda: len(status.reruns))
        metrics.rerun_progress.set_function(lambda: min(status.rerun_progress.values(), default=0.0))
        self._host, self._port = host, port

    async def on_start(self) -> None:
        """Start to listen."""
        app = web.Application()
        routes = {"/healthz": self._get_health, "/readyz": self._get_readiness, "/metrics": self._get_metrics}
        app.add_routes([web.get(path, handler) for path, handler in routes.items()])
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            raise SettingError(
                f"health_port is {self._port}: {error.strerror}; choose another port, or 0 for none"
            ) from None
        log.info("health and metrics are on http://%s:%d", self._host, self._port)

    async def on_stop(self) -> None:
        """Stop to listen."""
        await self._runner.cleanup()

    async def _get_health(self, _: web.Request) -> web.Response:
        return _response(self._status.find_liveness_problem(monotonic()), "ok")

    async def _get_readiness(self, _: web.Request) -> web.Response:
        well = [self._status.describe_readiness(), *(text for _, text in sorted(self._status.waiting.items()))]
        return _response(self._status.find_readiness_problem(), "\n".join(well))

    async def _get_metrics(self, request: web.Request) -> web.Response:
        text, content_type = self._metrics.exposition(request.headers.get("Accept", ""))
        return web.Response(body=text, headers={"Content-Type": content_type})


def _response(problem: str | None, well: str) -> web.Response:
    return web.Response(text=f"{problem or well}\n", status=503 if problem else 200)
