"""A competition held again: the embedded way asks for matches, a crowd answers, until the budget is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.crowd.agreement import order_tau, overlaps
from streams.crowd.judges import recruit
from streams.crowd.simulated_campaign import SimulatedCampaign
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.wire.events import EPOCH, CampaignSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from streams.core.campaign.campaign import Campaign
    from streams.crowd.competition import Competition
    from streams.crowd.simulated_campaign import SimulationStep
    from streams.wire.events import Leaderboard

SEGMENTS = 300


class Simulation:
    """A campaign of its own stream and crowd; everything is a function of the arguments.

    >>> from streams.crowd import WMT13_FR_EN, Competition
    >>> wmt13 = Competition.load(WMT13_FR_EN)
    >>> simulation = Simulation(wmt13, judges=4, careless=0.0, budget=10, seed=1)
    >>> [len(step.answers) for step in simulation.steps()]
    [0, 2, 2, 2, 2, 2]
    >>> simulation.leaderboard().judgments
    10
    """

    def __init__(self, competition: Competition, *, judges: int, careless: float, budget: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.competition = competition
        self.judges = recruit(judges, careless=careless, random=random)
        self.budget = budget
        self.stream = Embedded(Settings(seed=seed))
        settings = CampaignSettings(
            systems=competition.systems, segments=segment_names(SEGMENTS), budget=budget, outstanding=len(self.judges)
        )
        self._play = SimulatedCampaign(
            self.stream,
            competition.campaign,
            settings,
            judges=self.judges,
            truth=competition,
            start=EPOCH,
            random=random,
        )

    def steps(self) -> Iterator[SimulationStep]:
        """Open the campaign and see it through, a batch at a time: half of the judges have answered in each."""
        return self._play.steps()

    @property
    def judgments(self) -> int:
        """Count the judgments that were processed."""
        return self._play.judgments

    @property
    def _campaign(self) -> Campaign:
        return self._play.campaign

    def leaderboard(self) -> Leaderboard:
        """Rank the systems by what has been judged so far."""
        return self._campaign.leaderboard()

    @property
    def outstanding(self) -> int:
        """Count the match requests that wait for an answer."""
        return len(self._campaign.requests.outstanding)

    @property
    def careless(self) -> int:
        """Count the judges who do not look."""
        return sum(judge.carelessness > 0 for judge in self.judges)

    @property
    def elapsed(self) -> timedelta:
        """Give the simulated time that the crowd has worked."""
        return self._play.clock - EPOCH

    def tau(self, leaderboard: Leaderboard) -> float:
        """Compare a leaderboard's order with the official one."""
        return order_tau([row.system for row in leaderboard.rows], self.competition.systems)

    def overlaps(self, leaderboard: Leaderboard) -> int:
        """Count the systems whose rank range overlaps the official one."""
        return overlaps(leaderboard.rows, self.competition.official)


def segment_names(count: int) -> tuple[str, ...]:
    """Name so many segments.

    >>> segment_names(2)
    ('segment-1', 'segment-2')
    """
    return tuple(f"segment-{number}" for number in range(1, count + 1))
