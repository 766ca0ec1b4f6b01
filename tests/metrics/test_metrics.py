"""What is declared keeps to Prometheus' conventions, and nothing of it is on the library's global registry."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from prometheus_client import REGISTRY
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parsed

from streams.metrics import Metrics, MonitorMetrics, PartitionProgress, WorkerMetrics
from streams.metrics.worker import OUTCOMES
from streams.stores.commit import Commit, Outcomes
from streams.wire.outputs import Output
from streams.wire.topics import TOPICS

PARTS = (WorkerMetrics, MonitorMetrics)


@pytest.mark.parametrize("part", PARTS)
def test_names_are_in_base_units_and_tell_what_they_count(part: Callable[[], Metrics]) -> None:
    for family in parsed(part().exposition()[0].decode()):
        if family.name.startswith("process_"):
            continue
        assert re.fullmatch(r"judgestream_(worker|monitor|build)(_[a-z]+)+", family.name)
        assert family.documentation.endswith(".")
        assert family.documentation[0].isupper()
        assert not re.search(r"_(ms|milliseconds|minutes|kb|mb|count|total_.*)$", family.name)
        if family.type == "histogram":
            assert family.name.endswith(("_seconds", "_records"))


def test_a_worker_and_a_monitor_live_in_one_process_and_leave_the_global_registry_alone() -> None:
    before = {family.name for family in REGISTRY.collect()}
    for _ in range(2):
        [part() for part in PARTS]
    assert {family.name for family in REGISTRY.collect()} == before


def test_the_answer_is_in_the_format_that_was_asked_for() -> None:
    metrics = WorkerMetrics()
    text, content_type = metrics.exposition("application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    names = {family.name for family in parsed_openmetrics(text.decode())}  # type: ignore[no-untyped-call]
    text, content_type = metrics.exposition()
    assert content_type.startswith("text/plain")
    assert len({family.name for family in parsed(text.decode())}) == len(names)


def test_records_and_outputs_are_counted_by_outcome_and_by_topic() -> None:
    metrics = WorkerMetrics()
    outcomes = Outcomes(read=6, applied=4, rejected=2, empty=3)
    commit = Commit(before=0, after=9, read=6, rejected=0, campaigns=(), outbox=(), outcomes=outcomes)
    metrics.count_batch(commit, rated=0.1, persisted=0.1, delay=None)
    metrics.count_outputs([Output("ratings.v1", b"c", b"123"), Output("rejected.v1", b"c", b"1")])
    metrics.count_outputs([Output("ratings.v1", b"c", b"12")])
    found = {
        (sample.name.removeprefix("judgestream_worker_"), *sample.labels.values()): sample.value
        for family in parsed(metrics.exposition()[0].decode())
        for sample in family.samples
    }
    by_outcome = {outcome: found["records_total", outcome] for outcome in OUTCOMES}
    assert by_outcome == {"applied": 4, "duplicate": 0, "rejected": 2, "held": 0, "forwarded": 0}
    assert (found["records_read_total",], found["offsets_empty_total",]) == (6, 3)
    sent = {topic.name: found["outputs_total", topic.name] for topic in TOPICS}
    assert {topic: number for topic, number in sent.items() if number} == {"ratings.v1": 2, "rejected.v1": 1}
    assert (found["output_bytes_total", "ratings.v1"], found["output_bytes_total", "rejected.v1"]) == (5, 1)


def test_a_partition_that_a_worker_lost_is_no_longer_told_of() -> None:
    metrics, held = WorkerMetrics(), [PartitionProgress(0, 7, 100.0, 9), PartitionProgress(3, 5, 200.0, None)]
    metrics.watch_partitions(lambda: held)
    assert shown(metrics, "lag_records") == {"0": 2.0}, "the broker has not said yet where partition 3 ends"
    assert shown(metrics, "applied_offset") == {"0": 7.0, "3": 5.0}
    del held[0]
    assert shown(metrics, "lag_records") == {}
    assert shown(metrics, "applied_timestamp_seconds") == {"3": 200.0}


def test_an_end_that_is_older_than_what_was_applied_is_no_negative_lag() -> None:
    metrics = WorkerMetrics()
    metrics.watch_partitions(lambda: [PartitionProgress(0, 7, 100.0, 6)])
    assert shown(metrics, "lag_records") == {"0": 0.0}


def shown(metrics: Metrics, name: str) -> dict[str, float]:
    (family,) = [each for each in parsed(metrics.exposition()[0].decode()) if each.name == f"judgestream_worker_{name}"]
    return {sample.labels["partition"]: sample.value for sample in family.samples}


def test_whatever_a_client_sends_as_method_or_path_makes_no_series_of_its_own() -> None:
    metrics = MonitorMetrics()
    for number in range(50):
        metrics.count_request(route=None, method=f"BREW{number}", status=404, seconds=0.1)
    metrics.count_request(route="/campaigns/{campaign}/events", method="GET", status=200, seconds=None)
    (family,) = [
        each for each in parsed(metrics.exposition()[0].decode()) if each.name == "judgestream_monitor_http_requests"
    ]
    assert {(*sorted(sample.labels.values()), sample.value) for sample in family.samples} == {
        ("404", "none", "other", 50.0),
        ("/campaigns/{campaign}/events", "200", "GET", 1.0),
    }
