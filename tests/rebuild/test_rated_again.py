"""A dry run of a rebuild while a worker rates a campaign again: its differences are expected, and nothing is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pytest
from click.testing import CliRunner, Result

from streams.cli.commands.rebuild import command
from streams.pipeline.processor import Processor
from streams.pipeline.routing import Copies
from streams.rebuild import rebuild as rebuilding
from streams.rebuild import rerun
from streams.rebuild.differences import RebuildReport
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire.events import Retract, encode
from tests.builders import NOON, crowd_log
from tests.faults.partition_log import HOME, OPTIONS, TOPIC, PartitionLog, finished

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.kafka.partitioned_log import PartitionedLog
    from streams.pipeline.record import Record
    from streams.stores.redis.store import RedisStore


class LiveStore(MemoryStore):
    """The store of the worker. A dry run writes nothing beside it."""

    def beside(self, _layer: str) -> MemoryStore:
        """Return a store for what is staged."""
        return MemoryStore()


class OnePartition:
    """The log as a rebuild reads it."""

    topic = TOPIC

    def __init__(self, log: PartitionLog) -> None:
        self._log = log

    def name(self, _number: int) -> str:
        return HOME

    def committed(self, _number: int) -> int:
        return self._log.end

    def read(self, _number: int, start: int, before: int) -> Iterator[list[Record]]:
        yield from self._log.read(start, before)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> PartitionLog:
    log = PartitionLog()
    log.append([encode(entry) for entry in crowd_log(60, campaigns=2, seed=4)])
    log.append([encode(Retract(id="retract", campaign="campaign-0", at=NOON, judge="judge-1"))])
    log.append([encode(entry) for entry in crowd_log(70, campaigns=2, seed=4)[60:]])
    monkeypatch.setattr(rerun, "read_log", lambda _settings, _number, start, before: log.read(start, before))
    return log


@pytest.fixture
def store() -> LiveStore:
    return LiveStore()


@pytest.fixture
def worker(log: PartitionLog, store: LiveStore) -> Processor:
    """Return a worker that has read all of the log, and has not rated the campaign again yet."""
    processor, _ = Processor.open(TOPIC, 0, store, OPTIONS, read_log=log.read)
    processor.process(log.records)
    assert [found.quarantine.cause for found in processor.quarantined.values()] == ["retraction"]
    return processor


def dry_run(log: PartitionLog, store: LiveStore, campaign: str | None) -> RebuildReport:
    task = rebuilding._PartitionRebuild(
        Settings(judge_key="key"),
        cast("RedisStore", store),
        cast("PartitionedLog", OnePartition(log)),
        0,
        campaign,
        Copies(),
        lambda _offset: None,
    )
    return RebuildReport(dry_run=True, partitions=(task.run(log.end, dry_run=True),))


def invoke(monkeypatch: pytest.MonkeyPatch, report: RebuildReport, *arguments: str) -> Result:
    monkeypatch.setattr(rebuilding, "rebuild", lambda *_, **__: report)
    return CliRunner().invoke(command, ["campaign-0", "--dry-run", *arguments])


def test_a_campaign_that_is_rated_again_is_named_and_is_no_difference(
    log: PartitionLog, store: LiveStore, worker: Processor
) -> None:
    report = dry_run(log, store, "campaign-0")
    assert (report.rated_again, report.differs, report.released, report.failed) == (["campaign-0"], False, [], {})
    finished(worker)
    report = dry_run(log, store, "campaign-0")
    assert (report.rated_again, report.differs, report.partitions[0].campaigns) == ([], False, 1)


def test_differences_of_its_neighbours_are_still_found(log: PartitionLog, store: LiveStore, worker: Processor) -> None:
    assert list(worker.quarantined) == ["campaign-0"]
    del store._campaigns["campaign-1"].tables["systems"]["system-1"]
    report = dry_run(log, store, None)
    assert (report.rated_again, report.differs) == (["campaign-0"], True)
    assert [found.campaign for found in report.partitions[0].differences] == ["campaign-1"]
    assert report.partitions[0].campaigns == 1


@pytest.mark.usefixtures("worker")
def test_the_command_says_what_happens_how_to_see_it_and_that_nothing_is_wrong(
    log: PartitionLog, store: LiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = dry_run(log, store, "campaign-0")
    said = invoke(monkeypatch, report)
    assert said.exit_code == 0, said.output
    assert said.output == (
        "- campaign-0: its worker is rating it again. Differences from the log are expected until that has ended, so "
        "it was not compared. To see whether it has ended, run: judgestream campaign show campaign-0\n"
    )
    found = json.loads(invoke(monkeypatch, report, "--json").stdout)
    assert (found["differs"], found["partitions"][0]["rated_again"]) == (False, ["campaign-0"])
