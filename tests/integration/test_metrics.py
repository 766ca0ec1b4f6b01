"""What workers tell Prometheus of real records, rebalances and failures, and what they write of them in their logs."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

import msgspec
import pytest
import redis
from prometheus_client.parser import text_string_to_metric_families

from deploy.ports import free_port
from streams.wire import topics
from streams.wire.events import Close, Rejection, encode
from tests.builders import NOON, crowd_log, judgment

if TYPE_CHECKING:
    from streams.wire.events import Judgment
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

NONE = {"held": 0.0, "forwarded": 0.0}


class Scrape(dict[str, dict[str, float]]):
    """One answer of /metrics: by name, without the program's prefix, and by the value of its one label."""

    def one(self, name: str, label: str = "") -> float:
        return self.get(name, {}).get(label, 0.0)

    def total(self, name: str) -> float:
        return sum(self.get(name, {}).values())


class Watched:
    """A worker with a port for Prometheus."""

    def __init__(self, stack: Stack, **settings: str) -> None:
        self.port = free_port(besides=())
        self.worker = stack.start_worker(JUDGESTREAM_HEALTH_PORT=str(self.port), **settings)
        self.stack = stack

    def scrape(self) -> Scrape:
        found = Scrape()
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
                text = answer.read().decode()
        except (URLError, ConnectionError):
            return found  # it has yet to open its door, or was killed
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if "le" not in sample.labels:
                    name = sample.name.removeprefix("judgestream_worker_")
                    found.setdefault(name, {})["/".join(sample.labels.values())] = sample.value
        return found

    def wait_until_ready(self, partitions: int) -> None:
        self.stack.wait_for(
            lambda: (seen := self.scrape()).one("ready") == 1 and seen.one("partitions_open") == partitions, "ready"
        )

    def wait_until_read(self, count: int) -> Scrape:
        self.stack.wait_for(lambda: self.scrape().one("records_read_total") >= count, f"{count} records counted")
        return self.scrape()


def values(log: list[Judgment]) -> list[tuple[bytes | None, bytes | None]]:
    return [(entry.campaign.encode(), encode(entry)) for entry in log]


def test_every_record_is_counted_once_by_what_became_of_it(stack: Stack) -> None:
    worker = Watched(stack)
    worker.wait_until_ready(4)
    good = values(crowd_log(400, campaigns=5))
    late = encode(Close(id="close", campaign="campaign-0", at=NOON))
    stack.publish(
        [*good[:200], *good[150:200], (b"campaign-1", b"bad"), (b"campaign-1", b"bad"), (b"x", None), *good[200:]]
    )
    read = worker.wait_until_read(453)
    assert read["records_total"] == {
        "applied": 400.0,
        "duplicate": 50.0,
        "rejected": 3.0,
        "held": 0.0,
        "forwarded": 0.0,
    }

    stack.publish([(b"campaign-0", late)], topics.COMMANDS)
    worker.wait_until_read(454)
    stack.publish([(b"campaign-0", encode(judgment(1000, campaign="campaign-0"))), (b"campaign-1", b"bad")])
    stack.publish([(b"campaign-0", b"no command")], topics.COMMANDS)
    worker.wait_until_read(456)
    stack.wait_for(lambda: worker.scrape().one("commands_total", "rejected") == 1, "the bad command")
    stack.wait_for(
        lambda: (seen := worker.scrape()).one("emit_duration_seconds_count") == seen.one("batch_records_count"),
        "the last batch's outputs",
    )

    found = worker.scrape()
    assert found.total("records_total") == found.one("records_read_total") == stack.records_read() == 456
    assert found["records_total"] == {
        "applied": 401.0,
        "duplicate": 50.0,
        "rejected": 5.0,
        "held": 0.0,
        "forwarded": 0.0,
    }
    assert {reason: count for reason, count in found["rejections_total"].items() if count} == {
        "invalid_json": 3.0,
        "empty": 1.0,
        "campaign_closed": 1.0,
    }
    assert found["commands_total"] == {"passed_on": 1.0, "rejected": 1.0}
    assert found.one("outputs_total", "rejected.v1") == len(stack.values(topics.REJECTED)) == 6
    sizes = sum(map(len, stack.values(topics.RATINGS)))
    assert found.one("output_bytes_total", "ratings.v1") == sizes > 0
    stack.wait_for(  # a last leaderboard may be on its way
        lambda: worker.scrape().one("outputs_total", "leaderboards.v1") == len(stack.values(topics.LEADERBOARDS)) > 4,
        "as many leaderboards counted as there are",
    )
    assert found.one("batch_records_sum") == 456
    batches = found.one("batch_records_count")
    for step in ("rate_duration", "persist_duration", "emit_duration", "delay"):
        assert found.one(f"{step}_seconds_count") == batches > 0
    stack.wait_for(lambda: worker.scrape().one("snapshot_duration_seconds_count") > 0, "the time of a snapshot")
    assert found.one("campaigns") == 5
    assert found.one("server_errors_total", "redis") == found.one("fenced_writes_total") == 0


def test_where_a_worker_stands_is_where_the_store_and_the_log_stand(stack: Stack) -> None:
    worker = Watched(stack)
    worker.wait_until_ready(4)
    opened = worker.scrape()["applied_timestamp_seconds"]
    log = values(crowd_log(100, campaigns=1))
    stack.publish(log)
    worker.wait_until_read(100)
    ends = {str(partition): float(len(records)) for partition, records in stack.read(topics.JUDGMENTS).items()}
    (home,) = ends
    stack.wait_for(lambda: worker.scrape()["log_end_offset"].get(home) == 100, "the end is known")
    found = worker.scrape()
    assert found["applied_offset"] == {str(number): float(offset) for number, offset in stack.persisted().items()}
    assert found["lag_records"] == dict.fromkeys("0123", 0.0)
    moved = found["applied_timestamp_seconds"]
    assert {number for number in moved if moved[number] > opened[number]} == {home}


def test_lag_grows_while_redis_is_away_and_its_errors_are_counted(stack: Stack) -> None:
    worker = Watched(stack)
    worker.wait_until_ready(4)
    with redis.Redis.from_url(stack.settings.redis) as client:
        client.execute_command("CLIENT", "PAUSE", 9000, "ALL")
    stack.publish(values(crowd_log(100, campaigns=1)))
    stack.wait_for(lambda: worker.scrape().one("server_errors_total", "redis") > 0, "an error")
    away = worker.scrape()
    assert (away.one("ready"), away.one("records_read_total")) == (0, 0)
    assert away.total("lag_records") == 100

    worker.wait_until_read(100)
    stack.wait_for(lambda: worker.scrape().one("ready") == 1, "ready again")
    back = worker.scrape()
    assert back["records_total"] == {"applied": 100.0, "duplicate": 0.0, "rejected": 0.0} | NONE
    assert back.total("lag_records") == 0


def test_a_write_of_a_worker_that_was_replaced_is_counted_and_its_records_are_not(stack: Stack) -> None:
    worker = Watched(stack)
    worker.wait_until_ready(4)
    for number in range(4):
        stack.store.open(f"{stack.name(topics.JUDGMENTS)}/{number}")  # somebody else takes them over
    stack.publish(values(crowd_log(50, campaigns=1)))
    stack.wait_for(lambda: worker.scrape().one("fenced_writes_total") == 1, "a fenced write")
    told = worker.wait_until_read(50)  # the group still gives the partition to this worker, which opens it again
    assert told.one("records_read_total") == told.total("records_total") == 50, "the write that failed is not counted"


def test_partitions_are_told_of_by_the_worker_that_holds_them(stack: Stack) -> None:
    first = Watched(stack)
    first.wait_until_ready(4)
    log = values(crowd_log(300, campaigns=8))
    stack.publish(log[:100])
    first.wait_until_read(100)
    second = Watched(stack)
    second.wait_until_ready(2)
    first.wait_until_ready(2)
    shared = [set(worker.scrape()["applied_offset"]) for worker in (first, second)]
    assert shared[0].isdisjoint(shared[1])
    assert shared[0] | shared[1] == set("0123")
    assert (first.scrape().one("rebalances_total"), second.scrape().one("rebalances_total")) == (2, 1)

    stack.publish(log[100:200])
    stack.wait_until_read(200)
    stack.wait_for(
        lambda: first.scrape().one("records_read_total") + second.scrape().one("records_read_total") == 200,
        "every record counted by one of them",
    )
    second.worker.process.kill()
    second.worker.process.wait()
    first.wait_until_ready(4)
    assert first.scrape()["lag_records"].keys() == set("0123")
    assert first.scrape().one("rebalances_total") == 3
    before = first.scrape().one("records_read_total")
    stack.publish(log[200:])
    assert first.wait_until_read(int(before) + 100).one("records_total", "applied") == before + 100


def test_a_log_in_json_never_names_a_judge_nor_a_secret(stack: Stack) -> None:
    """Everything is logged that can be, and the worker stops over a record whose judge is no name."""
    worker = Watched(
        stack,
        JUDGESTREAM_LOG_FORMAT="json",
        JUDGESTREAM_LOG_LEVEL="DEBUG",
    )
    worker.wait_until_ready(4)
    log = [judgment(number, campaign="c", judge=f"alice-{number}@example.org") for number in range(20)]
    stack.publish(values(log))
    worker.wait_until_read(20)
    bad = encode(log[0]).replace(b'"alice-0@example.org"', b'["alice-0@example.org"]')
    assert bad != encode(log[0])
    stack.publish([(b"c", encode(Close(id="close", campaign="c", at=NOON)))], topics.COMMANDS)
    stack.publish([(b"c", bad)], topics.COMMANDS)
    worker.wait_until_read(21)
    stack.publish([(b"c", bad)] * 4)
    worker.wait_until_read(25)
    stack.wait_for(lambda: len(stack.values(topics.REJECTED)) == 5, "the rejections")
    rejections = [msgspec.json.decode(value, type=Rejection) for value in stack.values(topics.REJECTED)]
    assert not any(b"example.org" in rejection.original for rejection in rejections)
    assert sum("`judge`, whose value is private" in rejection.message for rejection in rejections) == 4
    worker.worker.terminate()
    text = worker.worker.log.read_text()
    assert "example.org" not in text
    assert stack.settings.judge_key not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    levels = Counter(line["level"] for line in lines)
    assert levels["DEBUG"] > 0
    assert levels["CRITICAL"] == 0
    assert {line["partition"] for line in lines if "is open at offset" in line["message"]} == {0, 1, 2, 3}
