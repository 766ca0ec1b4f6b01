"""The liveness probe of a soak, with the numbers of deploy/kubernetes: it finds a worker that would be restarted."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections import Counter

from tests.soak.errors import SoakError
from tests.soak.fleet import Fleet, Member, State

PERIOD_SECONDS, TIMEOUT_SECONDS, MOST_FAILURES = 10.0, 5.0, 3


class Liveness:
    """Asks all running workers for /healthz now and then. One that has not answered yet still starts."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._next = time.monotonic() + PERIOD_SECONDS
        self._failures: Counter[int] = Counter()  # in a row, by process
        self._begun: set[int] = set()

    def probe(self) -> None:
        """Raise SoakError if a worker has failed too often in a row."""
        if time.monotonic() < self._next:
            return
        for member in self._fleet.among(State.RUNNING):
            pid, problem = member.process.process.pid, _problem(member)
            if problem is None:
                self._begun.add(pid)
                self._failures[pid] = 0
            elif pid in self._begun:
                self._failures[pid] += 1
                if self._failures[pid] == MOST_FAILURES:
                    raise SoakError(f"worker {member.number} is not alive: {problem}\nits log: {member.process.log}")
        for member in self._fleet.among(State.FROZEN):
            self._failures[member.process.process.pid] = 0
        self._next = time.monotonic() + PERIOD_SECONDS


def _problem(member: Member) -> str | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{member.port}/healthz", timeout=TIMEOUT_SECONDS):
            return None
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode(errors='replace')}"
    except OSError as error:
        return str(error)
