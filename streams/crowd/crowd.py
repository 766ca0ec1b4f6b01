"""The crowd: it answers match requests with judgments, in the order of simulated time."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from streams.wire.events import Judgment
from streams.wire.score_range import DEFAULT_SCORE_RANGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import numpy as np

    from streams.crowd.judges import Judge
    from streams.crowd.truths import Truth
    from streams.wire.events import MatchRequest

SOURCE = "simulated"


class Crowd:
    """Judges who answer one request at a time. The judge who has been idle longest gets the next request.

    Time is simulated. It starts at `start` and moves with the answers.
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        truth: Truth,
        *,
        start: datetime,
        random: np.random.Generator,
        score_range: Sequence[float] = DEFAULT_SCORE_RANGE,
    ) -> None:
        self.clock = start
        self._score_range = score_range
        self._truth = truth
        self._random = random
        self._idle = deque(judges)
        self._waiting: deque[MatchRequest] = deque()
        self._busy: list[tuple[datetime, int, Judge, Judgment]] = []
        self._assigned = 0

    def ask(self, requests: Iterable[MatchRequest]) -> None:
        """Add requests. They wait until a judge is idle. A cancelled request gets no answer."""
        for request in requests:
            if request.cancelled:
                self._drop(request.id)
            else:
                self._waiting.append(request)
        self._assign()

    def _drop(self, request: str) -> None:
        """Drop a request, and the answer of the judge who works on it."""
        self._waiting = deque(each for each in self._waiting if each.id != request)
        self._idle.extend(judge for *_, judge, judgment in self._busy if judgment.request == request)
        self._busy = [each for each in self._busy if each[-1].request != request]
        heapify(self._busy)

    def answer(self, count: int) -> list[Judgment]:
        """Return the next answers, `count` at most."""
        answers: list[Judgment] = []
        while self._busy and len(answers) < count:
            self.clock, _, judge, judgment = heappop(self._busy)
            answers.append(judgment)
            self._idle.append(judge)
            self._assign()
        return answers

    def _assign(self) -> None:
        """Assign requests to idle judges. Requests that expired while they waited are dropped."""
        while self._idle and self._waiting:
            request = self._waiting.popleft()
            if request.expires_at > self.clock:
                judge = self._idle.popleft()
                judgment = answer_request(
                    request,
                    judge,
                    self._truth,
                    began=self.clock,
                    random=self._random,
                    score_range=self._score_range,
                )
                self._assigned += 1  # orders answers of the same time
                heappush(self._busy, (judgment.at, self._assigned, judge, judgment))


def answer_request(
    request: MatchRequest,
    judge: Judge,
    truth: Truth,
    *,
    began: datetime,
    random: np.random.Generator,
    score_range: Sequence[float] = DEFAULT_SCORE_RANGE,
) -> Judgment:
    """Return the answer of a judge to a request: a score if it names one system, otherwise a ranking."""
    duration_ms = judge.duration_ms(random=random)
    ranks = score = None
    if len(request.systems) == 1:
        (system,) = request.systems
        score = judge.score(system, truth.quality(system), score_range=score_range, random=random)
    else:
        ranks = judge.rank(request.systems, truth.outcome, random=random)
    return Judgment(
        id=f"{request.id}/{judge.id}",
        campaign=request.campaign,
        segment=request.segment or "none",
        judge=judge.id,
        systems=request.systems,
        ranks=ranks,
        score=score,
        at=began + timedelta(milliseconds=duration_ms),
        request=request.id,
        duration_ms=duration_ms,
        source=SOURCE,
    )
