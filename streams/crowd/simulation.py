"""Run a published competition again, in one process: a simulated crowd answers until the budget is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.crowd.accuracy import order_tau, overlaps
from streams.crowd.judges import recruit
from streams.crowd.simulated_campaign import SimulatedCampaign
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.wire.events import EPOCH, CampaignSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from streams.core.campaign.campaign import Campaign
    from streams.core.judges.power import DetectionPower
    from streams.crowd.competition import Competition
    from streams.crowd.simulated_campaign import SimulationStep
    from streams.wire.events import Leaderboard

SEGMENTS = 300


class Simulation:
    """A simulated campaign with a stream and a crowd of its own. The same arguments give the same result.

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
        self._simulated = SimulatedCampaign(
            self.stream,
            competition.campaign,
            settings,
            judges=self.judges,
            truth=competition,
            start=EPOCH,
            random=random,
        )

    def steps(self) -> Iterator[SimulationStep]:
        """Create the campaign and run it to its end. In each step, half of the judges answer."""
        return self._simulated.steps()

    @property
    def judgments(self) -> int:
        """Return the number of judgments that were processed."""
        return self._simulated.judgments

    @property
    def _campaign(self) -> Campaign:
        return self._simulated.campaign

    def leaderboard(self) -> Leaderboard:
        """Return the current leaderboard."""
        return self._campaign.leaderboard()

    @property
    def outstanding(self) -> int:
        """Return the number of match requests that wait for an answer."""
        return len(self._campaign.outstanding)

    @property
    def careless(self) -> int:
        """Return the number of careless judges."""
        return sum(judge.carelessness > 0 for judge in self.judges)

    def count_flagged(self) -> tuple[int, int]:
        """Return the number of judges who are flagged, and of the careless ones among them."""
        flagged = self._campaign.judges_so_far().flags()
        known = Pseudonyms(self.stream.settings.judge_key.encode())
        return len(flagged), sum(known[judge.id] in flagged for judge in self.judges if judge.carelessness > 0)

    @property
    def detection_power(self) -> DetectionPower:
        """Return what the tests of the judges can find."""
        return self._campaign.judges_so_far().power()

    @property
    def elapsed(self) -> timedelta:
        """Return the simulated time since the start."""
        return self._simulated.clock - EPOCH

    def tau(self, leaderboard: Leaderboard) -> float:
        """Return Kendall's tau between the order of a leaderboard and the official order."""
        return order_tau([row.system for row in leaderboard.rows], self.competition.systems)

    def overlaps(self, leaderboard: Leaderboard) -> int:
        """Return the number of systems whose rank range overlaps the official range."""
        return overlaps(leaderboard.rows, self.competition.official)


def segment_names(count: int) -> tuple[str, ...]:
    """Return `count` names of segments.

    >>> segment_names(2)
    ('segment-1', 'segment-2')
    """
    return tuple(f"segment-{number}" for number in range(1, count + 1))
