"""Running the monitor beside the workers."""

from __future__ import annotations

import asyncio
import gc
import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING

from streams.diagnostics import reporting
from streams.metrics import MonitorMetrics
from streams.monitor.app import Site
from streams.monitor.live import LiveBackend
from streams.monitor.serving import serving, until_told

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.settings import Settings

log = logging.getLogger(__name__)


def run(settings: Settings, *, ready: Callable[[str], None]) -> None:
    """Serve until told to stop; `ready` is given the URL."""
    with reporting(settings):
        if not settings.judge_key:
            log.warning("judge_key is not set, so no matches are given out; set it as the workers have it")
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, ready))


async def _serve(settings: Settings, ready: Callable[[str], None]) -> None:
    metrics = MonitorMetrics()
    site = Site(LiveBackend(settings, metrics), settings, metrics)
    # What stands here now stays; the collector need not walk it again and again.
    gc.freeze()
    async with serving(site.app(), host=settings.monitor_host, port=settings.monitor_port) as url:
        ready(url)
        await until_told()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Give the quicker event loop, where it is installed."""
    if find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
