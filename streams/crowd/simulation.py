"""A competition held again: the embedded way asks for matches, a crowd answers, until the budget is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams import topics
from streams.crowd.agreement import kendall_tau, overlaps
from streams.crowd.crowd import Crowd
from streams.crowd.judges import recruit
from streams.embedded import Embedded
from streams.events import EPOCH, CampaignSettings, Create, MatchRequest
from streams.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from streams.campaign import Campaign
    from streams.crowd.winrates import Competition
    from streams.events import Judgment, Leaderboard

SEGMENTS = 300

_requests = msgspec.json.Decoder(MatchRequest)


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one batch brought: answers that were processed, and requests that went out after them."""

    answers: tuple[Judgment, ...]
    requests: tuple[MatchRequest, ...]


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
        self.judgments = 0
        self.stream = Embedded(Settings(seed=seed))
        self._crowd = Crowd(self.judges, competition, start=EPOCH, random=random)
        self._read = 0

    def steps(self) -> Iterator[Step]:
        """Open the campaign and see it through, a batch at a time: half of the judges have answered in each."""
        self.stream.publish(
            Create(
                id="create",
                campaign=self.competition.campaign,
                at=EPOCH,
                settings=CampaignSettings(
                    systems=self.competition.systems,
                    segments=tuple(f"segment-{number}" for number in range(1, SEGMENTS + 1)),
                    budget=self.budget,
                    outstanding=len(self.judges),
                ),
            )
        )
        batch = max(1, len(self.judges) // 2)
        answers: list[Judgment] = []
        while True:
            self.stream.run()
            self.judgments += len(answers)
            requests = self._new_requests()
            self._crowd.ask(requests)
            yield Step(answers=tuple(answers), requests=requests)
            answers = self._crowd.answer(batch)
            if not answers:
                return
            for judgment in answers:
                self.stream.publish(judgment)

    def _new_requests(self) -> tuple[MatchRequest, ...]:
        records = self.stream.log.read(topics.MATCH_REQUESTS.name, 0, start=self._read, limit=len(self.judges))
        self._read += len(records)
        return tuple(_requests.decode(record.value or b"") for record in records)

    @property
    def _campaign(self) -> Campaign:
        return self.stream.campaign(self.competition.campaign)

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
        return self._crowd.clock - EPOCH

    def tau(self, leaderboard: Leaderboard) -> float:
        """Compare a leaderboard's order with the official one."""
        return kendall_tau([row.system for row in leaderboard.rows], self.competition.systems)

    def overlaps(self, leaderboard: Leaderboard) -> int:
        """Count the systems whose rank range overlaps the official one."""
        return overlaps(leaderboard.rows, self.competition.official)
