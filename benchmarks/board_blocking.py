"""How long a campaign waits while the board of a large one is settled, and its match requests are chosen.

One thread rates small batches of campaign B, as the rater does. Another one settles the board of campaign A and chooses
its requests, as the thread of the boards does. What changes a campaign has the turn.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire.events import CampaignSettings, Command, Create, Judgment, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

SYSTEMS, JUDGMENTS, OUTSTANDING = 1000, 40_000, 100
SECONDS, BATCH = 8.0, 50
AT = datetime(2026, 1, 1, tzinfo=UTC)


class Worker:
    """A partition with both campaigns, and the turn."""

    def __init__(self, seed: int) -> None:
        options = ProcessorOptions.from_settings(Settings())
        self.processor, _ = Processor.open("judgments.v1", 0, MemoryStore(), options)
        self.turn = threading.Lock()
        self._random = np.random.default_rng(seed)
        self._number = 0

    def judge(self, campaign: str, systems: tuple[str, ...], request: str | None = None) -> Judgment:
        """Return a judgment of two systems."""
        self._number += 1
        ranks = (1, 2) if self._random.random() < 0.5 else (2, 1)
        judge = f"judge-{self._number % 50}"
        return Judgment(
            id=f"{self._number}",
            campaign=campaign,
            segment="s",
            judge=judge,
            systems=systems,
            ranks=ranks,
            at=AT,
            request=request,
        )

    def rate(self, events: Sequence[Judgment | Command]) -> None:
        """Rate a batch in a turn."""
        with self.turn:
            start = self.processor.next_offset
            records = [Record(start + k, each.campaign.encode(), encode(each)) for k, each in enumerate(events)]
            self.processor.persist(self.processor.prepare(records))

    def fill(self) -> None:
        """Rate many judgments of the large campaign."""
        names = [f"system-{number:04}" for number in range(SYSTEMS)]
        settings = CampaignSettings(systems=tuple(names), outstanding=OUTSTANDING, stop_confidence=0.95)
        self.rate([Create(id="create", campaign="a", at=AT, settings=settings)])
        for _ in range(JUDGMENTS // 2000):
            pairs = [self._random.choice(SYSTEMS, 2, replace=False).tolist() for _ in range(2000)]
            self.rate([self.judge("a", (names[one], names[other])) for one, other in pairs])

    def settle_large(self) -> tuple[float, float]:
        """Settle the board of the large campaign, and choose its requests. Return the seconds of both."""
        boards, requests = self.processor.boards, self.processor.requests
        with self.turn:
            _, drafts, _ = boards.draft(["a"])
        began = time.perf_counter()
        settled = [draft.settle() for draft in drafts]
        board = time.perf_counter() - began
        with self.turn:
            boards.finish(settled)
            drafted = requests.draft()
        assert drafted is not None
        began = time.perf_counter()
        chosen = drafted.choose()
        choice = time.perf_counter() - began
        with self.turn:
            change, _ = requests.open(chosen)
            assert change is not None
            requests.persist(change)
        outstanding = list(self.processor.campaigns["a"].outstanding.values())
        self.rate([self.judge("a", each.systems, each.id) for each in outstanding[: len(outstanding) // 2]])
        return board, choice


def measure(worker: Worker, *, with_large: bool) -> str:
    """Rate batches of the small campaign for a while. Return how long they took."""
    done = threading.Event()
    took: list[tuple[float, float]] = []

    def settle() -> None:
        while not done.is_set():
            took.append(worker.settle_large())

    thread = threading.Thread(target=settle)
    if with_large:
        thread.start()
    waits = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        batch = [worker.judge("b", ("x", "y")) for _ in range(BATCH)]
        began = time.perf_counter()
        worker.rate(batch)
        waits.append(time.perf_counter() - began)
        time.sleep(0.001)
    done.set()
    if with_large:
        thread.join()
    middle, late, longest = 1000 * np.quantile(waits, [0.5, 0.99, 1.0])
    found = f"{len(waits):>6,} batches, {middle:.1f} ms in the median, {late:.1f} ms at 99 %, {longest:.1f} ms at most"
    if took:
        board, choice = np.mean(took, axis=0)
        found += f"; {len(took)} boards of {board:.2f} s and choices of {choice:.2f} s"
    return found


def blocking(_: int, seed: int, __: str) -> None:
    """Print how long a small campaign waits, without and with a large one."""
    print(f"\nBatches of {BATCH} judgments of a campaign with 2 systems, beside one with {SYSTEMS:,} systems")
    worker = Worker(seed)
    worker.fill()
    worker.settle_large()  # kernels are loaded
    for with_large in (False, True):
        print(
            f"{'board and requests' if with_large else 'idle':<20}{measure(worker, with_large=with_large)}", flush=True
        )
