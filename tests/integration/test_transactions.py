"""Producers may use transactions: committed records count, aborted ones do not, wherever the log is read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from aiokafka import AIOKafkaProducer

from streams.rebuild.rebuild import rebuild
from streams.wire import topics
from streams.wire.events import Judgment, Pause, Retract, encode
from tests.builders import NOON, crowd_log, judgment
from tests.integration.monitors import monitor_on
from tests.integration.stack import Stack, done
from tests.integration.test_metrics import Watched, values
from tests.integration.test_replay import written
from tests.integration.test_worker import assert_same_as_embedded

if TYPE_CHECKING:
    from streams.wire.topics import Topic

pytestmark = pytest.mark.integration

# Of the log that `publish_with_aborted` writes: 110 judgments, and the markers of four transactions.
END = 114
_producers = count(1)


IMPATIENT = """
from streams.cli.main import main
from streams.worker import log_identity

log_identity.LONG_TRANSACTION_SECONDS = 0.0
main()
"""


class Transaction:
    """A transaction that is open, with some records in it."""

    def __init__(self, stack: Stack, runner: asyncio.Runner, records: Sequence[tuple[bytes, bytes]], topic: Topic):
        self._runner = runner
        self._records = records
        self._topic = stack.name(topic)
        name = f"{stack.settings.namespace}-{next(_producers)}"
        self._kafka, self._name = stack.settings.kafka, name
        runner.run(self._begin())

    async def _begin(self) -> None:
        self._producer = AIOKafkaProducer(bootstrap_servers=self._kafka, transactional_id=self._name)
        await self._producer.start()
        await self._producer.begin_transaction()
        sent = [await self._producer.send(self._topic, value, key=key) for key, value in self._records]
        await asyncio.gather(*sent)

    def commit(self) -> None:
        self._runner.run(self._producer.commit_transaction())

    def abort(self) -> None:
        self._runner.run(self._producer.abort_transaction())

    def stop(self) -> None:
        self._runner.run(self._producer.stop())


@contextmanager
def transaction(
    stack: Stack, records: Sequence[tuple[bytes, bytes]], topic: Topic = topics.JUDGMENTS
) -> Iterator[Transaction]:
    with asyncio.Runner() as runner:
        found = Transaction(stack, runner, records, topic)
        try:
            yield found
        finally:
            found.stop()


def commit(stack: Stack, log: Sequence[Judgment]) -> None:
    with transaction(stack, pairs(log)) as open_transaction:
        open_transaction.commit()


def abort(stack: Stack, log: Sequence[Judgment]) -> None:
    with transaction(stack, pairs(log)) as open_transaction:
        open_transaction.abort()


def pairs(log: Sequence[Judgment]) -> list[tuple[bytes, bytes]]:
    return [(entry.campaign.encode(), encode(entry)) for entry in log]


def page(url: str) -> str:
    with urlopen(url, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


def applied(stack: Stack, campaign: str = "campaign-0") -> int:
    meta = stack.store.read_meta(campaign)
    return 0 if meta is None else meta.counts.judgments


def publish_with_aborted(stack: Stack, log: Sequence[Judgment]) -> None:
    """Publish the first ten judgments, and abort the next hundred, in turns. The log ends with aborted ones."""
    commit(stack, log[:4])
    abort(stack, log[10:60])
    stack.publish(values(list(log[4:6])))
    commit(stack, log[6:10])
    abort(stack, log[60:110])


def test_aborted_judgments_are_not_applied(stack: Stack) -> None:
    log = crowd_log(110)
    worker = stack.start_worker()
    publish_with_aborted(stack, log)
    stack.wait_until_read(10)
    stack.publish(values([judgment(999, campaign="campaign-0", systems=("system-1", "system-2"))]))
    stack.wait_until_read(11)
    assert applied(stack) == 11
    assert stack.records_read() == 11
    assert assert_same_as_embedded(stack)["applied"] == 11
    assert worker.process.poll() is None


def test_a_worker_continues_in_the_middle_of_a_log_with_transactions(stack: Stack) -> None:
    log = crowd_log(400)
    worker = stack.start_worker()
    publish_with_aborted(stack, log)
    stack.wait_until_read(10)
    worker.terminate()
    commit(stack, log[110:200])
    abort(stack, log[200:300])
    killed = stack.start_worker()
    stack.wait_until_read(100)
    killed.process.kill()
    killed.process.wait()
    commit(stack, log[300:400])
    stack.start_worker()
    stack.wait_until_read(200)
    assert assert_same_as_embedded(stack)["applied"] == 200 == applied(stack)


def test_a_log_that_ends_with_an_aborted_transaction_has_no_lag(stack: Stack) -> None:
    worker = Watched(stack)
    worker.wait_until_ready(4)
    publish_with_aborted(stack, crowd_log(110))
    worker.wait_until_read(10)
    stack.wait_for(lambda: sum(stack.persisted().values()) == END, "the offsets without a record are passed over")
    seen = worker.scrape()
    assert seen.total("lag_records") == 0
    assert seen.one("offsets_empty_total") == END - 10
    stack.wait_for(lambda: sum(stack.acknowledged().values()) == END, "Kafka knows it too")
    worker.worker.terminate()
    stack.start_worker()
    stack.publish(values([judgment(999, campaign="campaign-0", systems=("system-1", "system-2"))]))
    stack.wait_until_read(11)
    assert not rebuild(stack.settings, dry_run=True).differs


def test_a_log_that_ends_with_an_aborted_transaction_is_rebuilt(stack: Stack) -> None:
    stack.start_worker()
    publish_with_aborted(stack, crowd_log(110))
    stack.wait_for(lambda: sum(stack.persisted().values()) == END, "the offsets without a record are passed over")
    assert not rebuild(stack.settings, dry_run=True).differs
    stack.workers[0].terminate()
    stack.store.client.redis.flushdb()
    assert rebuild(stack.settings).differs
    assert applied(stack) == 10
    assert sum(stack.persisted().values()) == END
    assert not rebuild(stack.settings, dry_run=True).differs


def test_a_retraction_leaves_aborted_judgments_out(stack: Stack) -> None:
    log = crowd_log(110)
    stack.start_worker()
    publish_with_aborted(stack, log)
    stack.wait_until_read(10)
    retract = Retract(id="r", campaign="campaign-0", at=NOON, judgments=(log[3].id, log[50].id))
    stack.publish([(b"campaign-0", encode(retract))])
    stack.wait_for(lambda: applied(stack) == 9, "the retracted judgment is taken back")
    stack.publish(values([judgment(999, campaign="campaign-0", systems=("system-1", "system-2"))]))
    stack.wait_until_read(12)
    assert_same_as_embedded(stack)


def test_a_replay_sends_again_what_was_aborted(stack: Stack) -> None:
    log = crowd_log(110)
    stack.start_worker()
    publish_with_aborted(stack, log)
    found = done(stack.command("replay", str(written(stack, log)), "--wait", "--json"))["replay"]
    assert (found["there"], found["sent"], found["applied"]) == (10, 100, 110)


def test_what_follows_an_open_transaction_waits_and_is_lag(stack: Stack) -> None:
    log = crowd_log(30)
    worker = Watched(stack, script=IMPATIENT)
    worker.wait_until_ready(4)
    stack.publish(values(log[:5]))
    with transaction(stack, pairs(log[5:10])) as opened, monitor_on(stack) as monitor:
        stack.publish(values(log[10:30]))
        stack.wait_for(lambda: worker.scrape().total("lag_records") == 25, "the open transaction and the rest are lag")

        def monitored() -> int:
            return sum(partition["lag"] for partition in monitor.get("/status")["partitions"])

        stack.wait_for(lambda: monitored() == 25, "the monitor shows the lag too")
        assert stack.records_read() == 5
        ready = f"http://127.0.0.1:{worker.port}/readyz"
        stack.wait_for(lambda: "waits at offset 5 for a transaction that is open" in page(ready), "/readyz names it")
        assert page(ready).startswith("ok")
        assert not rebuild(stack.settings, dry_run=True).differs
        opened.commit()
        stack.wait_until_read(30)
        assert assert_same_as_embedded(stack)["applied"] == 30
        stack.wait_for(lambda: worker.scrape().total("lag_records") == monitored() == 0, "nothing waits any more")
        stack.wait_for(lambda: page(ready) == "ok\n", "/readyz names nothing any more")


def test_an_aborted_command_is_not_executed(stack: Stack) -> None:
    stack.start_worker()
    stack.publish(values([judgment(1)]))
    stack.wait_until_read(1)
    aborted, sent = (Pause(id=name, campaign="c", at=NOON) for name in ("aborted", "sent"))
    with transaction(stack, [(b"c", encode(aborted))], topics.COMMANDS) as opened:
        opened.abort()
    stack.publish([(b"c", encode(sent))], topics.COMMANDS)
    stack.wait_until_read(2)
    assert [value for value in stack.values(topics.JUDGMENTS) if b"aborted" in value] == []
