"""A crowd's side of Kafka: match requests of one campaign are read, and their answers published, until it asks no more.

A worker emits the requests that a batch brings about before any leaderboard that reflects it. So once a leaderboard
reflects the last answer, and the requests have been read to their end after that, no request is on its way.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import msgspec
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.errors import BrokerUnavailable, NoAnswer, ParameterError, suggestion
from streams.kafka.admin import check_topics
from streams.kafka.client import reading
from streams.kafka.connection import connection
from streams.kafka.producing import acknowledged, producing
from streams.kafka.replay import log_partitions, partition_of
from streams.wire import topics
from streams.wire.events import CampaignStatus, Judgment, Leaderboard, MatchRequest, encode

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from streams.settings import Settings

    Answer = Callable[[MatchRequest, datetime], Judgment]  # to a request, asked at this time; or a ParameterError

TIMEOUT_MS = 10_000
POLL_MS = 100
TOPICS = (topics.MATCH_REQUESTS, topics.LEADERBOARDS, topics.CAMPAIGNS)

_answers = msgspec.json.Decoder(Judgment)


@dataclass
class Talk:
    """How it stands between a campaign and its crowd."""

    status: CampaignStatus
    last: int  # the campaign's last record that is known
    answered: set[str] = field(default_factory=set)  # requests, by anybody
    judgments: int = 0  # of this crowd
    skipped: int = 0
    reason: str = ""  # why the first one was
    board: Leaderboard | None = None
    ended: str = ""  # why

    @property
    def is_applied(self) -> bool:
        """Say whether a leaderboard reflects all that is known to stand in the log."""
        return self.board is not None and self.board.offset >= self.last


def status_of(settings: Settings, campaign: str) -> CampaignStatus:
    """Find the settings in force of a campaign; ParameterError if there is none."""
    found: dict[str, CampaignStatus] = {}
    with reading(settings, topics.CAMPAIGNS) as records:
        for record in records:
            with suppress(ValueError):
                status = msgspec.json.decode(record.value, type=CampaignStatus)
                if status.campaign not in found or status.offset >= found[status.campaign].offset:
                    found[status.campaign] = status
    if campaign not in found:
        hint = suggestion(campaign, found) if found else "there is none yet"
        raise ParameterError(f"no campaign {campaign!r}; {hint}; --create opens it")
    return found[campaign]


def begun(settings: Settings, status: CampaignStatus) -> Talk:
    """Look into the log for the requests that were answered before."""
    talk, key = Talk(status, status.offset), status.campaign.encode()
    home = partition_of(status.campaign, log_partitions(settings))
    with reading(settings, topics.JUDGMENTS) as records:
        for record in records:
            if record.key == key and record.partition == home:
                talk.last = max(talk.last, record.offset)
                with suppress(ValueError):
                    if request := _answers.decode(record.value).request:
                        talk.answered.add(request)
    return talk


def converse(
    settings: Settings,
    talk: Talk,
    answer: Answer,
    *,
    most: int | None,
    rate: float | None,
    patience: float,
    observe: Callable[[], None],
) -> None:
    """Answer requests until there are so many answers, or the campaign asks no more, or is closed.

    `talk` says how it ended. NoAnswer if the campaign is silent for so many seconds while it should not be.
    """
    conversation = _Conversation(settings, talk, answer, most=most, rate=rate, patience=patience, observe=observe)
    try:
        asyncio.run(conversation.run())
    except KafkaError as error:
        raise BrokerUnavailable(
            f"Kafka at {settings.kafka} does not answer: {error or type(error).__name__}; "
            f"{talk.judgments:,} answers were acknowledged"
        ) from None


class _Conversation:
    def __init__(
        self,
        settings: Settings,
        talk: Talk,
        answer: Answer,
        *,
        most: int | None,
        rate: float | None,
        patience: float,
        observe: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._talk = talk
        self._answer = answer
        self._most = most
        self._rate = rate
        self._patience = patience
        self._observe = observe
        self._began = self._heard = time.monotonic()
        self._waiting: list[tuple[datetime, str, Judgment]] = []  # the earliest answer first
        campaign = talk.status.campaign
        self._partitions = {
            report.topic.name: TopicPartition(report.name, partition_of(campaign, report.partitions or 1))
            for report in check_topics(settings)
            if report.topic in TOPICS
        }

    async def run(self) -> None:
        self._consumer = AIOKafkaConsumer(
            **connection(self._settings),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            request_timeout_ms=TIMEOUT_MS,
            max_partition_fetch_bytes=topics.MAX_OUTPUT_BYTES,
        )
        await self._consumer.start()
        try:
            async with producing(self._settings, patience=self._patience) as self._producer:
                self._consumer.assign(list(self._partitions.values()))
                await self._consumer.seek_to_beginning()
                await self._talk_on()
        finally:
            with suppress(asyncio.CancelledError):  # which aiokafka lets out where the broker is away
                await self._consumer.stop()

    async def _talk_on(self) -> None:
        talk = self._talk
        while not talk.ended:
            await self._listen()
            if talk.status.state != "closed" and not self._is_enough:
                await self._say()
            self._observe()
            if talk.is_applied:
                talk.ended = await self._why_ended()
            elif time.monotonic() - self._heard > self._patience and not self._waiting:
                raise NoAnswer(
                    f"no worker has answered for {self._patience:g} s, after {talk.judgments:,} answers; "
                    "is one running? Look with: judgestream doctor"
                )

    @property
    def _is_enough(self) -> bool:
        return self._most is not None and self._talk.judgments >= self._most

    async def _why_ended(self) -> str:
        if self._talk.status.state == "closed":
            return "the campaign is closed"
        if self._is_enough:
            return "there are as many judgments as were wanted"
        if self._waiting:
            return ""
        requests = self._partitions[topics.MATCH_REQUESTS.name]
        end = (await self._consumer.end_offsets([requests]))[requests]
        if await self._consumer.position(requests) < end:
            return ""
        if self._talk.status.state == "paused":
            return "the campaign is paused"
        if self._talk.skipped:
            return "the campaign asks no more, or only what can't be answered"
        return "the campaign asks no more"

    async def _listen(self) -> None:
        """Take in what the worker says, the settings first."""
        fetched = await self._consumer.getmany(timeout_ms=POLL_MS)
        for topic, take in (
            (topics.CAMPAIGNS, self._take_standing),
            (topics.LEADERBOARDS, self._take_board),
            (topics.MATCH_REQUESTS, self._take_request),
        ):
            for record in fetched.get(self._partitions[topic.name], ()):
                if record.key == self._talk.status.campaign.encode():
                    with suppress(ValueError):  # written by another version
                        take(record.value or b"")
                        self._heard = time.monotonic()

    def _take_standing(self, value: bytes) -> None:
        status = msgspec.json.decode(value, type=CampaignStatus)
        if status.offset >= self._talk.status.offset:
            self._talk.status = status
            self._talk.last = max(self._talk.last, status.offset)

    def _take_board(self, value: bytes) -> None:
        board = msgspec.json.decode(value, type=Leaderboard)
        if self._talk.board is None or board.offset >= self._talk.board.offset:
            self._talk.board = board

    def _take_request(self, value: bytes) -> None:
        talk, request = self._talk, msgspec.json.decode(value, type=MatchRequest)
        if request.id in talk.answered:
            return
        talk.answered.add(request.id)
        asked = request.expires_at - timedelta(seconds=talk.status.settings.request_seconds)
        try:
            judgment = self._answer(request, asked)
        except ParameterError as error:
            talk.skipped += 1
            talk.reason = talk.reason or str(error)
        else:
            heappush(self._waiting, (judgment.at, judgment.id, judgment))

    async def _say(self) -> None:
        """Publish the answers that are due, and wait until the broker has them."""
        talk, due = self._talk, len(self._waiting)
        if self._rate is not None:
            due = min(due, 1 + int((time.monotonic() - self._began) * self._rate) - talk.judgments)
        if self._most is not None:
            due = min(due, self._most - talk.judgments)
        topic, key = topics.JUDGMENTS.within(self._settings.namespace), talk.status.campaign.encode()
        judgments = [heappop(self._waiting)[-1] for _ in range(due)]
        sent = [await self._producer.send(topic, encode(judgment), key=key) for judgment in judgments]
        for done in sent:
            talk.last = max(talk.last, await acknowledged(done, patience=self._patience))
            talk.judgments += 1
