"""What `judgestream doctor` finds out about the workers: it looks as the monitor does, for a few seconds at most."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.cli.stored_campaign import open_store
from streams.kafka.reading import following_log_ends
from streams.monitor.backends.lags import LogEnd, read_lags
from streams.monitor.state.liveness import STALL_SECONDS, Liveness
from streams.wire.topics import JUDGMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.backends.base import Lag
    from streams.monitor.state.liveness import Findings
    from streams.settings import Settings
    from streams.stores.workers import WorkerReport

LOOK_SECONDS = 0.5
MOVING_SECONDS = 1.0  # a partition that was seen to move within this time is no concern


@dataclass(frozen=True, kw_only=True)
class WorkerChecks:
    """The last look, and what is wrong."""

    lags: Sequence[Lag]
    workers: Sequence[WorkerReport]
    findings: Findings

    def describe(self) -> str:
        """Return how many workers run, and what waits."""
        running = sum(not worker.is_silent for worker in self.workers)
        waiting = sum(lag.readable - lag.applied for lag in self.lags)
        parts = [f"{running} running" if running else "none is running; start one with: judgestream worker"]
        parts.append(f"{waiting:,} records wait" if waiting else "nothing waits")
        if loading := sum(len(worker.opening) for worker in self.workers):
            parts.append(f"the state of {loading} partitions is being loaded")
        return "; ".join([*parts, *(note.text for note in self.findings.notes if note.kind == "worker_silent")])


def check_workers(settings: Settings) -> WorkerChecks:
    """Look until every partition has moved or has nothing to do, or until there is a problem."""
    topic, liveness, began = JUDGMENTS.within(settings.namespace), Liveness(grace_seconds=0.0), time.monotonic()
    with following_log_ends(settings) as read_ends, open_store(settings) as store:
        while True:
            ends = {number: LogEnd(end, end) for number, end in read_ends().items()}
            lags, workers = read_lags(store, topic, ends), store.read_workers()
            now = time.monotonic()
            findings = liveness.judge(now, lags, workers)
            moves = now - began >= MOVING_SECONDS and liveness.longest_stall(now) < MOVING_SECONDS
            gives_up = now - began > STALL_SECONDS + MOVING_SECONDS
            if findings.stalled or not any(lag.readable > lag.applied for lag in lags) or moves or gives_up:
                return WorkerChecks(lags=lags, workers=workers, findings=findings)
            time.sleep(LOOK_SECONDS)
