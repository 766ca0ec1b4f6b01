"""A simulated crowd on Kafka: it reads the match requests of a campaign and publishes answers, until none is left.

A worker emits the requests that the last record brings about before a leaderboard that reflects it. So once a
leaderboard reflects the last answer, and the requests have been read to their end after that, no request is on its way.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import msgspec

from streams.errors import BrokerUnavailable, NoAnswer, ParameterError, suggestion
from streams.kafka.admin import find_partitions
from streams.kafka.consumers import open_consumer
from streams.kafka.partitions import partition_of
from streams.kafka.producers import open_producer
from streams.kafka.reading import read_topic
from streams.wire import topics
from streams.wire.events import ENDED, CampaignStatus, Judgment, Leaderboard, MatchRequest, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.kafka.consumers import Consumer
    from streams.kafka.partitions import Partition
    from streams.kafka.producers import Producer
    from streams.settings import Settings

    Answer = Callable[[MatchRequest, datetime], Judgment]  # to a request, asked at this time; or a ParameterError

POLL_MS = 100
# The outputs of one batch arrive on several topics, in any order: a leaderboard may come before the news that the
# campaign is closed. So the crowd ends only after this time without news.
QUIET_SECONDS = 1.0
TOPICS = (topics.MATCH_REQUESTS, topics.LEADERBOARDS, topics.CAMPAIGNS)

_judgments = msgspec.json.Decoder(Judgment)


@dataclass
class CrowdProgress:
    """What a campaign has asked and its crowd has answered so far."""

    status: CampaignStatus
    last_offset: int  # of the campaign's last known record
    home: int | None = None  # number of the campaign's partition; None: the key decides
    answered: set[str] = field(default_factory=set)  # ids of requests, answered by anybody
    judgments: int = 0  # of this crowd
    skipped: int = 0
    skip_reason: str = ""  # of the first request that was skipped
    board: Leaderboard | None = None
    end_reason: str = ""

    @property
    def is_applied(self) -> bool:
        """Return whether a leaderboard reflects every known record of the campaign."""
        return self.board is not None and self.board.offset >= self.last_offset


def read_status(settings: Settings, campaign: str) -> CampaignStatus:
    """Read the settings in force of a campaign. Raise ParameterError if there is no such campaign."""
    found: dict[str, CampaignStatus] = {}
    with read_topic(settings, topics.CAMPAIGNS) as records:
        for record in records:
            with suppress(ValueError):
                status = msgspec.json.decode(record.value, type=CampaignStatus)
                if status.campaign not in found or status.offset >= found[status.campaign].offset:
                    found[status.campaign] = status
    if campaign not in found:
        hint = suggestion(campaign, found) if found else "there is none yet"
        raise ParameterError(f"no campaign {campaign!r}; {hint}; --create opens it")
    return found[campaign]


def read_progress(settings: Settings, status: CampaignStatus) -> CrowdProgress:
    """Read from the log which requests were answered before."""
    progress, key = CrowdProgress(status, status.offset), status.campaign.encode()
    last: dict[int, int] = {}  # offsets of the campaign's records, by partition
    with read_topic(settings, topics.JUDGMENTS) as records:
        for record in records:
            if record.key == key:
                last[record.partition] = record.offset
                if record.is_forwarded:
                    progress.home = record.partition
                with suppress(ValueError):
                    if request := _judgments.decode(record.value).request:
                        progress.answered.add(request)
    if progress.home is None:
        progress.home = next(iter(last), None)
    if progress.home is not None:
        progress.last_offset = max(progress.last_offset, last[progress.home])
    return progress


class LiveCrowd:
    """Answers the requests of one campaign: at most `most`, and at most `rate` per second."""

    def __init__(
        self,
        settings: Settings,
        progress: CrowdProgress,
        answer: Answer,
        *,
        most: int | None,
        rate: float | None,
        patience: float,
        observe: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._progress = progress
        self._answer = answer
        self._most = most
        self._rate = rate
        self._patience = patience
        self._observe = observe
        self._key = progress.status.campaign.encode()
        self._started = self._heard = time.monotonic()
        self._waiting: list[tuple[datetime, str, Judgment]] = []  # a heap, the earliest answer first
        self._partitions: dict[str, Partition] = {}
        self._consumer: Consumer
        self._producer: Producer

    def run(self) -> None:
        """Answer requests until there are enough answers, or the campaign asks no more, or it is closed.

        The progress then holds the reason for the end. Raise NoAnswer if no worker answers for `patience` seconds.
        """
        try:
            asyncio.run(self._run())
        except BrokerUnavailable as error:
            raise BrokerUnavailable(f"{error}; {self._progress.judgments:,} answers were acknowledged") from None

    async def _run(self) -> None:
        campaign = self._progress.status.campaign
        for topic, partitions in (await find_partitions(self._settings, topics.JUDGMENTS, *TOPICS)).items():
            self._partitions[topic] = partitions[partition_of(campaign, len(partitions))]
        read = [self._partitions[topic.name] for topic in TOPICS]
        async with (
            open_consumer(self._settings, read) as self._consumer,
            open_producer(self._settings, patience=self._patience) as self._producer,
        ):
            for partition, beginning in (await self._consumer.beginning_offsets(read)).items():
                self._consumer.seek(partition, beginning)
            await self._answer_until_end()

    async def _answer_until_end(self) -> None:
        progress = self._progress
        while not progress.end_reason:
            await self._receive()
            if progress.status.state not in ENDED and progress.status.quarantine is None and not self._is_enough:
                await self._publish_due()
            self._observe()
            if progress.status.quarantine is not None:
                progress.end_reason = "the campaign is quarantined after an unexpected error; see: judgestream doctor"
            elif progress.is_applied:
                progress.end_reason = await self._find_end_reason()
            elif time.monotonic() - self._heard > self._patience and not self._waiting:
                raise NoAnswer(
                    f"no worker has answered for {self._patience:g} s, after {progress.judgments:,} answers. "
                    "Is one running? Check with: judgestream doctor"
                )

    @property
    def _is_enough(self) -> bool:
        return self._most is not None and self._progress.judgments >= self._most

    async def _find_end_reason(self) -> str:
        """Return why the crowd is done, or an empty text if it is not."""
        if self._progress.status.state in ENDED:
            return f"the campaign is {self._progress.status.state}"
        if self._is_enough:
            return "there are as many judgments as were wanted"
        if self._waiting:
            return ""
        requests = self._partitions[topics.MATCH_REQUESTS.name]
        end = (await self._consumer.end_offsets([requests]))[requests]
        if await self._consumer.position(requests) < end:
            return ""
        if time.monotonic() - self._heard < QUIET_SECONDS:
            return ""
        if self._progress.status.state == "paused":
            return "the campaign is paused"
        if self._progress.skipped:
            return "the campaign asks no more, or only what can't be answered"
        return "the campaign asks no more"

    async def _receive(self) -> None:
        """Read what the worker has published, the settings first."""
        fetched = await self._consumer.fetch(timeout_ms=POLL_MS)
        for topic, receive in (
            (topics.CAMPAIGNS, self._receive_status),
            (topics.LEADERBOARDS, self._receive_board),
            (topics.MATCH_REQUESTS, self._receive_request),
        ):
            for record in fetched.get(self._partitions[topic.name], ()):
                if record.key == self._key:
                    with suppress(ValueError):  # written by another version
                        receive(record.value or b"")
                        self._heard = time.monotonic()

    def _receive_status(self, value: bytes) -> None:
        status = msgspec.json.decode(value, type=CampaignStatus)
        if status.offset >= self._progress.status.offset:
            self._progress.status = status
            self._progress.last_offset = max(self._progress.last_offset, status.offset)

    def _receive_board(self, value: bytes) -> None:
        board = msgspec.json.decode(value, type=Leaderboard)
        if self._progress.board is None or board.offset >= self._progress.board.offset:
            self._progress.board = board

    def _receive_request(self, value: bytes) -> None:
        progress, request = self._progress, msgspec.json.decode(value, type=MatchRequest)
        if request.cancelled:
            self._waiting = [each for each in self._waiting if each[-1].request != request.id]
            heapify(self._waiting)
        if request.cancelled or request.id in progress.answered:
            return
        progress.answered.add(request.id)
        asked = request.expires_at - timedelta(seconds=progress.status.settings.request_seconds)
        try:
            judgment = self._answer(request, asked)
        except ParameterError as error:
            progress.skipped += 1
            progress.skip_reason = progress.skip_reason or str(error)
        else:
            heappush(self._waiting, (judgment.at, judgment.id, judgment))

    async def _publish_due(self) -> None:
        """Publish the answers that are due, and wait until the broker has them."""
        progress, due = self._progress, len(self._waiting)
        if self._rate is not None:
            due = min(due, 1 + int((time.monotonic() - self._started) * self._rate) - progress.judgments)
        if self._most is not None:
            due = min(due, self._most - progress.judgments)
        sent = []
        for _ in range(due):
            judgment = heappop(self._waiting)[-1]
            # A simulated judge needs no time, but the answer must not come from the future.
            judgment = msgspec.structs.replace(judgment, at=min(judgment.at, datetime.now(UTC)))
            send = self._producer.send(topics.JUDGMENTS, self._key, encode(judgment), partition=progress.home)
            sent.append(await send)
        for each in sent:
            progress.last_offset = max(progress.last_offset, await self._producer.wait_for(each))
            progress.judgments += 1
