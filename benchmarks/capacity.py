"""What one worker, one machine and a cluster hold, computed from measured figures."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from streams.bench.tables import format_number, markdown_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.bench.figures import Section

TARGET = 1_000_000  # judgments per second
BUSY = 0.6  # share of a core, or of a network link, that is planned with
COPIES = 3  # replicas of each partition
PARTITIONS_PER_WORKER = 4
LINK = 10e9 / 8  # bytes per second of a network link
RECORD = 190.0  # bytes of a judgment in the log: JSON of about 170 bytes, its key and the frame of a record
DAY = 86_400


class Costs(NamedTuple):
    """What one judgment costs, at backlog."""

    worker: float  # µs of CPU
    broker: float
    redis: float
    redis_bytes: float
    one: float  # judgments per second of one worker that shares two cores with its servers
    two: float  # of two workers on the same two cores

    @classmethod
    def of(cls, sections: Mapping[str, Section]) -> Costs | None:
        """Return the costs in the section `backlog`, or None without it."""
        if (backlog := sections.get("backlog")) is None:
            return None
        return cls(
            worker=backlog.find("CPU of the worker").median,
            broker=backlog.find("CPU of the broker").median,
            redis=backlog.find("CPU of Redis").median,
            redis_bytes=backlog.find("bytes sent to Redis").median,
            one=backlog.find("1 worker").median,
            two=backlog.find("2 workers").median,
        )


def capacity_tables(sections: Mapping[str, Section]) -> str:
    """Return what each size of installation holds, and the calculation for a million judgments per second."""
    costs = Costs.of(sections)
    if costs is None:
        return "The section backlog has not been measured yet."
    return f"{_holds(costs)}\n\n{_million(costs)}"


def _holds(costs: Costs) -> str:
    core, cores = 1e6 / costs.worker, 16
    of_cores, of_redis = 1e6 * cores / (costs.worker + costs.broker + costs.redis), 1e6 / costs.redis
    limit = "the one thread of Redis" if of_redis < of_cores else "the cores"
    rows = [
        ("one worker, measured on two cores with its servers", costs.one, "the two cores", "more cores"),
        ("two workers, measured on the same two cores", costs.two, "the two cores", "more cores"),
        ("one worker with a core of its own", core, "its core", "more workers, up to one per partition"),
        ("one campaign", core, "its partition has one worker at a time", "divide it, for example by language pair"),
        (
            f"one machine with {cores} cores, {BUSY:.0%} busy",
            min(of_cores, of_redis) * BUSY,
            limit,
            "Redis Cluster, brokers on machines of their own",
        ),
    ]
    body = [(name, format_number(rate), limit, then) for name, rate, limit, then in rows]
    return markdown_table(("", "judgments/s", "the limit", "what to do then"), body)


def _million(costs: Costs) -> str:
    # The leader of a partition does what was measured. A follower writes the same bytes: it is counted as half.
    broker_share = 1 + (COPIES - 1) / 2
    workers, shards, brokers = (
        ceil(TARGET * cost / 1e6 / BUSY) for cost in (costs.worker, costs.redis, costs.broker * broker_share)
    )
    log = TARGET * RECORD  # bytes per second
    network = 2 * COPIES * log  # in: once from producers, and to the followers; out: to the followers and the workers
    many = f"{TARGET:,} ×"
    rows = [
        ("cores of workers", f"{many} {costs.worker:.2f} µs / {BUSY:.0%}", f"{workers:,}"),
        ("partitions", f"{PARTITIONS_PER_WORKER} per worker", f"{workers * PARTITIONS_PER_WORKER:,}"),
        ("busy campaigns, at least", "one per worker", f"{workers:,}"),
        ("shards of Redis", f"{many} {costs.redis:.2f} µs / {BUSY:.0%}", f"{shards:,}"),
        ("to Redis", f"{many} {costs.redis_bytes:,.0f} bytes", f"{TARGET * costs.redis_bytes / 1e6:,.0f} MB/s"),
        ("cores of brokers", f"{many} {costs.broker:.2f} µs × {broker_share:g} / {BUSY:.0%}", f"{brokers:,}"),
        ("log", f"{many} {RECORD:.0f} bytes", f"{log / 1e6:,.0f} MB/s"),
        ("network of all brokers", f"log × {COPIES} in, × {COPIES} out", f"{network / 1e6:,.0f} MB/s"),
        ("links of 10 Gbit/s", f"network / {LINK / 1e6:,.0f} MB/s / {BUSY:.0%}", f"{ceil(network / LINK / BUSY):,}"),
        ("disk for one day", f"log × {DAY:,} s × {COPIES} copies", f"{log * DAY * COPIES / 1e12:,.0f} TB"),
    ]
    return markdown_table((f"for {TARGET:,} judgments/s", "calculation", "needed"), rows, right=1)
