"""The worker's own small door: /healthz says whether it lives, /readyz whether it works, /metrics how it does."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from aiohttp import web
from mode import Service

from streams.errors import SettingError

if TYPE_CHECKING:
    from streams.metrics import WorkerMetrics
    from streams.worker.status import Status

log = logging.getLogger(__name__)


class Health(Service):
    """Answers on `host:port` for as long as the worker runs."""

    mundane_level = "debug"

    def __init__(self, status: Status, metrics: WorkerMetrics, *, host: str, port: int) -> None:
        super().__init__()
        self._status = status
        self._metrics = metrics
        metrics.ready.set_function(lambda: status.not_ready() is None)
        metrics.assigned.set_function(lambda: status.assigned)
        metrics.open.set_function(lambda: status.open)
        self._host, self._port = host, port

    async def on_start(self) -> None:
        """Open the door."""
        app = web.Application()
        doors = {"/healthz": self._live, "/readyz": self._ready, "/metrics": self._told}
        app.add_routes([web.get(path, answer) for path, answer in doors.items()])
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            raise SettingError(f"health_port is {self._port}: {error.strerror}; choose another one, or 0") from None
        log.info("health and metrics are told on http://%s:%d", self._host, self._port)

    async def on_stop(self) -> None:
        """Close the door."""
        await self._runner.cleanup()

    async def _live(self, _: web.Request) -> web.Response:
        return _answer(self._status.not_live(monotonic()))

    async def _ready(self, _: web.Request) -> web.Response:
        return _answer(self._status.not_ready())

    async def _told(self, request: web.Request) -> web.Response:
        text, content_type = self._metrics.exposition(request.headers.get("Accept", ""))
        return web.Response(body=text, headers={"Content-Type": content_type})


def _answer(problem: str | None) -> web.Response:
    return web.Response(text=f"{problem or 'ok'}\n", status=503 if problem else 200)
