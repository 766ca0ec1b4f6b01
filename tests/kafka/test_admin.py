"""Each topic on a broker is compared with the contract, and the command that repairs it is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from streams.errors import TopicError
from streams.kafka import admin
from streams.kafka.admin import TopicReport, check_log_is_kept, inspect_topics
from streams.settings import Settings
from streams.wire.topics import JUDGMENTS, RATINGS, TOPICS

SETTINGS = Settings(kafka="broker:9092", namespace="n", partitions=2)
REPAIR = (
    "kafka-configs.sh --bootstrap-server broker:9092 --alter --entity-type topics --entity-name n.judgments.v1 "
    "--add-config "
)


class FakeAdmin:
    """A broker with all topics, some of whose values differ from the contract. None: it does not tell them."""

    def __init__(self, changes: dict[str, dict[str, str] | None]) -> None:
        self._changes = changes

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def list_topics(self) -> list[str]:
        return [topic.within("n") for topic in TOPICS]

    async def describe_topics(self, names: list[str]) -> list[dict[str, Any]]:
        return [{"topic": name, "partitions": [{"replicas": [1, 2, 3]}] * 2} for name in names]

    async def describe_configs(self, _: object) -> list[Any]:
        resources: list[tuple[Any, ...]] = []
        for topic in TOPICS:
            changes = self._changes.get(topic.name, {})
            if changes is None:
                resources.append((29, "not authorized", 2, topic.within("n"), []))
            else:
                resources.append((0, None, 2, topic.within("n"), list((topic.config_with(3) | changes).items())))
        return [SimpleNamespace(resources=resources)]


def reports(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, dict[str, str] | None], settings: Settings = SETTINGS
) -> list[TopicReport]:
    monkeypatch.setattr(admin, "AIOKafkaAdminClient", lambda **_: FakeAdmin(changes))
    return inspect_topics(settings)


def test_a_wrong_value_comes_with_the_command_that_repairs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {"retention.bytes": "1000000", "min.insync.replicas": "1"}
    log, *others = reports(monkeypatch, {JUDGMENTS.name: changes})
    assert log.problems == ("retention.bytes is 1000000, should be -1", "min.insync.replicas is 1, should be 2")
    assert log.repair == f"{REPAIR}retention.bytes=-1,min.insync.replicas=2"
    assert [report.problems for report in others] == [()] * len(others)


def test_the_command_for_a_broker_with_a_login_needs_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    secured = Settings(
        kafka="broker:9092",
        namespace="n",
        kafka_security="SASL_PLAINTEXT",
        kafka_username="app",
        kafka_password="secret",
    )
    log = reports(monkeypatch, {JUDGMENTS.name: {"retention.ms": "1"}}, secured)[0]
    assert "broker:9092 --command-config client.properties --alter" in log.repair


@pytest.mark.parametrize(("wanted", "found"), [(1, 0), (3, 0), (4, len(TOPICS))])
def test_a_topic_with_fewer_replicas_than_the_setting_is_found(
    monkeypatch: pytest.MonkeyPatch, wanted: int, found: int
) -> None:
    settings = Settings(kafka="broker:9092", namespace="n", partitions=2, replication=wanted)
    problems = [problem for report in reports(monkeypatch, {}, settings) for problem in report.problems]
    assert problems == [f"it has 3 replicas, but the setting `replication` is {wanted}"] * found


@pytest.mark.parametrize(
    ("key", "value"), [("retention.ms", "1000"), ("retention.bytes", "1000000"), ("cleanup.policy", "compact")]
)
def test_a_log_that_kafka_may_delete_is_refused(monkeypatch: pytest.MonkeyPatch, key: str, value: str) -> None:
    found = reports(monkeypatch, {JUDGMENTS.name: {key: value}})
    with pytest.raises(TopicError) as refused:
        check_log_is_kept(found)
    wanted = JUDGMENTS.config[key]
    assert f"n.judgments.v1: {key} is {value}, should be {wanted}" in str(refused.value)
    assert f"{REPAIR}{key}={wanted}" in str(refused.value)


def test_other_deviations_do_not_stop_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reports(
        monkeypatch, {JUDGMENTS.name: {"max.message.bytes": "1"}, RATINGS.name: {"cleanup.policy": "delete"}}
    )
    check_log_is_kept(found)
    assert [report.topic for report in found if report.problems] == [JUDGMENTS, RATINGS]


def test_a_configuration_that_the_broker_does_not_tell_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reports(monkeypatch, {JUDGMENTS.name: None})
    (problem,) = found[0].problems
    assert "its configuration can't be read" in problem
    assert "DescribeConfigs" in problem
    assert found[0].repair == ""
    check_log_is_kept(found)  # a worker warns
