"""The contract of the topics pins what keeps the log, and tells what is wrong on a broker."""

from __future__ import annotations

import pytest

from streams.wire.topics import JUDGMENTS, MAX_LOG_BYTES, TOPICS, Topic

each_topic = pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)


def problems(topic: Topic, changes: dict[str, str] | None = None, *, replicas: int = 3) -> list[str]:
    """Compare a topic that has these values in place of those of the contract."""
    found = topic.config_with(replicas) | (changes or {})
    return [str(problem) for problem in topic.compare(found, replicas=replicas)]


@each_topic
def test_a_topic_that_is_as_the_contract_says_has_no_problem(topic: Topic) -> None:
    assert [problems(topic, replicas=replicas) for replicas in (1, 2, 3, 5)] == [[]] * 4


def test_nothing_of_the_log_is_ever_deleted() -> None:
    assert JUDGMENTS.config_with(3) == {
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "message.timestamp.type": "LogAppendTime",
        "max.message.bytes": str(MAX_LOG_BYTES),
        "min.insync.replicas": "2",
        "unclean.leader.election.enable": "false",
    }


@each_topic
@pytest.mark.parametrize(("replicas", "majority"), [(1, "1"), (2, "2"), (3, "2"), (4, "3"), (5, "3")])
def test_a_record_is_written_when_most_replicas_have_it(topic: Topic, replicas: int, majority: str) -> None:
    assert topic.config_with(replicas)["min.insync.replicas"] == majority


@pytest.mark.parametrize(
    ("key", "found", "wanted"),
    [
        ("cleanup.policy", "compact", "delete"),
        ("cleanup.policy", "compact,delete", "delete"),
        ("retention.ms", "604800000", "-1"),
        ("retention.bytes", "1000000", "-1"),
        ("max.message.bytes", "1048588", str(MAX_LOG_BYTES)),
        ("min.insync.replicas", "1", "2"),
        ("min.insync.replicas", "4", "2"),
        ("unclean.leader.election.enable", "true", "false"),
    ],
)
def test_each_wrong_value_of_the_log_is_found(key: str, found: str, wanted: str) -> None:
    assert problems(JUDGMENTS, {key: found}) == [f"{key} is {found}, should be {wanted}"]


@each_topic
def test_a_broker_that_may_choose_a_leader_without_all_records_is_found(topic: Topic) -> None:
    changes = {"unclean.leader.election.enable": "true"}
    assert problems(topic, changes) == ["unclean.leader.election.enable is true, should be false"]


def test_a_topic_may_accept_larger_records_and_want_more_replicas_in_sync() -> None:
    assert problems(JUDGMENTS, {"max.message.bytes": str(2 * MAX_LOG_BYTES), "min.insync.replicas": "3"}) == []


def test_a_value_that_the_broker_does_not_tell_is_found() -> None:
    found = JUDGMENTS.config_with(1)
    del found["retention.bytes"]
    assert [str(problem) for problem in JUDGMENTS.compare(found, replicas=1)] == [
        "retention.bytes is None, should be -1"
    ]
