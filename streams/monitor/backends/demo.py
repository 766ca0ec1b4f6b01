"""The demo of the live page: two simulated campaigns, slow enough to watch."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from streams.crowd import WMT13_FR_EN, Competition, SimulatedCampaign, Skills, recruit, segment_names
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import CampaignSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.crowd import SimulationStep
    from streams.monitor.backends.embedded import EmbeddedBackend

SECOND = "arena.assistants"
ASSISTANTS = {"robin": 0.9, "wren": 0.7, "kestrel": 0.4, "heron": 0.35, "sparrow": -0.2, "dodo": -1.1}
SNAPSHOT_SECONDS = 0.5
SHORTEST_PAUSE = 0.02
TYPICAL_SECONDS = 25.0  # per simulated judgment
BAD_EVERY = 40  # steps between two invalid records


class DemoCampaigns:
    """The campaigns and their simulated judges. Everything but the pace is a function of the arguments."""

    def __init__(self, *, judges: int, careless: float, budget: int, seed: int, judge_key: str = "demo") -> None:
        random = np.random.default_rng(seed)
        competition = Competition.load(WMT13_FR_EN)
        self.stream = Embedded(Settings(seed=seed, judge_key=judge_key, snapshot_seconds=SNAPSHOT_SECONDS))
        self.budget = budget
        # Simulated time ends about now.
        start = datetime.now(UTC) - timedelta(seconds=TYPICAL_SECONDS * budget / judges)
        self.plays = [
            SimulatedCampaign(
                self.stream,
                competition.campaign,
                CampaignSettings(
                    systems=competition.systems, segments=segment_names(300), budget=budget, outstanding=judges
                ),
                judges=recruit(judges, careless=careless, random=random),
                truth=competition,
                start=start,
                random=random,
            ),
            SimulatedCampaign(
                self.stream,
                SECOND,
                CampaignSettings(
                    model="grm",
                    systems=tuple(sorted(ASSISTANTS)),
                    segments=segment_names(60),
                    segment_choice="information",
                    budget=max(1, budget // 10),
                    outstanding=max(1, judges // 2),
                ),
                judges=recruit(max(1, judges // 2), careless=careless, random=random),
                truth=Skills(ASSISTANTS),
                start=start,
                random=random,
            ),
        ]

    @property
    def judgments(self) -> int:
        """Return the number of judgments so far."""
        return sum(play.judgments for play in self.plays)

    async def run(self, backend: EmbeddedBackend, *, seconds: float) -> None:
        """Run all campaigns until their budgets are spent, in about the given number of seconds."""
        loop = asyncio.get_running_loop()
        began, number = loop.time(), 0
        steps: dict[SimulatedCampaign, Iterator[SimulationStep]] = {play: play.steps() for play in self.plays}
        while steps:
            for play in list(steps):
                # The second campaign has a smaller budget; both end at the same time.
                if play is not self.plays[0] and self.plays[0] in steps and number % 5:
                    continue
                if await backend.work(lambda play=play: next(steps[play], None)) is None:  # type: ignore[misc]
                    del steps[play]
            number += 1
            if number % BAD_EVERY == 0:
                await backend.work(self._publish_invalid)
            # Faster and faster: the first judgments change the leaderboard most.
            due = seconds * (self.plays[0].judgments / self.budget) ** 0.5
            await asyncio.sleep(max(SHORTEST_PAUSE if seconds else 0.0, due - (loop.time() - began)))

    def _publish_invalid(self) -> None:
        """Publish what a client with a bug might send: a judgment of an unknown system."""
        name = self.plays[0].name
        record = f'{{"id":"bad-{self.judgments}","campaign":"{name}","segment":"s","judge":"tester",'
        record += '"systems":["ONLINE-Z","UEDIN"],"ranks":[1,2],"at":"2026-01-01T00:00:00Z"}'
        self.stream.log.append(topics.JUDGMENTS.name, name.encode(), record.encode())
