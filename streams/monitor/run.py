"""Runs the monitor beside the workers."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from streams.logs import reporting
from streams.metrics import MonitorMetrics
from streams.monitor.backends.kafka import KafkaBackend
from streams.monitor.http.app import Site
from streams.monitor.http.server import serve_app, wait_for_signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.settings import Settings

log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.001


def run(settings: Settings, *, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. Call `ready` with the URL when it answers."""
    with reporting(settings):
        if not settings.judge_key:
            log.warning(
                "judge_key is not set: judges may not be given by id; set JUDGESTREAM_JUDGE_KEY as for the workers"
            )
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, ready))


async def _serve(settings: Settings, ready: Callable[[str], None]) -> None:
    metrics = MonitorMetrics()
    site = Site(KafkaBackend(settings, metrics), settings, metrics)
    # A snapshot makes thousands of objects without cycles. By default the collector would walk all of them often.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    # The threads that snapshot hold the interpreter for so long at most while somebody waits for an answer.
    sys.setswitchinterval(SWITCH_SECONDS)
    async with serve_app(site.app(), host=settings.monitor_host, port=settings.monitor_port) as url:
        ready(url)
        await wait_for_signal()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the factory of uvloop, which is faster, if it is installed."""
    if find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
