"""One campaign on an embedded stream, and the crowd that judges it, asked and unasked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import numpy as np

from streams.core.campaign.campaign import Campaign
from streams.pipeline.embedded import Embedded
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import Command, Create, Judgment, MatchRequest
from tests.builders import NOON
from tests.product.cases import SEGMENTS, Case
from tests.product.checks import check_request, missing_requests
from tests.product.variants import SYSTEMS

JUDGES = ("ann", "ben", "cleo", "dan")
# The ranks of some systems, by number, as one judge sees them.
Verdict = Callable[[Sequence[int], np.random.Generator], Sequence[float]]


def by_quality(systems: Sequence[int], random: np.random.Generator) -> Sequence[float]:
    """Prefer systems of low number, mostly, with ties."""
    seen = np.asarray(systems) * 0.6 + random.normal(size=len(systems))
    found: list[float] = (np.round(seen) if len(systems) > 1 else seen).tolist()
    return found


def all_equal(systems: Sequence[int], _: np.random.Generator) -> Sequence[float]:
    """See no difference, ever."""
    return [0.0] * len(systems)


def first_wins(systems: Sequence[int], random: np.random.Generator) -> Sequence[float]:
    """Always prefer the system of number 1. The baseline is number 0, so that this is not it."""
    return [
        -9.0 if system == 1 else float(seen) for system, seen in zip(systems, by_quality(systems, random), strict=True)
    ]


def judgment_of(
    systems: Sequence[str],
    *,
    campaign: str,
    number: int,
    segment: str,
    judge: str,
    scored: bool,
    request: str | None,
    verdict: Verdict,
    random: np.random.Generator,
) -> Judgment:
    """Return what a judge says of some systems: a ranking of them, or a score of the first."""
    seen = verdict([int(system.rpartition("-")[2]) for system in systems], random)
    ranks = tuple(int(rank) + 1 for rank in np.unique(seen, return_inverse=True)[1])
    return Judgment(
        id=f"judgment-{number}",
        campaign=campaign,
        segment=segment,
        judge=judge,
        systems=tuple(systems),
        ranks=None if scored else ranks,
        score=float(np.clip(70 - 9 * seen[0], 0, 100)) if scored else None,
        request=request,
        duration_ms=2000 + 10 * number,
        at=NOON + timedelta(seconds=number),
    )


class Run:
    """A campaign with the settings of a case. Every request is checked when it is sent."""

    def __init__(self, case: Case, *, name: str = "c", stream: Embedded | None = None) -> None:
        self.case = case
        self.name = name
        self.stream = stream or Embedded(Settings(snapshot_judgments=100))
        self.verdict: Verdict = by_quality
        self.judges: Sequence[str] = JUDGES
        self.judged: list[Judgment] = []
        self.expected: set[str] = set()  # reasons of rejections that the scenario brings about
        self._random = np.random.default_rng(7)
        self._number = 0
        self._read = 0  # match requests that were read

    @property
    def campaign(self) -> Campaign:
        return self.stream.campaign(self.name)

    @property
    def scored(self) -> bool:
        return self.case.variant.model.kind == "scores"

    def create(self, systems: Sequence[str] = SYSTEMS) -> None:
        self.command(Create, settings=self.case.settings(systems=tuple(systems)))

    def command(self, kind: type[Command], **fields: Any) -> None:
        self.stream.publish(kind(id=f"command-{self._next()}", campaign=self.name, at=self._now(), **fields))
        self.process()

    def process(self) -> None:
        """Let the worker process what was sent, and check what it asks for."""
        before = self.stream.log.end(topics.MATCH_REQUESTS.name, 0)
        self.stream.run()
        self.stream.snapshot()
        for request in self._sent(before):
            check_request(request, self.campaign, self.case.variant)
        for request in self.campaign.outstanding.values():
            assert not set(request.systems) & set(self.campaign.status.withdrawn), f"{request} can't be answered"
        assert missing_requests(self.campaign, self.case.variant) == 0, f"outstanding: {self.campaign.outstanding}"

    def judge(
        self, count: int, systems: Sequence[str] | None = None, *, ways: int = 5, with_baseline: bool = True
    ) -> None:
        """Send judgments that nobody asked for, in one batch. They contain the baseline where the mode needs one."""
        baseline = self.case.variant.settings.baseline if with_baseline else None
        known = self.campaign.tables.systems.names if systems is None else systems
        others = [system for system in known if system != baseline]
        fixed = [baseline] if baseline else []
        most = min(ways, len(others) + len(fixed))
        for _ in range(count):
            size = 1 if self.scored else int(self._random.integers(2, most + 1))
            shown = [*fixed, *(others[k] for k in self._random.permutation(len(others)))][:size]
            self._send(shown, segment=SEGMENTS[self._random.integers(len(SEGMENTS))])
        self.process()

    def requests(self) -> list[MatchRequest]:
        """Return the requests that were sent since the last call, as a platform reads them."""
        start, self._read = self._read, self.stream.log.end(topics.MATCH_REQUESTS.name, 0)
        return self._sent(start)

    def _sent(self, start: int) -> list[MatchRequest]:
        records = self.stream.log.all(topics.MATCH_REQUESTS.name)[start:]
        sent = [msgspec.json.decode(record.value or b"", type=MatchRequest) for record in records]
        return [request for request in sent if request.campaign == self.name and not request.cancelled]

    def answer(self, rounds: int = 1) -> int:
        """Answer what is asked, in so many rounds. Return the number of answers."""
        answered = 0
        for _ in range(rounds):
            still_open = self.campaign.outstanding
            requests, before = [each for each in self.requests() if each.id in still_open], self._scores()
            for request in requests:
                segment = request.segment or SEGMENTS[self._random.integers(len(SEGMENTS))]
                self._send(request.systems, segment=segment, request=request.id)
            self.process()
            answered += len(requests)
            after = self._scores()
            if self.scored and self.verdict is not by_quality:
                continue  # the same score again for the same output changes no score
            for request in requests:
                assert any(before[each] != after[each] for each in request.systems), f"{request}: nothing has changed"
        return answered

    def _scores(self) -> dict[str, tuple[float, float]]:
        mean, deviation = self.campaign.model.scores()
        names = self.campaign.tables.systems.names
        return dict(zip(names, zip(mean.tolist(), deviation.tolist(), strict=True), strict=True))

    def _send(self, systems: Sequence[str], *, segment: str, request: str | None = None) -> None:
        number = self._next()
        judgment = judgment_of(
            systems,
            campaign=self.name,
            number=number,
            segment=segment,
            judge=self.judges[number % len(self.judges)],
            scored=self.scored,
            request=request,
            verdict=self.verdict,
            random=self._random,
        )
        self.judged.append(judgment)
        self.stream.publish(judgment)

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _now(self) -> Any:
        return NOON + timedelta(seconds=self._number)
