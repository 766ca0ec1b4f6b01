"""Topics and groups on the broker: topics are created as the contract says, and compared with it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import for_code

from streams.errors import TopicError
from streams.kafka.connection import answering, connection_options
from streams.kafka.partitions import Partition
from streams.wire.topics import JUDGMENTS, KEPT_FOREVER, TOPICS, Topic

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from streams.settings import Settings
    from streams.wire.topics import ConfigProblem

TIMEOUT_MS = 10_000


@dataclass(frozen=True, kw_only=True)
class TopicReport:
    """A topic on the broker. `problems` lists what differs from the contract, and `repair` is the command for it."""

    topic: Topic
    name: str
    partitions: int | None
    replication: int | None
    problems: tuple[str, ...]
    repair: str = ""
    may_be_deleted: bool = False  # it is the log, and Kafka may delete records of it

    @property
    def exists(self) -> bool:
        """Return whether the broker has the topic."""
        return self.partitions is not None

    def describe(self) -> str:
        """Return the problems, and the command that repairs the configuration."""
        return f"{self.name}: {'; '.join(self.problems)}" + (f"; repair it with: {self.repair}" if self.repair else "")


def check_topics(settings: Settings) -> list[TopicReport]:
    """Compare each topic with the contract. Raise TopicError if one is missing."""
    reports = inspect_topics(settings)
    _check_present(settings, [report.name for report in reports if not report.exists])
    return reports


def check_log_is_kept(reports: Iterable[TopicReport]) -> None:
    """Raise TopicError if Kafka may delete records of the log, from which all state is computed."""
    for report in reports:
        if report.may_be_deleted:
            raise TopicError(
                f"Kafka may delete judgments, and no state can be computed without them. {report.describe()}"
            )


def inspect_topics(settings: Settings) -> list[TopicReport]:
    """Compare each topic with the contract."""
    return asyncio.run(_inspect(settings))


def create_topics(settings: Settings) -> list[str]:
    """Create the topics that are missing, and return their names."""
    return asyncio.run(_create(settings))


def describe_brokers(settings: Settings) -> str:
    """Return how many brokers answer, and where."""
    return asyncio.run(_describe_brokers(settings))


def count_log_partitions(settings: Settings) -> int:
    """Return the number of partitions of the log. Raise TopicError if the topic is missing."""
    return len(asyncio.run(find_partitions(settings, JUDGMENTS))[JUDGMENTS.name])


async def find_partitions(settings: Settings, *wanted: Topic) -> dict[str, list[Partition]]:
    """Return the partitions of topics, by the topic's name in the contract. Raise TopicError if one is missing."""
    names = {topic.within(settings.namespace): topic.name for topic in wanted}
    async with _admin(settings) as admin:
        _check_present(settings, sorted(names.keys() - set(await admin.list_topics())))
        return {
            names[found["topic"]]: [Partition(found["topic"], number) for number in range(len(found["partitions"]))]
            for found in await admin.describe_topics(sorted(names))
        }


def _check_present(settings: Settings, missing: Iterable[str]) -> None:
    if names := ", ".join(missing):
        hidden = ""
        if settings.kafka_security != "PLAINTEXT":  # a broker does not list what the user may not describe
            user = settings.kafka_username or "of this certificate"
            hidden = f", or the user {user} may not see them: deploy/kafka_acls.py has the rights of each role"
        raise TopicError(f"topics are missing: {names}; create them with: judgestream topics --create{hidden}")


async def _describe_brokers(settings: Settings) -> str:
    async with _admin(settings) as admin:
        brokers = (await admin.describe_cluster())["brokers"]
    return f"{len(brokers)} broker{'s'[: len(brokers) != 1]} at {settings.kafka}"


async def _inspect(settings: Settings) -> list[TopicReport]:
    async with _admin(settings) as admin:
        names = {topic.within(settings.namespace): topic for topic in TOPICS}
        present = set(await admin.list_topics()) & names.keys()
        described = {found["topic"]: found for found in await admin.describe_topics(sorted(present))} if present else {}
        configs = await _configs(admin, sorted(present)) if present else {}
    return [_compare(topic, name, described.get(name), configs.get(name), settings) for name, topic in names.items()]


def _compare(
    topic: Topic, name: str, found: dict[str, Any] | None, config: dict[str, str] | None, settings: Settings
) -> TopicReport:
    """Compare a topic with the contract. `found` and `config` are what the broker tells of it."""
    if found is None:
        return TopicReport(topic=topic, name=name, partitions=None, replication=None, problems=("it is missing",))
    partitions, replicas = len(found["partitions"]), len(found["partitions"][0]["replicas"])
    wrong = () if config is None else topic.compare(config, replicas=replicas)
    problems = [str(problem) for problem in wrong]
    if config is None:
        problems.append(
            "its configuration can't be read, so nobody knows whether Kafka keeps the records; "
            "allow the user to describe it (DescribeConfigs)"
        )
    if partitions < settings.partitions:  # more are fine: everything asks the broker for the number
        problems.append(f"it has {partitions} partitions, but the setting `partitions` is {settings.partitions}")
    if replicas < settings.replication:
        problems.append(f"it has {replicas} replicas, but the setting `replication` is {settings.replication}")
    return TopicReport(
        topic=topic,
        name=name,
        partitions=partitions,
        replication=replicas,
        problems=tuple(problems),
        repair=_repair(settings, name, wrong) if wrong else "",
        may_be_deleted=topic is JUDGMENTS and any(problem.key in KEPT_FOREVER for problem in wrong),
    )


def _repair(settings: Settings, name: str, wrong: Iterable[ConfigProblem]) -> str:
    """Return the command that gives a topic the configuration of the contract."""
    login = "" if settings.kafka_security == "PLAINTEXT" else " --command-config client.properties"
    changes = ",".join(f"{problem.key}={problem.wanted}" for problem in wrong)
    return (
        f"kafka-configs.sh --bootstrap-server {settings.kafka}{login} --alter --entity-type topics "
        f"--entity-name {name} --add-config {changes}"
    )


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
                    topic_configs=topic.config_with(settings.replication),
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
                raise TopicError(f"the broker has accepted {', '.join(created)} but does not list them yet; try again")
            await asyncio.sleep(0.05)
        return created


async def _configs(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    """Return the configurations that apply, with the defaults of the broker, of the topics that may be described."""
    responses = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in names])
    return {
        resource[3]: {entry[0]: entry[1] for entry in resource[4]}
        for response in responses
        for resource in response.resources
        if not resource[0]  # the code of an error
    }


@asynccontextmanager
async def _admin(settings: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**connection_options(settings), request_timeout_ms=TIMEOUT_MS)
    try:
        with answering(settings):
            await admin.start()
            yield admin
    finally:
        await admin.close()
