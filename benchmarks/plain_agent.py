"""The obvious way to write a rating worker: a Faust agent, a Record, the trueskill package, and one HSET per system."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import faust
import redis.asyncio
import trueskill
from faust.worker import Worker

if TYPE_CHECKING:
    from faust.types import StreamT


class Judgment(faust.Record, serializer="json"):
    id: str
    campaign: str
    segment: str
    judge: str
    systems: list[str]
    ranks: list[int]
    at: str


def main(topic: str, count: int) -> None:
    app = faust.App(
        f"plain-{topic}",
        broker=f"kafka://{os.environ['JUDGESTREAM_KAFKA']}",
        topic_disable_leader=True,
        topic_allow_declare=False,
        web_enabled=False,
        consumer_auto_offset_reset="earliest",
    )
    store = redis.asyncio.Redis.from_url(os.environ["JUDGESTREAM_REDIS"])
    table = trueskill.TrueSkill(mu=0, sigma=1, beta=1.118, tau=0, draw_probability=0.22)
    ratings: defaultdict[tuple[str, str], Any] = defaultdict(table.create_rating)
    done, began, cpu = 0, 0.0, 0.0

    @app.agent(app.topic(topic, value_type=Judgment))
    async def rate(stream: StreamT[Judgment]) -> None:
        nonlocal done, began, cpu
        async for judgment in stream:
            if not began:
                began, cpu = time.perf_counter(), time.process_time()
            a, b = ((judgment.campaign, system) for system in judgment.systems)
            if judgment.ranks[0] > judgment.ranks[1]:
                a, b = b, a
            drawn = judgment.ranks[0] == judgment.ranks[1]
            ratings[a], ratings[b] = trueskill.rate_1vs1(ratings[a], ratings[b], drawn=drawn, env=table)
            for campaign, system in (a, b):
                rating = ratings[campaign, system]
                await store.hset(f"plain:{campaign}:{system}", mapping={"mu": rating.mu, "sigma": rating.sigma})
            done += 1
            if done == count:
                wall, used = time.perf_counter() - began, time.process_time() - cpu
                print(json.dumps({"wall": wall, "cpu": used, "judgments": done}), flush=True)

    Worker(app, loglevel="ERROR", redirect_stdouts=False).execute_from_commandline()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
