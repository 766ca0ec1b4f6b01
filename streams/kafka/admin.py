"""The broker's side of the contract: topics are created as the contract says, and checked against it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import GroupCoordinatorNotAvailableError, KafkaError, for_code

from streams.errors import BrokerUnavailable, TopicError
from streams.kafka.connection import connection, describe_security
from streams.wire.topics import TOPICS, Topic

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterable

    from streams.settings import Settings

TIMEOUT_MS = 10_000
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class TopicReport:
    """How a topic stands on the broker; `problems` says what differs from the contract."""

    topic: Topic
    name: str
    partitions: int | None
    replication: int | None
    problems: tuple[str, ...]

    @property
    def exists(self) -> bool:
        """Say whether the broker has it."""
        return self.partitions is not None


def group(settings: Settings) -> str:
    """Name the consumer group in which the workers share the log."""
    return f"{settings.namespace}.judgestream-raters" if settings.namespace else "judgestream-raters"


def count_workers(settings: Settings) -> int:
    """Count the workers that share the log now."""
    return _run(_count_workers(settings))


def check_topics(settings: Settings) -> list[TopicReport]:
    """Raise TopicError where a worker could not run on the topics as they are."""
    reports = inspect_topics(settings)
    _check_present([report.name for report in reports if not report.exists])
    return reports


def inspect_topics(settings: Settings) -> list[TopicReport]:
    """Compare each topic with the contract."""
    return _run(_inspect(settings))


def create_topics(settings: Settings) -> list[str]:
    """Create the topics that are missing; give their names."""
    return _run(_create(settings))


def describe(settings: Settings) -> str:
    """Say which brokers answer."""
    return _run(_describe(settings))


async def count_partitions(settings: Settings, wanted: Iterable[Topic]) -> dict[str, int]:
    """Count the partitions of topics, by name on the broker; TopicError if one is missing."""
    names = sorted(topic.within(settings.namespace) for topic in wanted)
    async with _admin(settings) as admin:
        _check_present(set(names) - set(await admin.list_topics()))
        return {found["topic"]: len(found["partitions"]) for found in await admin.describe_topics(names)}


def _check_present(missing: Iterable[str]) -> None:
    if names := ", ".join(missing):
        raise TopicError(f"the topics {names} are missing; create them with: judgestream topics --create")


async def _describe(settings: Settings) -> str:
    async with _admin(settings) as admin:
        brokers = (await admin.describe_cluster())["brokers"]
    return f"{len(brokers)} broker{'s'[: len(brokers) != 1]} at {settings.kafka}"


async def _count_workers(settings: Settings) -> int:
    async with _admin(settings) as admin:
        try:
            (response,) = await admin.describe_consumer_groups([group(settings)])
        except GroupCoordinatorNotAvailableError:
            return 0  # this broker has had no group yet
    return sum(len(found[5]) for found in response.groups)  # error, group, state, protocol type, protocol, members


async def _inspect(settings: Settings) -> list[TopicReport]:
    async with _admin(settings) as admin:
        names = {topic.within(settings.namespace): topic for topic in TOPICS}
        present = set(await admin.list_topics()) & names.keys()
        described = {found["topic"]: found for found in await admin.describe_topics(sorted(present))} if present else {}
        configs = await _configs(admin, sorted(present)) if present else {}
    reports = []
    for name, topic in names.items():
        found = described.get(name)
        partitions = _partitions(found)
        if found is None:
            problems = ["it is missing"]
        else:
            problems = [
                f"{key} is {configs[name].get(key)}, should be {wanted}"
                for key, wanted in topic.config.items()
                if configs[name].get(key) != wanted
            ]
            if partitions != settings.partitions:
                problems.append(
                    f"it has {partitions} partitions, and the setting `partitions` is {settings.partitions}"
                )
        reports.append(
            TopicReport(
                topic=topic,
                name=name,
                partitions=partitions,
                replication=len(found["partitions"][0]["replicas"]) if found else None,
                problems=tuple(problems),
            )
        )
    return reports


async def _create(settings: Settings) -> list[str]:
    async with _admin(settings) as admin:
        present = set(await admin.list_topics())
        missing = [topic for topic in TOPICS if topic.within(settings.namespace) not in present]
        if not missing:
            return []
        response = await admin.create_topics(
            [
                NewTopic(
                    topic.within(settings.namespace),
                    num_partitions=settings.partitions,
                    replication_factor=settings.replication,
                    topic_configs=topic.config,
                )
                for topic in missing
            ]
        )
        for name, code, message in response.topic_errors:
            if code and for_code(code).__name__ != "TopicAlreadyExistsError":
                raise TopicError(f"the broker did not create {name}: {message or for_code(code).__name__}")
        created = [topic.within(settings.namespace) for topic in missing]
        deadline = asyncio.get_running_loop().time() + TIMEOUT_MS / 1000
        while not set(created) <= set(await admin.list_topics()):
            if asyncio.get_running_loop().time() > deadline:
                raise TopicError(f"the broker took {', '.join(created)} but does not list them yet; look again")
            await asyncio.sleep(0.05)
        return created


async def _configs(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    responses = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in names])
    return {
        resource[3]: {entry[0]: entry[1] for entry in resource[4]}
        for response in responses
        for resource in response.resources
    }


def _partitions(found: dict[str, list[object]] | None) -> int | None:
    return None if found is None else len(found["partitions"])


@asynccontextmanager
async def _admin(settings: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**connection(settings), request_timeout_ms=TIMEOUT_MS)
    try:
        await admin.start()
        yield admin
    except KafkaError as error:
        raise BrokerUnavailable(
            f"Kafka at {settings.kafka}{describe_security(settings)} does not answer: {error}"
        ) from None
    finally:
        await admin.close()


def _run(work: Coroutine[object, object, Result]) -> Result:
    return asyncio.run(work)
