"""Events of a soak that senders bring about: repeats, retractions, bad records, wrong places, hostile posts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from streams.wire.events import encode
from tests.builders import judgment
from tests.monitor.site import JSON, TOKEN
from tests.soak.errors import SoakError
from tests.soak.records import Message
from tests.soak.scene import Scene

GOOD: dict[str, Any] = json.loads(encode(judgment(1)))
DEEP = b"[" * 40_000 + b"]" * 40_000
HOSTILE: tuple[bytes, ...] = (
    b"",
    b"\xff\xfe",
    b"null",
    b"[" * 100_000,
    b'{"judgments":' + DEEP + b"}",
    b"[" + b"1," * 20_000 + b"1]",
    json.dumps([{**GOOD, "systems": {"a": 1}}] * 300).encode(),
    json.dumps({**GOOD, "ranks": [10**400, -1]}).encode(),
    json.dumps({**GOOD, "id": "x" * 100_000}).encode(),
    json.dumps({**GOOD, "at": "9999-99-99T99:99:99Z"}).encode(),
    json.dumps({**GOOD, "note": "\ud800" * 1000}).encode(),
    b'{"id":"' + b"\\u0000" * 1000 + b'"}',
    b'"' + b"x" * 2_000_000 + b'"',
)


def redeliver(scene: Scene) -> str:
    """Publish judgments again that were published before."""
    with scene.author.lock:
        messages = scene.author.again(scene.chance.randrange(20, 400))
    scene.traffic.add(messages)
    return f"{len(messages)} judgments come again"


def retract(scene: Scene) -> str:
    """Retract judgments of some campaigns."""
    return _publish(scene, scene.author.retraction, scene.chance.randrange(1, 4), "retractions")


def misroute(scene: Scene) -> str:
    """Publish judgments to partitions where their campaigns do not live."""
    return _publish(scene, scene.author.misrouted, scene.chance.randrange(1, 6), "judgments on a wrong partition")


def send_bad(scene: Scene) -> str:
    """Publish records that are no events, fewer than the limits allow."""
    return _publish(scene, scene.author.bad, scene.chance.randrange(5, 60), "records that are no events")


def _publish(scene: Scene, make: Callable[[], Message], number: int, what: str) -> str:
    with scene.author.lock:
        messages = [make() for _ in range(number)]
    scene.traffic.add(messages)
    return f"{number} {what}"


def post(scene: Scene) -> str:
    """Post what no client should to the monitor, and a good judgment after it."""
    place = scene.chance.choice(scene.places.campaigns)
    path = f"/campaigns/{place.campaign}/" + scene.chance.choice(("judgments", "label-studio"))
    with scene.author.lock:
        good = scene.author.judgment(place).value or b""
    bodies = [*scene.chance.sample(HOSTILE, k=4), good]
    statuses = []
    for body in bodies:
        try:
            answer = scene.monitor.ask(path, method="POST", body=body, headers={**TOKEN, **JSON})
        except ConnectionError as error:
            statuses.append(type(error).__name__)  # a body that is too large may be cut off
            continue
        if answer.status == 500:
            raise SoakError(f"the monitor answered 500 to POST {path} of {body[:200]!r}: {answer.body[:500]!r}")
        statuses.append(str(answer.status))
    return f"hostile posts to {path}: {', '.join(statuses)}"
