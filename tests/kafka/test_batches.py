"""Outputs on their way to the broker: one batch per partition, in order, where aiokafka would have sent them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from aiokafka.partitioner import DefaultPartitioner
from aiokafka.producer.message_accumulator import BatchBuilder
from aiokafka.record.default_records import DefaultRecordBatch

from streams.kafka.producers import send_in_batches
from streams.wire.outputs import Output

NAMES = {"ratings.v1": "ns.ratings.v1", "match-requests.v1": "ns.match-requests.v1"}
PARTITIONS, BATCH_BYTES = 5, 2000


class Client:
    """Takes the place of an aiokafka producer: what it is handed can be read."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, int]] = []
        self.records: dict[tuple[str, int], list[tuple[Any, Any, Any]]] = defaultdict(list)

    async def partitions_for(self, topic: str) -> set[int]:
        assert topic in NAMES.values()
        return set(range(PARTITIONS))

    def create_batch(self) -> BatchBuilder:
        return BatchBuilder(BATCH_BYTES, 0)

    async def send_batch(self, batch: BatchBuilder, topic: str, *, partition: int) -> asyncio.Future[None]:
        assert batch.append(timestamp=None, key=b"late", value=b"") is None  # nobody adds to it any more
        self.batches.append((topic, partition))
        for record in DefaultRecordBatch(bytes(batch._build())):
            self.records[topic, partition].append((record.key, record.value, tuple(record.headers)))
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sent.set_result(None)
        return sent


def send(*outputs: Output) -> Client:
    async def run() -> Client:
        client = Client()
        await asyncio.gather(*await send_in_batches(client, outputs, names=NAMES))
        return client

    return asyncio.run(run())


def test_the_outputs_of_a_partition_are_one_batch_in_order() -> None:
    outputs = [Output("ratings.v1", b"c/%d" % (n % 7), b"%d" % n) for n in range(40)]
    outputs += [Output("match-requests.v1", b"c", b"%d" % n) for n in range(3)]
    client = send(*outputs)
    assert len(client.batches) == len(set(client.batches)) <= PARTITIONS + 1
    choose = DefaultPartitioner()
    expected: dict[tuple[str, int], list[tuple[Any, Any, Any]]] = defaultdict(list)
    for output in outputs:
        place = NAMES[output.topic], choose(output.key, list(range(PARTITIONS)), [])
        expected[place].append((output.key, output.value, ()))
    assert client.records == expected


def test_a_batch_that_is_full_is_followed_by_another_one() -> None:
    values = [bytes([65 + n]) * size for n, size in enumerate((600, 5000, 600, 600, 600, 1))]
    client = send(*[Output("ratings.v1", b"c/a", value) for value in values])
    assert [value for records in client.records.values() for _, value, _ in records] == values
    assert 2 <= len(client.batches) < len(values)


def test_tombstones_headers_and_partitions_are_kept() -> None:
    client = send(
        Output("ratings.v1", b"c/a", b""),
        Output("ratings.v1", b"c/b", b"1", (("header", b"2"),), partition=4),
        Output("ratings.v1", None, b"3"),
    )
    found = [record for records in client.records.values() for record in records]
    assert (b"c/a", None, ()) in found
    assert client.records["ns.ratings.v1", 4][-1] == (b"c/b", b"1", (("header", b"2"),))
    assert (None, b"3", ()) in found
