"""Run a campaign with a simulated crowd: the stream requests matches and the crowd answers, until no match is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from streams.crowd.crowd import Crowd
from streams.wire import topics
from streams.wire.events import Create, MatchRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import numpy as np

    from streams.core.campaign.campaign import Campaign
    from streams.crowd.judges import Judge
    from streams.crowd.truths import Truth
    from streams.pipeline.embedded import Embedded
    from streams.wire.events import CampaignSettings, Judgment

_requests = msgspec.json.Decoder(MatchRequest)


@dataclass(frozen=True, kw_only=True)
class SimulationStep:
    """One batch: the answers that were processed, and the requests that were sent after them."""

    answers: tuple[Judgment, ...]
    requests: tuple[MatchRequest, ...]


class SimulatedCampaign:
    """One campaign on an embedded stream, and its crowd. Several campaigns may share a stream."""

    def __init__(
        self,
        stream: Embedded,
        campaign: str,
        settings: CampaignSettings,
        *,
        judges: Sequence[Judge],
        truth: Truth,
        start: datetime,
        random: np.random.Generator,
    ) -> None:
        self.name = campaign
        self.judges = judges
        self.judgments = 0
        self._stream = stream
        self._create = Create(id="create", campaign=campaign, at=start, settings=settings)
        self._crowd = Crowd(judges, truth, start=start, random=random, score_range=settings.score_range)
        self._read = 0

    @property
    def campaign(self) -> Campaign:
        """Return the campaign, with all answers so far."""
        return self._stream.campaign(self.name)

    @property
    def clock(self) -> datetime:
        """Return the simulated time."""
        return self._crowd.clock

    def steps(self) -> Iterator[SimulationStep]:
        """Create the campaign and run it to its end. In each step, half of the judges answer."""
        self._stream.publish(self._create)
        batch = max(1, len(self.judges) // 2)
        answers: list[Judgment] = []
        while True:
            self._stream.run()
            self.judgments += len(answers)
            requests = self._new_requests()
            self._crowd.ask(requests)
            yield SimulationStep(answers=tuple(answers), requests=requests)
            answers = self._crowd.answer(batch)
            if not answers:
                return
            for judgment in answers:
                self._stream.publish(judgment)

    def _new_requests(self) -> tuple[MatchRequest, ...]:
        log, mine = self._stream.log, self.name.encode()
        requests = []
        while records := log.read(topics.MATCH_REQUESTS.name, 0, start=self._read, limit=1000):
            self._read += len(records)
            requests += [_requests.decode(record.value or b"") for record in records if record.key == mine]
        return tuple(requests)
