"""The monitor under load, on a real Kafka and a real Redis with a worker.

1. 100 open event streams and 500 posts per second: the time from when a post was due to its response.
2. A campaign of 200 systems and a million judgments: the time until a new monitor shows its leaderboard, the time
   from a post to the event that contains it, and the bytes per second of one event stream.
3. 5,000 idle connections and 5,000 event streams: the time of `/healthz` with and without them.

    python benchmarks/monitor.py --seconds 60
    python benchmarks/monitor.py --seconds 60 --judgments 1000000
    python benchmarks/monitor.py --seconds 5 --idle 5000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import aiohttp  # noqa: E402
from aiokafka import AIOKafkaProducer  # noqa: E402

from benchmarks.crowded import LIMITS, crowded  # noqa: E402
from benchmarks.http_load import Pool, Stream  # noqa: E402
from deploy.servers import Servers  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.monitor.http.tokens import entry_of  # noqa: E402
from streams.settings import Settings  # noqa: E402
from streams.stores.redis.store import RedisStore  # noqa: E402
from streams.wire import topics  # noqa: E402
from streams.wire.events import CampaignSettings, Create, Judgment, encode  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECRET = "a-secret-of-the-benchmark"
HEADERS = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
CAMPAIGNS, SYSTEMS, JUDGES, SEGMENTS = 10, 15, 200, 500
LARGE, LARGE_SYSTEMS = "large", 200
LIMIT_SECONDS = 0.150
JUDGESTREAM = Path(sys.executable).with_name("judgestream")


def judgments(count: int, *, systems: int, campaign: str | None = None, begin: int = 0) -> Iterator[Judgment]:
    random = np.random.default_rng([1, begin])
    first = random.integers(systems, size=count)
    second = (first + 1 + random.integers(systems - 1, size=count)) % systems
    worse = first / systems + random.normal(size=count) > second / systems + random.normal(size=count)
    judges, segments = random.integers(JUDGES, size=count), random.integers(SEGMENTS, size=count)
    for k in range(count):
        yield Judgment(
            id=f"judgment-{begin + k}",
            campaign=campaign or f"campaign-{k % CAMPAIGNS}",
            segment=f"segment-{segments[k]}",
            judge=f"judge-{judges[k]}",
            systems=(f"system-{first[k]}", f"system-{second[k]}"),
            ranks=(2, 1) if worse[k] else (1, 2),
            at=datetime.now(UTC),
            duration_ms=9000,
        )


@contextmanager
def running(command: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([JUDGESTREAM, command, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def monitor() -> Iterator[tuple[str, int]]:
    with running("monitor", "--port", "0", "--log-level", "WARNING", "--rate", "100000") as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1], process.pid


async def until(pool: Pool, path: str) -> None:
    """Wait until a path is answered with 200."""
    while True:
        with suppress(OSError):
            if await pool.send(pool.request("GET", path, b"", {})) == 200:
                return
        await asyncio.sleep(0.1)


class Streams:
    """Event streams that are read as they come, and what they carried."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._open: list[Stream] = []

    async def open(self, path: str) -> None:
        loop, pool = asyncio.get_running_loop(), self._pool
        _, stream = await loop.create_connection(lambda: Stream(path, pool.host), pool.host, pool.port)
        self._open.append(stream)

    @property
    def bytes(self) -> int:
        return sum(stream.bytes for stream in self._open)

    @property
    def events(self) -> dict[str, int]:
        return dict(sum((stream.events for stream in self._open), Counter()))

    @property
    def ended(self) -> int:
        return sum(stream.ended for stream in self._open)

    def close(self) -> None:
        for stream in self._open:
            stream.close()


def cpu_seconds(processes: Mapping[str, int]) -> dict[str, float]:
    """Return the processor time that each process has used, by name."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = {name: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for name, pid in processes.items()}
    return {name: (int(each[11]) + int(each[12])) / ticks for name, each in fields.items()}


async def under_load(url: str, processes: Mapping[str, int], *, streams: int, rate: int, seconds: float) -> bool:
    """Post at a constant rate, however long the responses take. So a late response delays no other post."""
    async with Pool(url) as pool:
        await until(pool, "/readyz")
        requests = [
            pool.request("POST", f"/campaigns/{each.campaign}/judgments", encode(each), HEADERS)
            for each in judgments(int(rate * seconds) + rate, systems=SYSTEMS)
        ]
        taken: list[float] = []
        failed: Counter[str] = Counter()

        async def post(number: int, due: float) -> None:
            try:
                if (status := await pool.send(requests[number])) != 202:
                    failed[str(status)] += 1
            except OSError as error:
                failed[str(error)] += 1
            taken.append(time.perf_counter() - due)

        async def posts(first: int, count: int) -> None:
            began, waiting = time.perf_counter(), []
            for number in range(first, first + count):
                due = began + (number - first) / rate
                if (early := due - time.perf_counter()) > 0:
                    await asyncio.sleep(early)
                waiting.append(asyncio.create_task(post(number, due)))
            await asyncio.gather(*waiting)

        await posts(0, rate)  # creates the campaigns, and compiles the kernels
        await asyncio.gather(*(until(pool, f"/campaigns/campaign-{number}") for number in range(CAMPAIGNS)))
        taken.clear()
        listening = Streams(pool)
        for number in range(streams):
            await listening.open("/events" if number % 10 == 0 else f"/campaigns/campaign-{number % CAMPAIGNS}/events")
        await asyncio.sleep(1)
        carried, before, began = listening.bytes, cpu_seconds(processes), time.perf_counter()
        await posts(rate, int(rate * seconds))
        elapsed = time.perf_counter() - began
        used = {name: after - before[name] for name, after in cpu_seconds(processes).items()}
        carried = listening.bytes - carried
        listening.close()
    p50, p90, p99, p999 = np.percentile(taken, [50, 90, 99, 99.9]) * 1000
    print(f"{len(taken):,} posts, {rate} a second for {seconds:g} s, with {streams} event streams open")
    longest = max(taken) * 1000
    print(f"  answered after  p50 {p50:.1f} ms   p90 {p90:.1f}   p99 {p99:.1f}   p99.9 {p999:.1f}   max {longest:.0f}")
    print(f"  failed {sum(failed.values())} {dict(failed) or ''}  streams ended {listening.ended}")
    print(f"  the streams carried {carried / elapsed / 1000:,.0f} kB a second: {listening.events}")
    shares = ", ".join(f"{name} {100 * each / elapsed:.0f} %" for name, each in used.items())
    print(f"  of a core: {shares}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    held = not failed and not listening.ended and p99 < LIMIT_SECONDS * 1000
    print(f"  no error and p99 under {LIMIT_SECONDS * 1000:.0f} ms: {'yes' if held else 'NO'}")
    return held


# -- a large campaign ------------------------------------------------------------------------------------


async def fill(settings: Settings, count: int) -> None:
    """Publish a large campaign."""
    names = tuple(f"system-{number}" for number in range(LARGE_SYSTEMS))
    create = Create(id="create", campaign=LARGE, at=datetime.now(UTC), settings=CampaignSettings(systems=names))
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka, linger_ms=20, max_batch_size=2**20) as producer:
        await producer.send(topics.JUDGMENTS.name, encode(create), key=LARGE.encode())
        for judgment in judgments(count, systems=LARGE_SYSTEMS, campaign=LARGE, begin=10**9):
            await producer.send(topics.JUDGMENTS.name, encode(judgment), key=LARGE.encode())


def wait_until_read(settings: Settings, count: int) -> None:
    store = RedisStore(settings.redis)
    heads = [f"{topics.JUDGMENTS.name}/{number}" for number in range(settings.partitions)]
    while sum(int(store.read_partition(head).get("read", 0)) for head in heads) < count:
        time.sleep(0.2)
    store.close()


async def large(url: str, *, seconds: float, rate: int) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began = time.perf_counter()
        async with session.get(f"{url}/campaigns/{LARGE}/leaderboard") as answer:
            board = await answer.read()
        cold = time.perf_counter() - began
        known = json.loads(board)["judgments"]
        listening = Streams(Pool(url))
        await listening.open(f"/campaigns/{LARGE}/events")
        await asyncio.sleep(3)
        first = listening.bytes
        posted: list[tuple[int, float]] = []  # number of judgments after a post, and the time of its response
        delays: list[float] = []

        async def watch() -> None:
            path = f"{url}/campaigns/{LARGE}/events"
            async with session.get(path, timeout=aiohttp.ClientTimeout(total=None)) as answer:
                kind = b""
                async for line in answer.content:
                    if line.startswith(b"event: "):
                        kind = line[7:-1]
                    elif kind == b"rows" and line.startswith(b"data: "):
                        judged, now = json.loads(line[6:])["judgments"], time.perf_counter()
                        while posted and posted[0][0] <= judged:
                            delays.append(now - posted.pop(0)[1])

        watching = asyncio.create_task(watch())
        began = time.perf_counter()
        bodies = list(judgments(int(seconds * rate), systems=LARGE_SYSTEMS, campaign=LARGE, begin=2 * 10**9))
        for number in range(0, len(bodies), rate):
            async with session.post(
                f"{url}/campaigns/{LARGE}/judgments", data=encode(bodies[number : number + rate]), headers=HEADERS
            ) as answer:
                assert answer.status == 202, await answer.text()
            posted.append((known + number + rate, time.perf_counter()))
            await asyncio.sleep(max(0.0, began + number / rate + 1 - time.perf_counter()))
        carried, elapsed = listening.bytes - first, time.perf_counter() - began
        await asyncio.sleep(8)
        watching.cancel()
        listening.close()
        print(f"{known:,} judgments of {LARGE_SYSTEMS} systems")
        print(f"  a cold monitor gave the leaderboard ({len(board) / 1000:,.0f} kB) after {cold * 1000:,.0f} ms")
        flow = f"{carried / elapsed / 1000:,.1f} kB a second"
        print(f"  an event stream began with {first / 1000:,.0f} kB and carried {flow}")
        print(f"    while {rate} judgments a second came in: {listening.events}")
        if delays:
            print(
                f"  from a post's answer to the event that has it: median {np.median(delays) * 1000:,.0f} ms, "
                f"longest {max(delays) * 1000:,.0f} ms"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument(
        "--judgments", type=int, default=0, help="judgments of the large campaign; 0: leave it out (default: 0)"
    )
    parser.add_argument(
        "--idle", type=int, default=0, help="idle connections, and as many event streams; 0: leave it out (default: 0)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder))
        try:
            os.environ.update(servers.start())
            os.environ |= LIMITS | {
                "JUDGESTREAM_JUDGE_KEY": "benchmark",
                "JUDGESTREAM_MONITOR_TOKENS": entry_of("benchmark", SECRET),
                "JUDGESTREAM_SNAPSHOT_SECONDS": "1",
            }
            settings = Settings(
                kafka=os.environ["JUDGESTREAM_KAFKA"], redis=os.environ["JUDGESTREAM_REDIS"], judge_key="benchmark"
            )
            create_topics(settings)
            with running("worker", "--log-level", "ERROR") as worker:
                with monitor() as (url, pid):
                    processes = {"monitor": pid, "worker": worker.pid, "this client": os.getpid()}
                    processes |= {name: each.process.pid for name, each in servers.running().items() if each.process}
                    load = under_load(
                        url, processes, streams=options.streams, rate=options.rate, seconds=options.seconds
                    )
                    held = asyncio.run(load)
                    if options.idle:
                        paths = ["/events", *(f"/campaigns/campaign-{number}/events" for number in range(CAMPAIGNS))]
                        more = list(judgments(1000, systems=SYSTEMS, begin=10**6))
                        posts = [(f"/campaigns/{each.campaign}/judgments", encode(each)) for each in more]
                        held &= crowded(url, count=options.idle, paths=paths, posts=posts, headers=HEADERS)
                if options.judgments:
                    done = options.rate * (int(options.seconds) + 1)
                    asyncio.run(fill(settings, options.judgments))
                    wait_until_read(settings, done + options.judgments + 1)
                    with monitor() as (url, _):
                        asyncio.run(large(url, seconds=20, rate=200))
        finally:
            servers.stop()
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
