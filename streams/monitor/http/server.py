"""Serves the monitor until a signal arrives."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from streams.errors import SettingError
from streams.monitor.http.connections import CONNECTIONS, Connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SHUTDOWN_SECONDS = 3.0
LINGERING_SECONDS = 2.0  # for which the rest of a refused body is read, so that the client sees why
BACKLOG = 4096  # connections that may wait, so that a burst is not refused


@asynccontextmanager
async def serve_app(app: web.Application, *, host: str, port: int) -> AsyncIterator[str]:
    """Serve an application on an address and yield its URL. Port 0 chooses a free port."""
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=SHUTDOWN_SECONDS,
        handle_signals=False,
        auto_decompress=False,
        lingering_time=LINGERING_SECONDS,
    )
    await runner.setup()
    handlers, connections, loop = runner.server, app[CONNECTIONS], asyncio.get_running_loop()
    assert handlers is not None
    sweeping = asyncio.create_task(connections.sweep(), name="sweep")
    server = None
    try:
        try:
            server = await loop.create_server(
                lambda: Connection(connections, handlers), host, port, backlog=BACKLOG, reuse_address=True
            )
        except OSError as error:
            message = f"can't listen on {host}:{port}: {error.strerror}; choose another port, or 0 for a free one"
            raise SettingError(message) from None
        bound = server.sockets[0].getsockname()[1]
        name = f"[{host}]" if ":" in host else {"0.0.0.0": "127.0.0.1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
        yield f"http://{name}:{bound}"
    finally:
        sweeping.cancel()
        if server is not None:
            server.close()
        await runner.cleanup()


async def wait_for_signal() -> None:
    """Wait for SIGINT or SIGTERM."""
    signalled = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signalled.set)
    await signalled.wait()
