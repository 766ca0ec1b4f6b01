"""A monitor as an operator runs it, for tests on the real stack."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.stack import JUDGESTREAM, Stack
from tests.monitor.site import TOKENS, Client
from tests.waiting import PATIENCE_SECONDS


@dataclass
class MonitorProcess(Client):
    """A running monitor."""

    process: subprocess.Popen[bytes] = field(kw_only=True)
    log: Path = field(kw_only=True)

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait()

    def is_ready(self) -> bool:
        return self.ask("/readyz").status == 200


@contextmanager
def monitor_on(stack: Stack, *, port: int = 0, **more: str) -> Iterator[MonitorProcess]:
    """Start `judgestream monitor` on a stack; give it once it listens."""
    log = stack.folder / f"monitor-{os.urandom(4).hex()}.log"
    environment = stack.environment | {"JUDGESTREAM_MONITOR_TOKENS": TOKENS} | more
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [JUDGESTREAM, "monitor", "--port", str(port)],
            env=environment,
            stdout=stream,
            stderr=stream,
            cwd=stack.folder,
        )
    try:
        stack.wait_for(lambda: "page is at" in log.read_text() or process.poll() is not None, "the monitor listens")
        assert process.poll() is None, log.read_text()
        url = next(word for word in log.read_text().split() if word.startswith("http://"))
        yield MonitorProcess(url, process=process, log=log)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE_SECONDS)
