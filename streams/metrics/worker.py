"""The metrics of a worker. They are counted once per batch, when the store has the batch.

A label has few values that are known before: outcomes, reasons, topics, servers, and the worker's partitions.
Campaigns, systems and judges are no labels: users choose their number. Topics and the monitor show them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from streams.metrics.base import NAMESPACE, SECONDS, Metrics
from streams.wire.reasons import REASONS
from streams.wire.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from streams.stores.commit import Commit
    from streams.wire.outputs import Output

OUTCOMES = ("applied", "duplicate", "rejected", "held", "forwarded")
SERVERS = ("kafka", "redis")


class PartitionProgress(NamedTuple):
    """Where a worker is in one of its partitions. `end` is None until the broker has reported it."""

    partition: int
    applied: int  # the offset after the last applied record
    applied_at: float  # when it last moved, in Unix time
    end: int | None


class WorkerMetrics(Metrics):
    """The counters and gauges of one worker."""

    def __init__(self) -> None:
        super().__init__("worker")
        self.records_read = self._counter(
            "records_read", "Records of the log that were processed and are in the store."
        )
        self.records = self._counter(
            "records", "Records of the log by outcome. The outcomes add up to the records read.", ["outcome"]
        )
        self.records_missing = self._counter(
            "records_missing", "Offsets that were deleted before they were read, and that an operator has accepted."
        )
        self.offsets_empty = self._counter(
            "offsets_empty", "Offsets without a record: markers of transactions, and aborted records."
        )
        self.rejections = self._counter("rejections", "Rejected records of the log by reason.", ["reason"])
        self.commands = self._counter(
            "commands", "Records of the command topic that were passed on to the log or rejected.", ["outcome"]
        )
        self.batch_records = self._histogram(
            "batch_records", "Records in a batch.", buckets=(1, 5, 10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000)
        )
        self.rate_seconds = self._histogram(
            "rate_duration_seconds", "Time to decode, deduplicate and rate a batch.", buckets=SECONDS
        )
        self.persist_seconds = self._histogram(
            "persist_duration_seconds",
            "Time to write a batch, with the others of its turn, to the store.",
            buckets=SECONDS,
        )
        self.emit_seconds = self._histogram(
            "emit_duration_seconds",
            "Time until the broker has the outputs of a batch, with the others of its turn.",
            buckets=SECONDS,
        )
        self.delay_seconds = self._histogram(
            "delay_seconds", "Time from the timestamp of a batch's first record until the store has the batch.",
            buckets=(*SECONDS, 60, 300, 1800, 7200),
        )  # fmt: skip
        self.outputs = self._counter("outputs", "Records emitted, by topic without its namespace.", ["topic"])
        self.output_bytes = self._counter(
            "output_bytes", "Bytes in the values of the records emitted, by topic.", ["topic"]
        )
        self.snapshot_seconds = self._histogram(
            "snapshot_duration_seconds", "Time to rank up to 100 changed campaigns of a partition.", buckets=SECONDS
        )
        self.rebalances = self._counter("rebalances", "Times that the group changed the partitions of this worker.")
        self.fenced_writes = self._counter(
            "fenced_writes", "Writes that the store refused because another worker owns the partition."
        )
        self.reloads = self._counter(
            "reloads", "Partitions loaded again because the store was not where the worker had left it."
        )
        self.errors = self._counter("server_errors", "Calls to a server that failed. They are repeated.", ["server"])
        self.campaigns = self._gauge("campaigns", "Campaigns in memory.")
        self.known_campaigns = self._gauge("known_campaigns", "Campaigns of the worker's partitions, also idle ones.")
        self.quarantined = self._gauge(
            "quarantined_campaigns", "Campaigns that are not rated after an unexpected error in their code."
        )
        self.reruns = self._gauge(
            "reruns", "Campaigns that are rated again after a retraction, or because their stored state is corrupt."
        )
        self.rerun_progress = self._gauge(
            "rerun_progress_ratio",
            "Share of the log that is read for the reruns in progress.",
        )
        self.assigned = self._gauge("partitions_assigned", "Partitions that the group assigned to this worker.")
        self.open = self._gauge("partitions_open", "Partitions whose state is loaded.")
        self.stopped = self._gauge(
            "partitions_stopped", "Partitions that wait for an operator, as /readyz reports them."
        )
        self.ready = self._gauge("ready", "Whether the worker is ready, as /readyz reports: 1 if it is.")
        self._partitions = _PartitionGauges()
        self.registry.register(self._partitions)
        # A series that appears with its first event shows no increase: all known label values exist from the start.
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
        # To find the series of a label takes longer than to count, and each turn counts.
        self._by_outcome = {outcome: self.records.labels(outcome) for outcome in OUTCOMES}
        self._by_topic = {
            topic.name: (self.outputs.labels(topic.name), self.output_bytes.labels(topic.name)) for topic in TOPICS
        }

    def count_batch(self, commit: Commit, *, rated: float, persisted: float, delay: float | None) -> None:
        """Count a batch that the store has, with its durations in seconds. An unknown delay is None."""
        outcomes = commit.outcomes
        self.records_read.inc(outcomes.read)
        for outcome, series in self._by_outcome.items():
            if count := getattr(outcomes, outcome):
                series.inc(count)
        if outcomes.empty:
            self.offsets_empty.inc(outcomes.empty)
        for reason, rejected in commit.reasons.items():
            self.rejections.labels(reason).inc(rejected)
        self.batch_records.observe(outcomes.read)
        self.rate_seconds.observe(rated)
        self.persist_seconds.observe(persisted)
        if delay is not None:
            self.delay_seconds.observe(max(0.0, delay))  # two machines' clocks may differ

    def count_outputs(self, outputs: Iterable[Output]) -> None:
        """Count outputs that the broker has."""
        sizes = defaultdict[str, list[int]](list)
        for output in outputs:
            sizes[output.topic].append(len(output.value))
        for topic, lengths in sizes.items():
            number, size = self._by_topic[topic]
            number.inc(len(lengths))
            size.inc(sum(lengths))

    def count_error(self, server: str) -> None:
        """Count a call to Kafka or Redis that failed."""
        self.errors.labels(server.lower()).inc()

    def watch_partitions(self, progress: Callable[[], Iterable[PartitionProgress]]) -> None:
        """Set the function that returns the worker's partitions. It is called at each scrape."""
        self._partitions.progress = progress


class _PartitionGauges(Collector):
    """The gauges of the worker's partitions, computed at each scrape."""

    GAUGES: Mapping[str, tuple[str, Callable[[PartitionProgress], float | None]]] = {
        "lag_records": (
            "Records of a partition that are not applied yet.",
            lambda owned: None if owned.end is None else max(0, owned.end - owned.applied),
        ),
        "log_end_offset": ("The offset that a partition's next record will have.", lambda owned: owned.end),
        "applied_offset": ("The offset after a partition's last applied record.", lambda owned: owned.applied),
        "applied_timestamp_seconds": (
            "When the applied offset last moved, or the partition was opened, in Unix time.",
            lambda owned: owned.applied_at,
        ),
    }
    progress: Callable[[], Iterable[PartitionProgress]] = staticmethod(tuple)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        partitions = sorted(self.progress())
        for name, (about, value_of) in self.GAUGES.items():
            family = GaugeMetricFamily(f"{NAMESPACE}_worker_{name}", about, labels=["partition"])
            for progress in partitions:
                if (value := value_of(progress)) is not None:
                    family.add_metric([str(progress.partition)], value)
            yield family
