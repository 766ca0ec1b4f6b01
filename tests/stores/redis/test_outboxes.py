"""Outboxes in Redis: what is read is what was to be emitted, byte by byte."""

from __future__ import annotations

import msgspec
import pytest

from streams.core.campaign.campaign import Campaign
from streams.pipeline.outputs import batch_outputs, tombstone
from streams.stores.redis.outboxes import decode_outbox, encode_outbox
from streams.wire import topics
from streams.wire.outputs import Output
from tests.builders import judgment

OUTPUTS = tuple(batch_outputs("c", Campaign("c").apply([0], [judgment(1)])))
STRANGE = {
    "a tombstone": tombstone(topics.RATINGS, "c/a"),
    "another form of JSON": Output("ratings.v1", OUTPUTS[0].key, OUTPUTS[0].value.replace(b":", b": ", 1)),
    "another key": OUTPUTS[0]._replace(key=b"other"),
    "no key": OUTPUTS[0]._replace(key=None),
    "headers": OUTPUTS[0]._replace(headers=(("name", b"\xff"),)),
    "a partition": OUTPUTS[0]._replace(partition=3),
    "no rating": Output("ratings.v1", b"c/a", b"value"),
    "another topic": Output("rejected.v1", None, b"\xff", (("reason", b"\xfe"),)),
}


def test_ratings_and_match_requests_are_packed_and_come_back_byte_by_byte() -> None:
    topics_found = {output.topic for output in OUTPUTS}
    assert {topics.RATINGS.name, topics.MATCH_REQUESTS.name} <= topics_found
    assert decode_outbox(encode_outbox(OUTPUTS)) == OUTPUTS
    packed = [output for output in OUTPUTS if output.topic != topics.CAMPAIGNS.name]
    assert len(encode_outbox(packed)) < 0.6 * len(msgspec.msgpack.encode(packed))


@pytest.mark.parametrize("output", STRANGE.values(), ids=STRANGE.keys())
def test_what_can_not_be_packed_comes_back_as_it_is(output: Output) -> None:
    assert decode_outbox(encode_outbox((*OUTPUTS, output))) == (*OUTPUTS, output)


def test_the_outbox_of_an_earlier_version_is_read() -> None:
    assert decode_outbox(msgspec.msgpack.encode(OUTPUTS)) == OUTPUTS
    assert decode_outbox(None) == ()
