"""Serving the monitor until it is told to stop."""

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
BACKLOG = 4096  # connections that wait to be taken; a burst of them is not turned away


@asynccontextmanager
async def serve_app(app: web.Application, *, host: str, port: int) -> AsyncIterator[str]:
    """Answer on an address, port 0 being a free one; give the URL."""
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
        shown = f"[{host}]" if ":" in host else {"0.0.0.0": "127.0.0.1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
        yield f"http://{shown}:{bound}"
    finally:
        await runner.cleanup()


async def wait_for_signal() -> None:
    """Wait for SIGINT or SIGTERM."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    await told.wait()
