"""`/healthz` of a monitor with thousands of idle connections and event streams, beside the same without them."""

from __future__ import annotations

import asyncio
import gzip
import multiprocessing
import os
import resource
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.http_load import Connection, Pool, Stream

if TYPE_CHECKING:
    from multiprocessing.connection import Connection as Pipe

PROBES = 200
PAUSE_SECONDS = 0.05
POST_SECONDS = 0.05
LIMIT_SECONDS = 0.050
BOMB = gzip.compress(b" " * 100_000_000)
LIMITS = {  # of the monitor, so that one address may open all of them
    "JUDGESTREAM_MONITOR_CONNECTIONS": "15000",
    "JUDGESTREAM_MONITOR_CONNECTIONS_PER_ADDRESS": "15000",
    "JUDGESTREAM_MONITOR_STREAMS": "10000",
    "JUDGESTREAM_MONITOR_STREAMS_PER_ADDRESS": "10000",
    "JUDGESTREAM_MONITOR_IDLE_SECONDS": "3600",
}


async def probe(url: str, posts: list[bytes]) -> list[float]:
    """Return how long `/healthz` took, each time on a new connection, while judgments are posted."""
    posting = asyncio.create_task(_post(url, posts))
    taken = []
    for _ in range(PROBES):
        async with Pool(url) as pool:
            request = pool.request("GET", "/healthz", b"", {})
            began = time.perf_counter()
            status = await pool.send(request)
            taken.append(time.perf_counter() - began)
            assert status == 200
        await asyncio.sleep(PAUSE_SECONDS)
    posting.cancel()
    return taken


async def _post(url: str, posts: list[bytes]) -> None:
    async with Pool(url) as pool:
        for post in posts:
            await pool.send(post)
            await asyncio.sleep(POST_SECONDS)


def hold(url: str, count: int, paths: list[str], pipe: Pipe) -> None:
    """Open idle connections and event streams, say so, and keep them until told to stop. Runs in another process."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    async def keep() -> None:
        loop, pool = asyncio.get_running_loop(), Pool(url)
        idle: list[Connection] = []
        streams: list[Stream] = []
        for number in range(count):
            path = paths[number % len(paths)]
            idle.append((await loop.create_connection(Connection, pool.host, pool.port))[1])
            made = await loop.create_connection(partial(Stream, path, pool.host), pool.host, pool.port)
            streams.append(made[1])
        while any(not stream.bytes for stream in streams):  # noqa: ASYNC110 - they count bytes and know no event
            await asyncio.sleep(0.2)
        pipe.send(None)
        before = sum(stream.bytes for stream in streams)
        await loop.run_in_executor(None, pipe.recv)
        pipe.send((sum(stream.ended for stream in streams), sum(stream.bytes for stream in streams) - before))

    asyncio.run(keep())


def post_bombs(url: str, pipe: Pipe) -> None:
    """Post compressed bodies without a token until told to stop. Runs in another process."""

    async def post() -> None:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        request = Pool(url).request("POST", "/session", BOMB, headers)
        pipe.send(None)
        while not pipe.poll():
            async with Pool(url) as pool:
                await asyncio.gather(*(pool.send(request) for _ in range(3)), return_exceptions=True)

    asyncio.run(post())


def _describe(name: str, taken: list[float], alone: list[float]) -> str:
    median, worst = np.median(taken) * 1000, max(taken) * 1000
    ratio = np.median(taken) / np.median(alone)
    return f"  {name:<50} median {median:5.1f} ms   worst {worst:5.1f} ms   {ratio:.1f} times the median alone"


def crowded(url: str, *, count: int, paths: list[str], posts: list[tuple[str, bytes]], headers: dict[str, str]) -> bool:
    """Measure `/healthz` alone, beside compressed bodies, and beside idle connections and streams."""
    context = multiprocessing.get_context("spawn")
    requests = [Pool(url).request("POST", path, body, headers) for path, body in posts]
    alone = asyncio.run(probe(url, requests))
    print(f"/healthz, {PROBES} times on a new connection, with {1 / POST_SECONDS:.0f} posts a second")
    print(_describe("alone", alone, alone))

    ours, theirs = context.Pipe()
    process = context.Process(target=post_bombs, args=(url, theirs), daemon=True)
    process.start()
    ours.recv()
    bombed = asyncio.run(probe(url, requests))
    ours.send(None)
    process.join()
    print(_describe("with three gzip bodies at a time", bombed, alone))

    began = time.perf_counter()
    ours, theirs = context.Pipe()
    process = context.Process(target=hold, args=(url, count, paths, theirs), daemon=True)
    process.start()
    ours.recv()
    opened, began = time.perf_counter() - began, time.perf_counter()
    beside = asyncio.run(probe(url, requests))
    elapsed = time.perf_counter() - began
    ours.send(None)
    ended, carried = ours.recv()
    process.kill()
    process.join()
    print(_describe(f"with {count:,} idle connections and {count:,} streams", beside, alone))
    print(f"  they were open after {opened:.1f} s; {ended} streams ended; {carried / elapsed / 1000:,.0f} kB a second")
    held = not ended and max(*bombed, *beside) < LIMIT_SECONDS
    load = f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"  every answer within {LIMIT_SECONDS * 1000:.0f} ms: {'yes' if held else 'NO'}; {load}")
    return held
