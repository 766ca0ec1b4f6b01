"""Starting a worker. Its servers are checked first, so that a missing one is a clear error."""

from __future__ import annotations

import gc
import logging
import sys
from typing import TYPE_CHECKING

from streams.core import kernels
from streams.errors import SettingError
from streams.kafka.admin import check_log_is_kept, check_topics
from streams.logs import muted, reporting
from streams.metrics import WorkerMetrics
from streams.stores.redis.store import RedisStore
from streams.wire.scanner import kernels as scanner_kernels
from streams.worker.app import create_app
from streams.worker.status import WorkerStatus
from streams.worker.stopping import BoundedWorker

if TYPE_CHECKING:
    from streams.settings import Settings

log = logging.getLogger(__name__)

# How long a thread computes before another one that waits may run. With Python's 5 ms, each step of the event loop
# would wait so long while a leaderboard is settled.
SWITCH_SECONDS = 0.0005


def run(settings: Settings) -> None:
    """Run a worker until it is stopped, and raise SystemExit. The process must end then: see `BoundedWorker`."""
    with reporting(settings):
        _run(settings)


def _run(settings: Settings) -> None:
    if not settings.judge_key:
        raise SettingError(
            "judge_key is not set. Judges' ids are stored only as pseudonyms made with it; "
            "set JUDGESTREAM_JUDGE_KEY to a secret of your own, e.g. the output of: openssl rand -hex 32"
        )
    store = RedisStore(settings.redis, namespace=settings.namespace)
    store.ping()
    store.check_eviction()
    with muted("aiokafka"):
        reports = check_topics(settings)
    check_log_is_kept(reports)
    for report in reports:
        if report.problems:
            log.warning("%s", report.describe(), extra={"topic": report.name})
    for name in ("pairs", "groups", "settled", "lookahead", "picks"):
        kernels.compiled(name)
    scanner_kernels.compiled("lines")
    # A batch makes thousands of objects without cycles; by default the collector would walk all state for them.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    sys.setswitchinterval(SWITCH_SECONDS)
    status = WorkerStatus()
    app = create_app(settings, store, status, WorkerMetrics())
    worker = BoundedWorker(
        app, status, loglevel=settings.log_level, redirect_stdouts=False, quiet=True, override_logging=False
    )
    worker.spinner = None  # it would draw on standard output
    worker.execute_from_commandline()
