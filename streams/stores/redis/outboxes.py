"""Outboxes as Redis has them. Ratings and match requests are most of an outbox, so their fields are packed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from streams.wire import topics
from streams.wire.events import MatchRequest, Rating, encode
from streams.wire.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# What is packed in each topic, and the key of its record.
PACKED: dict[str, tuple[Any, Callable[[Any], str]]] = {
    topics.RATINGS.name: (Rating, lambda rating: f"{rating.campaign}/{rating.system}"),
    topics.MATCH_REQUESTS.name: (MatchRequest, lambda request: request.campaign),
}
WIDTH = len(Output._fields)  # a packed output has more fields


def encode_outbox(outputs: Iterable[Output]) -> bytes:
    """Return outputs as MessagePack: each as a list of its fields, or as its topic and the fields of its event."""
    return msgspec.msgpack.encode([_pack(output) or output for output in outputs])


def decode_outbox(outbox: bytes | None) -> tuple[Output, ...]:
    """Decode an outbox, also one of an earlier version.

    >>> decode_outbox(msgspec.msgpack.encode([("ratings.v1", b"c/a", b"{}")]))
    (Output(topic='ratings.v1', key=b'c/a', value=b'{}', headers=(), partition=None),)
    """
    if not outbox:
        return ()
    found = msgspec.msgpack.decode(outbox, type=list[list[Any]])
    return tuple(_unpack(each) if len(each) > WIDTH else msgspec.convert(each, Output) for each in found)


def _pack(output: Output) -> Sequence[Any] | None:
    """Return an output as its topic and the fields of its event, or None if its bytes can't be made from them."""
    if output.topic not in PACKED or not output.value:
        return None
    kind, _ = PACKED[output.topic]
    try:
        event = msgspec.json.decode(output.value, type=kind)
    except msgspec.DecodeError:
        return None
    return (output.topic, *msgspec.structs.astuple(event)) if _output(output.topic, event) == output else None


def _unpack(packed: Sequence[Any]) -> Output:
    topic, *fields = packed
    kind, _ = PACKED[topic]
    return _output(topic, msgspec.convert(dict(zip(kind.__struct_fields__, fields, strict=True)), kind))


def _output(topic: str, event: Any) -> Output:
    _, key = PACKED[topic]
    return Output(topic, key(event).encode(), encode(event))
