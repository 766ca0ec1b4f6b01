"""The metrics of a worker: all are counted a batch at a time, once the store has the batch.

A label has few values, known beforehand: outcomes, reasons, topics, servers, and the partitions that the worker holds.
Campaigns, systems and judges are no labels: their number is the users' choice, and views and topics tell of them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from streams.metrics.base import NAMESPACE, SECONDS, Metrics
from streams.wire.events import REASONS
from streams.wire.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from streams.stores.commit import Commit
    from streams.wire.outputs import Output

OUTCOMES = ("applied", "duplicate", "rejected")
SERVERS = ("kafka", "redis")


class PartitionProgress(NamedTuple):
    """Where a worker stands in a partition that it holds; `end` is None until the broker has said it."""

    partition: int
    applied: int  # the offset after the last applied record
    applied_at: float  # when it last moved, in Unix time
    end: int | None


class WorkerMetrics(Metrics):
    """What a worker has done, and how it does now."""

    def __init__(self) -> None:
        super().__init__("worker")
        self.records_read = self._counter("records_read", "Records of the log that were walked and are in the store.")
        self.records = self._counter(
            "records", "Records of the log by what became of them; the three add up to those read.", ["outcome"]
        )
        self.rejections = self._counter("rejections", "Rejected records of the log by reason.", ["reason"])
        self.commands = self._counter(
            "commands", "Records of the command topic, passed on into the log or rejected.", ["outcome"]
        )
        self.batch_records = self._histogram(
            "batch_records", "Records in a batch.", buckets=(1, 5, 10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000)
        )
        self.rate_seconds = self._histogram(
            "rate_duration_seconds", "Decoding, deduplicating and rating a batch.", buckets=SECONDS
        )
        self.persist_seconds = self._histogram(
            "persist_duration_seconds", "Writing a batch to the store.", buckets=SECONDS
        )
        self.emit_seconds = self._histogram(
            "emit_duration_seconds", "Sending a batch's outputs until the broker has them.", buckets=SECONDS
        )
        self.delay_seconds = self._histogram(
            "delay_seconds", "From the timestamp of a batch's first record until the store has the batch.",
            buckets=(*SECONDS, 60, 300, 1800, 7200),
        )  # fmt: skip
        self.outputs = self._counter("outputs", "Records emitted, by topic without its namespace.", ["topic"])
        self.output_bytes = self._counter(
            "output_bytes", "Bytes in the values of the records emitted, by topic.", ["topic"]
        )
        self.snapshot_seconds = self._histogram(
            "snapshot_duration_seconds", "Ranking all changed campaigns of a partition.", buckets=SECONDS
        )
        self.rebalances = self._counter("rebalances", "Times that the group gave this worker its partitions anew.")
        self.fenced_writes = self._counter("fenced_writes", "Writes refused: another worker had the partition.")
        self.reloads = self._counter(
            "reloads", "Partitions loaded again, because the store was not where the worker had left it."
        )
        self.errors = self._counter("server_errors", "Calls that a server failed; they are made again.", ["server"])
        self.campaigns = self._gauge("campaigns", "Campaigns in memory.")
        self.assigned = self._gauge("partitions_assigned", "Partitions that the group gave this worker.")
        self.open = self._gauge("partitions_open", "Partitions whose state is loaded and that are read.")
        self.ready = self._gauge("ready", "What /readyz says: 1 is ready.")
        self._partitions = _Partitions()
        self.registry.register(self._partitions)
        # A series that appears with its first event shows no increase: all that can be known are there at once.
        for counter, label in (
            (self.records, OUTCOMES),
            (self.rejections, REASONS),
            (self.commands, ("passed_on", "rejected")),
            (self.outputs, [topic.name for topic in TOPICS]),
            (self.output_bytes, [topic.name for topic in TOPICS]),
            (self.errors, SERVERS),
        ):
            for value in label:
                counter.labels(value)

    def kept(self, commit: Commit, *, rated: float, persisted: float, delay: float | None) -> None:
        """Count a batch that the store has, with the seconds that it took; no delay is one that nobody knows."""
        outcomes = commit.outcomes
        self.records_read.inc(outcomes.read)
        for outcome in OUTCOMES:
            self.records.labels(outcome).inc(getattr(outcomes, outcome))
        for reason, count in commit.reasons.items():
            self.rejections.labels(reason).inc(count)
        self.batch_records.observe(outcomes.read)
        self.rate_seconds.observe(rated)
        self.persist_seconds.observe(persisted)
        if delay is not None:
            self.delay_seconds.observe(max(0.0, delay))  # two machines' clocks may differ

    def sent(self, outputs: Iterable[Output]) -> None:
        """Count records that the broker has."""
        sizes = defaultdict[str, list[int]](list)
        for topic, _, value, _ in outputs:
            sizes[topic].append(len(value))
        for topic, found in sizes.items():
            self.outputs.labels(topic).inc(len(found))
            self.output_bytes.labels(topic).inc(sum(found))

    def failed(self, server: str) -> None:
        """Count a call that a server failed."""
        self.errors.labels(server).inc()

    def watch(self, progress: Callable[[], Iterable[PartitionProgress]]) -> None:
        """Name what tells of the partitions held; it is asked at each scrape, so what was lost is not shown."""
        self._partitions.progress = progress


class _Partitions(Collector):
    """The gauges of the partitions that the worker holds, read when they are asked for."""

    GAUGES: Mapping[str, tuple[str, Callable[[PartitionProgress], float | None]]] = {
        "lag_records": (
            "Records of a partition that are not applied yet.",
            lambda held: None if held.end is None else max(0, held.end - held.applied),
        ),
        "log_end_offset": ("The offset that a partition's next record will have.", lambda held: held.end),
        "applied_offset": ("The offset after a partition's last applied record.", lambda held: held.applied),
        "applied_timestamp_seconds": (
            "When the applied offset last moved, or the partition was opened, in Unix time.",
            lambda held: held.applied_at,
        ),
    }
    progress: Callable[[], Iterable[PartitionProgress]] = staticmethod(tuple)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        held = sorted(self.progress())
        for name, (about, value_of) in self.GAUGES.items():
            family = GaugeMetricFamily(f"{NAMESPACE}_worker_{name}", about, labels=["partition"])
            for progress in held:
                if (value := value_of(progress)) is not None:
                    family.add_metric([str(progress.partition)], value)
            yield family
