"""Serves the monitor until a signal arrives."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from streams.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SHUTDOWN_SECONDS = 3.0
BACKLOG = 4096  # connections that may wait, so that a burst is not refused


@asynccontextmanager
async def serve_app(app: web.Application, *, host: str, port: int) -> AsyncIterator[str]:
    """Serve an application on an address and yield its URL. Port 0 chooses a free port."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, handle_signals=False)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, backlog=BACKLOG, reuse_address=True)
        try:
            await site.start()
        except OSError as error:
            message = f"can't listen on {host}:{port}: {error.strerror}; choose another port, or 0 for a free one"
            raise SettingError(message) from None
        bound = runner.addresses[0][1]
        name = f"[{host}]" if ":" in host else {"0.0.0.0": "127.0.0.1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
        yield f"http://{name}:{bound}"
    finally:
        await runner.cleanup()


async def wait_for_signal() -> None:
    """Wait for SIGINT or SIGTERM."""
    signalled = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signalled.set)
    await signalled.wait()
