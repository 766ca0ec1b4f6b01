"""The real stack behind a page: Kafka, Redis, a worker and a monitor, with campaigns to look at."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations, count, cycle, islice
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from streams.wire.events import encode
from tests.builders import crowd_log, judgment
from tests.integration.stack import JUDGESTREAM
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from streams.wire.events import Judgment
    from tests.integration.stack import Stack

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://example.org";"click")',
    "@SUM(1+1)",
    "a system whose name goes on.and-on.and-on.until-nobody.reads-it.any-more-2026",
    "تجربة",
    "online-b",
)
JUDGES = ("eve\x07\x1b[31m", "eve\u202egro")


def contests(
    campaign: str, order: Sequence[str], number: int, *, start: int = 0, tier: int = 1, judges: Sequence[str] = ("j",)
) -> list[Judgment]:
    """Return judgments of all pairs in turn. The first in the order wins; inside a tier the winner alternates."""
    meetings = islice(cycle(combinations(range(len(order)), 2)), number)
    log = []
    for turn, (one, other) in enumerate(meetings, start):
        equals = one // tier == other // tier
        turns = turn // (len(order) * (len(order) - 1) // 2)
        ranks = (2, 1) if equals and turns % 2 else (1, 2)
        systems = (order[one], order[other])
        log.append(judgment(turn, campaign=campaign, systems=systems, ranks=ranks, judge=judges[turn % len(judges)]))
    return log


@dataclass(frozen=True)
class Shown:
    """A campaign that the tests only look at."""

    name: str
    systems: tuple[str, ...]
    judgments: int


@dataclass
class Site:
    """A monitor on the real stack, started and stopped as an operator would."""

    stack: Stack
    port: int
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    crowd: Shown = field(init=False)
    hostile: Shown = field(init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_monitor(self) -> None:
        log = (self.folder / "monitor.log").open("ab")
        command = [str(JUDGESTREAM), "monitor", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, env=self.stack.environment | self.settings, stdout=log, stderr=log, cwd=self.folder
        )
        log.close()
        self.wait_until_it_answers()

    def stop_monitor(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the monitor for a while."""
        self.stop_monitor()
        try:
            yield
        finally:
            self.start_monitor()

    def wait_until_it_answers(self) -> None:
        wait_for(
            lambda: self._answers() or self.process.poll() is not None,
            lambda: f"{(self.folder / 'monitor.log').read_text()}\nthe monitor answers",
            pause=0.05,
        )
        assert self.process.poll() is None, (self.folder / "monitor.log").read_text()

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.url}/readyz"):
                return True
        except URLError:
            return False

    def get(self, path: str) -> Any:
        with urlopen(f"{self.url}{path}") as answer:
            return json.load(answer)

    def campaign(self) -> str:
        """Return a name that no other test uses."""
        return f"campaign.{next(self._numbers)}"

    def publish(self, judgments: Sequence[Judgment]) -> None:
        self.publish_records([(each.campaign.encode(), encode(each)) for each in judgments])

    def publish_records(self, records: Sequence[tuple[bytes, bytes]]) -> None:
        """Publish from a thread, as Playwright's own event loop runs in this one."""
        self._thread.submit(self.stack.publish, records).result()

    def fill(self) -> None:
        """Publish the campaigns that tests only look at, and wait until the monitor has them."""
        log = crowd_log(1200, systems=13, seed=7)
        self.crowd = Shown("campaign-0", tuple(f"system-{number}" for number in range(13)), len(log))
        self.publish(log[:400])
        self.stack.wait_for(self._has_sample, "the first sample of the ratings over time")
        self.publish(log[400:])
        self.publish_records([(b"campaign-0", b'{"id": "bad", "campaign": "campaign-0"}')] * 2)
        self.hostile = Shown("hostile", HOSTILE, 90)
        self.publish(contests("hostile", HOSTILE, 90, tier=2, judges=JUDGES))
        self.stack.wait_for(self._has_all, "all judgments on the monitor")

    def _has_all(self) -> bool:
        known = {each["campaign"]: each for each in self.get("/campaigns")["campaigns"]}
        return all(known.get(each.name, {}).get("judgments") == each.judgments for each in (self.crowd, self.hostile))

    def _has_sample(self) -> bool:
        """Return whether a sample of the ratings is kept. One that is not kept has a new time in each answer."""
        try:
            one, other = (self.get(f"/campaigns/{self.crowd.name}/history")["samples"] for _ in range(2))
        except HTTPError:
            return False  # no worker has read a judgment yet
        return bool(one) and one == other

    def close(self) -> None:
        self.stop_monitor()
        self._thread.shutdown()
