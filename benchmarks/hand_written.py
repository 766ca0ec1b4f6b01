"""A hand-written loop: confluent-kafka, json, the closed form of TrueSkill, and one Redis pipeline for 1,000 judgments.

This is what a good engineer writes in forty lines. A crash repeats judgments, and nothing is deduplicated, checked,
ranked or asked for. With the name of a topic as a third argument, it also produces the ratings that have changed, one
message per campaign and 1,000 judgments, without waiting for the broker.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from math import erf, exp, pi, sqrt

import redis
from confluent_kafka import Consumer, Producer

BETA, MARGIN = 1.118, 0.5
ROOT_TWO, DENSITY = sqrt(2), 1 / sqrt(2 * pi)
Ratings = dict[tuple[str, str], tuple[float, float]]


def density(x: float) -> float:
    return DENSITY * exp(-x * x / 2)


def share(x: float) -> float:
    return (1 + erf(x / ROOT_TWO)) / 2


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


def main(topic: str, count: int, output: str = "") -> None:
    servers = {"bootstrap.servers": os.environ["JUDGESTREAM_KAFKA"]}
    group = {"group.id": f"hand-{topic}-{output}", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(servers | group)
    consumer.subscribe([topic])
    producer = Producer(servers | {"linger.ms": 5}) if output else None
    store = redis.Redis.from_url(os.environ["JUDGESTREAM_REDIS"])
    ratings: Ratings = {}
    done, began, cpu = 0, 0.0, 0.0
    while done < count:
        messages = consumer.consume(1000, timeout=1.0)
        if not messages:
            continue
        if not began:
            began, cpu = time.perf_counter(), time.process_time()
        changed = set()
        for message in messages:
            judgment = json.loads(message.value())
            campaign, (a, b), (x, y) = judgment["campaign"], judgment["systems"], judgment["ranks"]
            better, worse = ((campaign, a), (campaign, b)) if x <= y else ((campaign, b), (campaign, a))
            rate(ratings, better, worse, drawn=x == y)
            changed.add(better)
            changed.add(worse)
        by_campaign: dict[str, dict[str, str]] = defaultdict(dict)
        for campaign, system in changed:
            mean, variance = ratings[campaign, system]
            by_campaign[campaign][system] = f"{mean} {variance}"
        with store.pipeline(transaction=True) as pipeline:
            for campaign, rows in by_campaign.items():
                pipeline.hset(f"hand:{campaign}", mapping=rows)  # type: ignore[arg-type]
            pipeline.execute()
        if producer:
            for campaign, rows in by_campaign.items():
                producer.produce(output, json.dumps(rows), key=campaign)
            producer.poll(0)
        consumer.commit(asynchronous=True)
        done += len(messages)
    print(json.dumps({"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu, "judgments": done}))
    if producer:
        producer.flush()
    consumer.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
