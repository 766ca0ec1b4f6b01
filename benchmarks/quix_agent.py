"""The same loop as a Quix Streams application, with the ratings in its own state: RocksDB and a changelog topic."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import redis
from quixstreams import Application, State

from benchmarks.hand_written import Ratings, rate

PIPELINE = 1000  # judgments between two writes to Redis


def main(topic: str, count: int, folder: str) -> None:
    app = Application(
        broker_address=os.environ["JUDGESTREAM_KAFKA"],
        consumer_group=f"quix-{topic}",
        auto_offset_reset="earliest",
        state_dir=folder,
        loglevel="ERROR",
    )
    store = redis.Redis.from_url(os.environ["JUDGESTREAM_REDIS"])
    changed: Ratings = {}
    done, began, cpu = 0, 0.0, 0.0

    def apply(judgment: dict[str, Any], state: State[Any, Any]) -> None:
        nonlocal done, began, cpu
        if not began:
            began, cpu = time.perf_counter(), time.process_time()
        campaign = judgment["campaign"]
        ratings: Ratings = {(campaign, system): tuple(state.get(system, (0.0, 1.0))) for system in judgment["systems"]}
        a, b = ratings
        x, y = judgment["ranks"]
        rate(ratings, *((a, b) if x <= y else (b, a)), drawn=x == y)
        for (_, system), rating in ratings.items():
            state.set(system, rating)
        changed.update(ratings)
        done += 1
        if done % PIPELINE == 0 or done == count:
            with store.pipeline(transaction=True) as pipeline:
                for (name, system), (mean, variance) in changed.items():
                    pipeline.hset(f"quix:{name}", system, f"{mean} {variance}")
                pipeline.execute()
            changed.clear()
        if done == count:
            wall, used = time.perf_counter() - began, time.process_time() - cpu
            print(json.dumps({"wall": wall, "cpu": used, "judgments": done}), flush=True)

    app.dataframe(app.topic(topic, value_deserializer="json")).update(apply, stateful=True)
    app.run(count=count)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1], int(sys.argv[2]), folder)
