"""A hand-written loop: confluent-kafka, json, the closed form of TrueSkill, and one Redis pipeline for 1,000 judgments.

This is what a good engineer writes in forty lines. A crash repeats judgments, and nothing is deduplicated, checked,
ranked or asked for.
"""

from __future__ import annotations

import json
import os
import sys
import time
from math import erf, exp, pi, sqrt

import redis
from confluent_kafka import Consumer

BETA, MARGIN = 1.118, 0.5
Ratings = dict[tuple[str, str], tuple[float, float]]


def density(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)


def share(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def rate(ratings: Ratings, winner: tuple[str, str], loser: tuple[str, str], *, drawn: bool) -> None:
    """Update two ratings, mean and variance, in closed form."""
    (mean, variance), (other, other_variance) = ratings.get(winner, (0.0, 1.0)), ratings.get(loser, (0.0, 1.0))
    c = sqrt(2 * BETA * BETA + variance + other_variance)
    t, e = (mean - other) / c, MARGIN / c
    if drawn:
        within = max(share(e - t) - share(-e - t), 1e-12)
        v = (density(-e - t) - density(e - t)) / within
        w = v * v + ((e - t) * density(e - t) - (-e - t) * density(-e - t)) / within
    else:
        v = density(t - e) / max(share(t - e), 1e-12)
        w = v * (v + t - e)
    ratings[winner] = mean + variance / c * v, variance * (1 - variance / c / c * w)
    ratings[loser] = other - other_variance / c * v, other_variance * (1 - other_variance / c / c * w)


def main(topic: str, count: int) -> None:
    options = {"bootstrap.servers": os.environ["JUDGESTREAM_KAFKA"], "group.id": f"hand-{topic}"}
    consumer = Consumer(options | {"auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([topic])
    store = redis.Redis.from_url(os.environ["JUDGESTREAM_REDIS"])
    ratings: Ratings = {}
    done, began, cpu = 0, 0.0, 0.0
    while done < count:
        messages = consumer.consume(1000, timeout=1.0)
        if messages and not began:
            began, cpu = time.perf_counter(), time.process_time()
        changed = set()
        for message in messages:
            judgment = json.loads(message.value())
            a, b = ((judgment["campaign"], system) for system in judgment["systems"])
            x, y = judgment["ranks"]
            rate(ratings, *((a, b) if x <= y else (b, a)), drawn=x == y)
            changed |= {a, b}
        with store.pipeline(transaction=True) as pipeline:
            for campaign, system in changed:
                mean, variance = ratings[campaign, system]
                pipeline.hset(f"hand:{campaign}", system, f"{mean} {variance}")
            pipeline.execute()
        if messages:
            consumer.commit(asynchronous=True)
        done += len(messages)
    print(json.dumps({"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu, "judgments": done}))
    consumer.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
