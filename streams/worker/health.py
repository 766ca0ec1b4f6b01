"""The worker's own small door: /healthz says whether it lives, /readyz whether it works, both with the reason."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from aiohttp import web
from mode import Service

from streams.errors import SettingError

if TYPE_CHECKING:
    from streams.worker.status import Status

log = logging.getLogger(__name__)


class Health(Service):
    """Answers on `host:port` for as long as the worker runs."""

    mundane_level = "debug"

    def __init__(self, status: Status, *, host: str, port: int) -> None:
        super().__init__()
        self._status = status
        self._host, self._port = host, port

    async def on_start(self) -> None:
        """Open the door."""
        app = web.Application()
        app.add_routes([web.get("/healthz", self._live), web.get("/readyz", self._ready)])
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            raise SettingError(f"health_port is {self._port}: {error.strerror}; choose another one, or 0") from None
        log.info("health is told on http://%s:%d", self._host, self._port)

    async def on_stop(self) -> None:
        """Close the door."""
        await self._runner.cleanup()

    async def _live(self, _: web.Request) -> web.Response:
        return _answer(self._status.not_live(monotonic()))

    async def _ready(self, _: web.Request) -> web.Response:
        return _answer(self._status.not_ready())


def _answer(problem: str | None) -> web.Response:
    return web.Response(text=f"{problem or 'ok'}\n", status=503 if problem else 200)
